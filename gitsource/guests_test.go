package gitsource

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/gitsource/derive"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

func isPO(path string) bool { return strings.HasSuffix(path, ".po") }

// lines is a file of which each text is far from the others.
func lines(texts ...string) string { return strings.Join(texts, strings.Repeat("\n-", 8)+"\n") + "\n" }

// guestsOf opens the guests of a mirror that has just fetched.
func guestsOf(t testing.TB, m *Mirror, keep map[string]object.Hash) *Guests {
	t.Helper()
	fetch(t, m)
	g, err := m.Guests(t.Context(), keep)
	gittest.Must(t, err)
	t.Cleanup(g.Close)
	return g
}

// TestGuestMerge lists what is in the way of a merge, and what git merges by itself.
func TestGuestMerge(t *testing.T) {
	git := gittest.NeedGit(t)
	base := files{"po/a.po": lines("1", "2"), "po/b.po": "b\n", "x": "x\n"}
	for _, tt := range []struct {
		name         string
		ours, theirs files
		want         string // Clean, Touched, Both; or why not
	}{
		{"other files", files{"po/a.po": lines("1", "2o"), "po/b.po": "b\n", "x": "x\n"}, files{"po/a.po": base["po/a.po"], "po/b.po": "b\n", "x": "y\n"}, "true [] []"},
		{"other lines", files{"po/a.po": lines("1", "2o"), "po/b.po": "b\n", "x": "x\n"}, files{"po/a.po": lines("1t", "2"), "po/b.po": "b\n", "x": "x\n"}, "true [] []"},
		{"one file", files{"po/a.po": lines("1o", "2"), "po/b.po": "b\n", "x": "x\n"}, files{"po/a.po": lines("1t", "2"), "po/b.po": "c\n", "x": "y\n"}, "false [po/a.po] [po/a.po]"},
		{"one by lines, one not", files{"po/a.po": lines("1o", "2"), "po/b.po": "o\n", "x": "x\n"}, files{"po/a.po": lines("1", "2t"), "po/b.po": "t\n", "x": "x\n"}, "false [po/a.po po/b.po] [po/a.po po/b.po]"},
		{"both added it", files{"po/a.po": lines("1", "2"), "po/b.po": "b\n", "po/c.po": "o\n", "x": "x\n"}, files{"po/a.po": lines("1", "2"), "po/b.po": "b\n", "po/c.po": "t\n", "x": "x\n"}, "false [po/c.po] [po/c.po+]"},
		{"the same change", files{"po/a.po": lines("1o", "2"), "po/b.po": "o\n", "x": "x\n"}, files{"po/a.po": lines("1o", "2"), "po/b.po": "t\n", "x": "x\n"}, "false [po/a.po po/b.po] [po/b.po]"},
		{"another file conflicts", files{"po/a.po": lines("1o", "2"), "po/b.po": "b\n", "x": "o\n"}, files{"po/a.po": lines("1t", "2"), "po/b.po": "b\n", "x": "t\n"}, `"x" conflicts, too`},
		{"removed by them", files{"po/a.po": lines("1", "2"), "po/b.po": "o\n", "x": "x\n"}, files{"po/a.po": lines("1", "2"), "x": "x\n"}, `"po/b.po" was changed on one side, and removed`},
		{"removed by us", files{"po/a.po": lines("1", "2"), "x": "x\n"}, files{"po/a.po": lines("1", "2"), "po/b.po": "t\n", "x": "x\n"}, `"po/b.po" was changed on one side, and removed`},
		{"moved by them", files{"po/a.po": lines("1o", "2"), "po/b.po": "b\n", "x": "o\n"}, files{"l/a.po": lines("1", "2"), "po/b.po": "b\n", "x": "t\n"}, `"po/a.po" was changed on one side, and removed`},
		{"a folder in the way", files{"po/a.po": lines("1o", "2"), "po/b.po": "b\n", "x": "x\n", "y": "o\n"}, files{"po/a.po": lines("1t", "2"), "po/b.po": "b\n", "x": "x\n", "y/z.po": "t\n"}, "conflicts, too"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, first, m := mirrored(t, base, Options{Remote: remote.Options{GitBinary: git}})
			guest := u.Commit("Guest", tt.ours, first)
			u.Set("topic", guest)
			u.Push("Other", tt.theirs, first)
			g := guestsOf(t, m, nil)
			gittest.Must(t, g.Fetch(t.Context(), remote.Repository{URL: u.Dir}, "7", guest, 1<<20))
			got, err := g.Merge(t.Context(), guest, isPO)
			var both []string
			for _, b := range got.Both {
				both = append(both, b.Path+map[bool]string{true: "+"}[b.Base.IsZero()])
			}
			said := fmt.Sprint(got.Clean, " ", got.Touched, " ", both)
			if err != nil {
				said = err.Error()
			}
			if !strings.Contains(said, tt.want) || err != nil && !errors.Is(err, ErrUnmergeable) {
				t.Errorf("%s, want %s", said, tt.want)
			}
		})
	}
}

// TestGuestModes: a submodule that both changed is in the way, and the mode of a file with a
// conflict.
func TestGuestModes(t *testing.T) {
	gittest.NeedGit(t)
	const module = "160000,1234567890123456789012345678901234567890,module"
	for name, tt := range map[string]struct{ ours, theirs []string }{
		"a mode":             {[]string{"update-index", "--chmod=+x", "po/a.po"}, nil},
		"a submodule":        {[]string{"update-index", "--add", "--cacheinfo", module}, []string{"update-index", "--add", "--cacheinfo", strings.Replace(module, "123", "321", 1)}},
		"a link by the head": {nil, []string{"update-index", "--cacheinfo", "120000,LINK,po/a.po"}},
	} {
		t.Run(name, func(t *testing.T) {
			work := t.TempDir()
			run := func(args ...string) string { return gittest.RunGit(t, work, args...) }
			run("init", "-q", "-b", "main")
			gittest.Must(t, os.Mkdir(filepath.Join(work, "po"), 0o700))
			side := func(text string, more []string) object.Hash {
				gittest.Must(t, os.WriteFile(filepath.Join(work, "po", "a.po"), []byte(text), 0o600))
				run("add", "po/a.po")
				if more != nil {
					gittest.Must(t, os.WriteFile(filepath.Join(work, "target"), []byte("elsewhere"), 0o600))
					more = slices.Clone(more)
					more[len(more)-1] = strings.Replace(more[len(more)-1], "LINK", run("hash-object", "-w", "target"), 1)
					run(more...)
				}
				run("commit", "-q", "-m", text)
				h, err := object.ParseHash(run("rev-parse", "HEAD"))
				gittest.Must(t, err)
				return h
			}
			first := side("base\n", nil)
			run("checkout", "-q", "-b", "topic")
			guest := side("ours\n", tt.ours)
			run("reset", "-q", "--hard", first.String())
			run("checkout", "-q", "main")
			side("theirs\n", tt.theirs)
			run("update-ref", "refs/heads/topic", guest.String())
			m := openMirror(t, remote.Repository{URL: work, Branch: "main"}, Options{})
			g := guestsOf(t, m, nil)
			gittest.Must(t, g.Fetch(t.Context(), remote.Repository{URL: work}, "7", guest, 1<<20))
			got, err := g.Merge(t.Context(), guest, isPO)
			if !errors.Is(err, ErrUnmergeable) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestGuestsOld: without a git program of version 2.38 nothing is merged.
func TestGuestsOld(t *testing.T) {
	old := filepath.Join(t.TempDir(), "git")
	gittest.Must(t, os.WriteFile(old, []byte("#!/bin/sh\ncase \"$2\" in merge-tree) exit 129;; esac\nexec "+gittest.NeedGit(t)+" \"$@\"\n"), 0o700))
	for name, o := range map[string]remote.Options{"builtin": {Transport: "builtin"}, "old": {GitBinary: old}} {
		u, first, m := mirrored(t, files{"a.po": "1\n"}, Options{Remote: o})
		guest := u.Commit("Guest", files{"a.po": "2\n"}, first)
		u.Set("topic", guest)
		g := guestsOf(t, m, nil)
		gittest.Must(t, g.Fetch(t.Context(), remote.Repository{URL: u.Dir}, "1", guest, 1<<20))
		if _, err := g.Merge(t.Context(), guest, isPO); !errors.Is(err, remote.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGuestPush pushes a merge with both parents; a branch that has moved is left alone, and
// what the mirror has does not change.
func TestGuestPush(t *testing.T) {
	u, first, m := mirrored(t, files{"a.po": "1\n", "x": "x\n"}, Options{})
	gittest.NeedGit(t)
	guest := u.Commit("Guest", files{"a.po": "2\n", "x": "x\n"}, first)
	u.Set("topic", guest)
	head := u.Push("Other", files{"a.po": "3\n", "x": "y\n"}, first)
	g := guestsOf(t, m, nil)
	gittest.Must(t, g.Fetch(t.Context(), remote.Repository{URL: u.Dir}, "1", guest, 1<<20))
	merged, err := g.Merge(t.Context(), guest, isPO)
	gittest.Must(t, err)
	when := time.Unix(1_700_000_000, 0).UTC()
	c := derive.Commit{
		Parent: guest, Merged: head, Tree: merged.Tree, Files: []derive.File{{Path: "a.po", Data: []byte("2 and 3\n")}},
		Author: object.Signature{Name: "J", When: when}, Committer: object.Signature{Name: "S", When: when}, Message: "Merge",
	}
	id, err := g.Push(t.Context(), c, remote.Repository{URL: u.Dir}, "topic")
	gittest.Must(t, err)
	if got := gittest.RunGit(t, u.Dir, "log", "-1", "--format=%H %P %an", "topic"); got != id.String()+" "+guest.String()+" "+head.String()+" J" {
		t.Errorf("pushed: %s", got)
	}
	if got := gittest.RunGit(t, u.Dir, "show", "topic:a.po") + gittest.RunGit(t, u.Dir, "show", "topic:x"); got != "2 and 3y" {
		t.Errorf("its files: %s", got)
	}
	if _, err := g.Push(t.Context(), c, remote.Repository{URL: u.Dir}, "topic"); !errors.Is(err, remote.ErrMoved) && err != nil {
		t.Errorf("again: %v", err)
	}
	for _, at := range []object.Hash{u.Commit("Guest", files{"a.po": "4\n"}, guest), first} { // the second is a fast-forward
		u.Set("topic", at)
		if _, err := g.Push(t.Context(), c, remote.Repository{URL: u.Dir}, "topic"); !errors.Is(err, remote.ErrMoved) {
			t.Errorf("a branch that has moved: %v", err)
		}
	}
	gittest.RunGit(t, u.Dir, "fsck", "--strict")
}

// TestGuestsAreHidden opens and forgets guests in any order, while the mirror is fetched and
// cloned anew: clones never get one of their objects, the guests are exactly those of the last
// call, and a head that is too large is refused.
func TestGuestsAreHidden(t *testing.T) {
	gittest.NeedGit(t)
	rapid.Check(t, func(rt *rapid.T) {
		u, first, m := mirrored(t, files{"a.po": "0\n"}, Options{Remote: remote.Options{MaxMirror: 4 << 20}})
		noise := rand.New(rand.NewPCG(1, 2))
		large := make([]byte, 1<<20)
		want := map[string]object.Hash{}
		for step := range rapid.IntRange(1, 4).Draw(rt, "steps") {
			if rapid.Bool().Draw(rt, "push") {
				first = u.Push("Other", files{"a.po": fmt.Sprintf("%d\n", step)}, first)
			}
			keep := map[string]object.Hash{}
			for name, h := range want {
				if rapid.Bool().Draw(rt, "keep") {
					keep[name] = h
				}
			}
			fetch(t, m)
			if rapid.IntRange(0, 3).Draw(rt, "rebuild") == 0 {
				_, err := m.Rebuild(t.Context())
				gittest.Must(t, err)
			}
			g, err := m.Guests(t.Context(), keep)
			gittest.Must(t, err)
			want = keep
			name, text := fmt.Sprint(step), fmt.Sprintf("guest %d\n", step)
			if rapid.IntRange(0, 3).Draw(rt, "large") == 0 {
				for i := range large {
					large[i] = byte(noise.Uint32())
				}
				text = string(large)
			}
			guest := u.Commit("Guest", files{"a.po": text}, first)
			u.Set("topic", guest)
			err = g.Fetch(t.Context(), remote.Repository{URL: u.Dir}, name, guest, 1<<19)
			if tooLarge := text == string(large); tooLarge != errors.Is(err, object.ErrTooLarge) || !tooLarge && err != nil {
				rt.Fatalf("too large %v: %v", tooLarge, err)
			} else if !tooLarge {
				want[name] = guest
			}
			refs := gittest.RunGit(t, filepath.Join(m.dir, guestsFolder), "for-each-ref", "--format=%(refname) %(objectname)")
			var expected []string
			for name, h := range want {
				if _, err := g.Merge(t.Context(), h, isPO); err != nil {
					rt.Fatalf("%s: %v", name, err)
				}
				expected = append(expected, guestRefs+name+" "+h.String())
			}
			slices.Sort(expected)
			if got := strings.Fields(refs); len(got) != 2*len(expected) || refs != strings.Join(expected, "\n") {
				rt.Fatalf("refs are %s, want %s", refs, expected)
			}
			g.Close()
			path, _ := m.Path()
			all := gittest.RunGit(t, path, "cat-file", "--batch-check=%(objectname)", "--batch-all-objects")
			if strings.Contains(all, guest.String()) {
				rt.Fatal("the mirror has a guest")
			}
			var out bytes.Buffer
			want := fmt.Sprintf("0032want %s\n00000009done\n", guest)
			if err := m.UploadPack(t.Context(), Upload{Request: []byte(want)}, &out); err == nil && !strings.Contains(out.String(), "not our ref") {
				rt.Fatalf("a clone got a guest: %q", out.String())
			}
		}
		gittest.Must(t, m.ForgetGuests())
	})
}
