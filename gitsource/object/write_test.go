package object

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

// TestAddition adds few objects, which are loose, and many, which are a pack with versions as
// deltas: both are read as they were given, by git too.
func TestAddition(t *testing.T) {
	for _, versions := range []int{1, 4, 130} {
		t.Run(fmt.Sprint(versions), func(t *testing.T) {
			gittest.NeedGit(t)
			dir := t.TempDir()
			gittest.RunGit(t, "", "init", "-q", "--bare", dir)
			before, err := Open(dir)
			gittest.Must(t, err)
			defer before.Close()
			a := NewAddition(dir, before)
			text := bytes.Repeat([]byte("a line of the file that is long enough\n"), 500)
			want := map[Hash][]byte{}
			var blob, tree, commit Base
			for n := range versions {
				text = bytes.Clone(text)
				copy(text[40*(n%400):], fmt.Sprintf("version %d", n))
				h, err := a.Blob(text, blob)
				gittest.Must(t, err)
				want[h], blob = text, Base{h, text}
				raw := append([]byte("100644 f\x00"), h[:]...)
				if h, err = a.Tree(raw, tree); err != nil {
					t.Fatal(err)
				}
				tree = Base{h, raw}
				parent := ""
				if n > 0 {
					parent = "parent " + commit.Hash.String() + "\n"
				}
				h, err = a.Commit(fmt.Appendf(nil, "tree %s\n%sauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nm\n", h, parent))
				gittest.Must(t, err)
				commit.Hash = h
			}
			if before.Has(commit.Hash) {
				t.Error("seen before it is stored")
			}
			gittest.Must(t, a.Store())
			packs, err := Packs(dir)
			if err != nil || len(packs) != map[bool]int{true: 1}[versions*3 > looseAdded] {
				t.Errorf("packs: %v, %v", packs, err)
			}
			s, err := Open(dir)
			gittest.Must(t, err)
			defer s.Close()
			for h, text := range want {
				if data, err := s.Blob(h, 1<<20); err != nil || !bytes.Equal(data, text) {
					t.Fatalf("%s: %v", h, err)
				}
			}
			if raw, err := s.RawTree(tree.Hash); err != nil || !bytes.Equal(raw, tree.Data) {
				t.Errorf("%q, %v", raw, err)
			}
			if _, err := s.RawTree(blob.Hash); err == nil {
				t.Error("a file was read as a directory")
			}
			gittest.RunGit(t, dir, "update-ref", "refs/heads/main", commit.Hash.String())
			gittest.RunGit(t, dir, "fsck", "--strict", "--no-dangling")
			if len(packs) > 0 {
				pack := filepath.Join(dir, "objects", "pack", packs[0])
				theirs := filepath.Join(t.TempDir(), "idx")
				gittest.RunGit(t, dir, "index-pack", "-o", theirs, pack)
				got, err := os.ReadFile(strings.TrimSuffix(pack, ".pack") + ".idx")
				gittest.Must(t, err)
				if want, err := os.ReadFile(theirs); err != nil || !bytes.Equal(got, want) {
					t.Errorf("go-git's index of the edits is not git's: %v", err)
				}
				if info, err := os.Stat(filepath.Join(dir, "objects", "pack", packs[0])); err != nil || info.Size() > int64(300*3*versions+5000) {
					t.Errorf("the pack has %d bytes for %d versions: %v", info.Size(), versions, err)
				}
			}
			again := NewAddition(dir, s)
			if h, err := again.Blob(blob.Data, Base{}); err != nil || h != blob.Hash || !again.Empty() {
				t.Errorf("what is there was added again: %v", err)
			}
			lost := NewAddition(filepath.Join(dir, "HEAD"), s)
			_, _ = lost.Blob([]byte("x"), Base{})
			if lost.Store() == nil {
				t.Error("written below a file")
			}
		})
	}
}

// TestAdditionDropped leaves nothing behind.
func TestAdditionDropped(t *testing.T) {
	dir := t.TempDir()
	gittest.Must(t, Init(dir))
	s, err := Open(dir)
	gittest.Must(t, err)
	defer s.Close()
	a := NewAddition(dir, s)
	for n := range 2 * looseAdded {
		_, err := a.Blob(fmt.Appendf(nil, "%d", n), Base{})
		gittest.Must(t, err)
	}
	a.Close()
	if left, err := os.ReadDir(filepath.Join(dir, "objects", "pack")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestDifference draws versions of texts: a delta makes the one from the other.
func TestDifference(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	line := func() []byte { return fmt.Appendf(nil, "%0*d\n", 1+rnd.IntN(40), rnd.IntN(50)) }
	for range 3000 {
		var base, target []byte
		for range rnd.IntN(60) {
			l := line()
			base = append(base, l...)
			switch rnd.IntN(12) {
			case 0: // removed
			case 1:
				target = append(target, line()...)
			case 2:
				target = append(append(target, l...), line()...)
			case 3:
				target = append(target, l[:len(l)/2]...)
			default:
				target = append(target, l...)
			}
		}
		if rnd.IntN(10) == 0 {
			base, target = target, bytes.Repeat(base, 1+rnd.IntN(3))
		}
		if got, err := patch(nil, base, difference(base, target)); err != nil || !bytes.Equal(got, target) {
			t.Fatalf("%q from %q: %q, %v", target, base, got, err)
		}
	}
	large := bytes.Repeat([]byte("a line of a large file, over and over\n"), 1<<20)
	other := append(bytes.Clone(large[:maxCopy+5]), "x"...)
	other = append(other, large[maxCopy+5:]...)
	d := difference(large, other)
	if got, err := patch(nil, large, d); err != nil || !bytes.Equal(got, other) || len(d) > 1000 {
		t.Errorf("a large one: %d bytes, %v", len(d), err)
	}
}
