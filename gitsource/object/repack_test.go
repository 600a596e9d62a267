package object

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// manyPacks makes a repository whose history came in as n packs, some with
// Objects that others have too, and some loose objects.
func manyPacks(tb testing.TB, n int) (dir string, heads []Hash, want files) {
	tb.Helper()
	u := newUpstream(tb)
	want = files{"link": "->po/0.po", "sub": "@", "po/big.po": strings.Repeat("msgid \"x\"\n", 5000)}
	var h Hash
	dir = bare(tb)
	for i := range n {
		for k := range 7 {
			want[fmt.Sprintf("po/%d.po", k)] = fmt.Sprintf("%d of %d\n%s", k, i, strings.Repeat("same text\n", 100))
		}
		want["po/big.po"] += fmt.Sprint(i, "\n")
		var parents []Hash
		if i > 0 {
			parents = []Hash{h}
		}
		h = u.Commit("A", want, parents...)
		heads = append(heads, h)
		u.Set("main", h)
		not := ""
		if i > 2 { // packs overlap by two commits
			not = "^" + heads[i-3].String() + "\n"
		}
		if i == n-1 {
			continue // stays loose
		}
		base := filepath.Join(dir, "objects", "pack", "pack")
		args := []string{"-q", "--revs"}
		if i%2 == 0 {
			args = append(args, "--delta-base-offset")
		}
		gittest.PipeGit(tb, u.Dir, strings.NewReader(h.String()+"\n"+not), append(append([]string{"pack-objects"}, args...), base)...)
	}
	c := objectCopy{from: openObjects(u.Dir), to: openObjects(dir), target: filepath.Join(dir, "objects"), limit: 100, done: map[Hash]struct{}{}}
	gittest.Must(tb, c.history(context.Background(), h))
	gittest.Must(tb, c.from.close())
	gittest.Must(tb, c.to.close())
	gittest.Must(tb, WriteText(filepath.Join(dir, "packed-refs"), "# pack-refs with: peeled\n"+heads[1].String()+" refs/repoglot/previous\n"))
	gittest.Must(tb, WriteText(filepath.Join(dir, "refs/heads/main"), h.String()+"\n"))
	gittest.Must(tb, WriteText(filepath.Join(dir, "HEAD"), "ref: refs/heads/main\n"))
	return dir, heads, want
}

func TestRepack(t *testing.T) {
	gittest.NeedGit(t)
	dir, heads, want := manyPacks(t, 8)
	gittest.Must(t, looseBlob(dir, "garbage"))
	old := openObjects(dir)
	gittest.Must(t, old.list())
	if len(old.packs) != 7 || len(old.loose) < 3 {
		t.Fatalf("%d packs, %d loose objects", len(old.packs), len(old.loose))
	}
	to := bare(t)
	gittest.Must(t, Repack(context.Background(), dir, to))
	gittest.RunGit(t, to, "fsck", "--full", "--strict")
	o := openObjects(to)
	gittest.Must(t, o.list())
	if len(o.packs) != 1 || len(o.loose) != 0 || o.packs[0].index.n > len(heads)*11+10 {
		t.Errorf("%d packs, %d loose objects, the pack has %d", len(o.packs), len(o.loose), o.packs[0].index.n)
	}
	gittest.RunGit(t, to, "verify-pack", filepath.Join(o.packs[0].dir, o.packs[0].name))
	if got, want := gittest.RunGit(t, to, "rev-list", "--objects", "--all"), gittest.RunGit(t, dir, "rev-list", "--objects", "--all"); got != want {
		t.Error("other objects are named by its refs")
	}
	garbage := Hash{}
	for h := range old.loose {
		if !o.has(h) {
			garbage = h
		}
	}
	if garbage.IsZero() {
		t.Error("garbage was copied")
	}
	_, _ = o.close(), old.close()
	if got, err := ReadRef(to, "refs/repoglot/previous"); err != nil || got != heads[1] {
		t.Errorf("previous head %s, %v", got, err)
	}
	delete(want, "sub")
	if d := cmp.Diff(want, contentsOf(t, openStore(t, to), heads[7])); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
}

func TestRepackFindsDamage(t *testing.T) {
	gittest.NeedGit(t)
	for name, harm := range map[string]func(dir string, loose Hash){
		"loose object gone": func(dir string, h Hash) { gittest.Must(t, os.Remove(filepath.Join(dir, "objects", looseName(h)))) },
		"loose object cut": func(dir string, h Hash) {
			gittest.Must(t, os.Truncate(filepath.Join(dir, "objects", looseName(h)), 10))
		},
		"pack cut": func(dir string, _ Hash) {
			packs, _ := filepath.Glob(filepath.Join(dir, "objects/pack/*.pack"))
			gittest.Must(t, os.Chmod(packs[0], 0o600))
			gittest.Must(t, os.Truncate(packs[0], 100))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _, want := manyPacks(t, 5)
			o := openObjects(dir)
			gittest.Must(t, o.list())
			var blob Hash
			for h := range o.loose {
				if data, err := o.read(h, 3, 1<<20); err == nil && string(data) == want["po/0.po"] {
					blob = h
				}
			}
			gittest.Must(t, o.close())
			if blob.IsZero() {
				t.Fatal("no loose file")
			}
			harm(dir, blob)
			if err := Repack(context.Background(), dir, bare(t)); !Damaged(err) {
				t.Errorf("%v; want one that Damaged takes", err)
			}
		})
	}
}

// BenchmarkRepack repacks switchboard's history.
func BenchmarkRepack(b *testing.B) {
	dir := gittest.Bundle(b, "switchboard")
	b.ReportAllocs()
	for b.Loop() {
		gittest.Must(b, Repack(context.Background(), dir, bare(b)))
	}
}

func looseBlob(gitDir, text string) error {
	c := objectCopy{target: filepath.Join(gitDir, "objects"), limit: 1, done: map[Hash]struct{}{}}
	return c.write(Hash(plumbing.ComputeHash(plumbing.BlobObject, []byte(text))), plumbing.BlobObject, []byte(text))
}
