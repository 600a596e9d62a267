package object

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// TestHarmfulNames: the names that are refused are those that git fsck finds.
func TestHarmfulNames(t *testing.T) {
	gittest.NeedGit(t)
	u := newUpstream(t)
	file, trees := u.Blob("x"), map[string]Hash{}
	for _, name := range []string{
		"a", ".", "..", "...", ".. ", "a/b", "/", ".git", ".GiT", ".gitt", ".gi", ".git.", ".git . .", ".git x", ".git:x", ".git::$INDEX_ALLOCATION",
		"git~1", "GIT~1", "git~1 .", "git~2", "git~10", "x\\.git", "x\\git~1", ".git\\x", "x\\.gitignore", "\\", ".g\u200cit", "\ufeff.git", ".git\u206f", ".g\u2010it",
		"\u200c", ".git\xff", ".g\xffit", ".g\u0130t", "\x0egit", ".gitmodules", "po .git",
	} {
		trees[name] = u.RawTree(gittest.Line[Hash]{Mode: "100644", Name: name, Hash: file})
	}
	said := gittest.RunGit(t, u.Dir, "fsck", "--no-dangling", "--full")
	refused := 0
	for name, h := range trees {
		want := ""
		for line := range strings.Lines(said) {
			if _, fault, ok := strings.Cut(strings.TrimSpace(line), h.String()+": "); ok {
				id, _, _ := strings.Cut(fault, ":")
				if id == "fullPathname" || strings.HasPrefix(id, "hasDot") {
					want = id
				}
			}
		}
		data := fmt.Appendf(nil, "100644 %s\x00%s", name, file[:])
		err := checkTree(h, data)
		if got := errors.Is(err, ErrHarmful); got != (want != "") || got && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, git says %q", name, err, want)
		}
		if want != "" {
			refused++
		}
	}
	if refused < 15 {
		t.Errorf("git refuses only %d: %s", refused, said)
	}
}

// TestReceiveHarmful: a tree is checked whether it comes whole or as a delta, and in
// packs of either size; nothing of the pack is stored.
func TestReceiveHarmful(t *testing.T) {
	id := make([]byte, 20)
	plain := append([]byte("100644 xgit\x00"), id...)
	harm := append([]byte("100644 .git\x00"), id...)
	base := packEntry(plumbing.TreeObject, int64(len(plain)), nil, plain)
	n := byte(len(plain))
	delta := append([]byte{n, n, n}, harm...)
	for name, entries := range map[string][][]byte{
		"whole": {packEntry(plumbing.TreeObject, int64(len(harm)), nil, harm)},
		"delta": {base, packEntry(plumbing.OFSDeltaObject, int64(len(delta)), []byte{byte(len(base))}, delta)},
		"blob":  {packEntry(plumbing.BlobObject, int64(len(harm)), nil, harm)},
	} {
		for _, count := range []int{1, UnpackLimit + 1} {
			for i := len(entries); i < count; i++ {
				text := fmt.Appendf(nil, "%d", i)
				entries = append(entries, packEntry(plumbing.BlobObject, int64(len(text)), nil, text))
			}
			dir := bare(t)
			err := store(t, dir, sealed(entries...))
			if errors.Is(err, ErrHarmful) == (name == "blob") {
				t.Errorf("%s, %d objects: %v", name, count, err)
			}
			if names, _ := Packs(dir); err != nil && len(names) > 0 {
				t.Errorf("%s: %v is left", name, names)
			}
		}
	}
	large := packEntry(plumbing.TreeObject, treeLimit+1, nil, bytes.Repeat([]byte{'x'}, 10))
	if err, limit := store(t, bare(t), sealed(large)), LimitError(""); !errors.As(err, &limit) {
		t.Errorf("a huge tree: %v", err)
	}
}
