package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

func TestCopyManyObjects(t *testing.T) {
	u := newUpstream(t)
	many := files{}
	for i := range 50 {
		many[fmt.Sprintf("d%d/%d.po", i%7, i)] = fmt.Sprint(i)
	}
	head := u.Commit("A", many)
	to := filepath.Join(t.TempDir(), "to.git")
	gittest.Must(t, Init(to))
	c := &objectCopy{
		from: openObjects(u.Dir), to: openObjects(to),
		target: filepath.Join(to, "objects"), limit: 20, done: map[Hash]struct{}{},
	}
	defer func() { _, _ = c.from.close(), c.to.close() }()
	if err := c.history(context.Background(), head); !errors.Is(err, errMany) {
		t.Fatalf("a long copy goes on object by object: %v", err)
	}
	if c.to.has(head) {
		t.Error("the commit is there before its files")
	}
	gittest.Must(t, c.allFiles(context.Background()))
	if d := cmp.Diff(many, contentsOf(t, openStore(t, to), head)); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
}

// TestCopyManyParents: a copy has all parents of a commit, also those that are not read.
func TestCopyManyParents(t *testing.T) {
	u := newUpstream(t)
	tree := u.Tree(files{"x": "1"})
	parents := []Hash{u.CommitTree("A", tree)}
	to := bare(t)
	from := Origin{Dir: u.Dir, Objects: ObjectDirs(u.Dir)}
	gittest.Must(t, Copy(t.Context(), from, to, parents[0], nil))
	for len(parents) <= maxParents {
		parents = append(parents, u.CommitTree("A", tree))
	}
	tip := u.CommitTree("A", tree, parents...)
	gittest.Must(t, Copy(t.Context(), from, to, tip, nil))
	s := openStore(t, to)
	if n, err := s.Node(tip); err != nil || len(n.Parents) != maxParents || !s.Has(parents[maxParents]) {
		t.Errorf("%d parents are read, %v; the last one is there: %v", len(n.Parents), err, s.Has(parents[maxParents]))
	}
}

func TestSourceObjectsAreChecked(t *testing.T) {
	u := newUpstream(t)
	c1 := u.Commit("A", files{"x": "1"})
	to := bare(t)
	gittest.Must(t, Copy(t.Context(), Origin{Dir: u.Dir, Objects: ObjectDirs(u.Dir)}, to, c1, nil))
	blob := u.Blob("the text that the id is of")
	other := u.Blob("another text")
	data, err := os.ReadFile(filepath.Join(u.Dir, "objects", looseName(other)))
	gittest.Must(t, err)
	name := filepath.Join(u.Dir, "objects", looseName(blob))
	gittest.Must(t, os.Remove(name))
	gittest.Must(t, os.WriteFile(name, data, 0o600))
	c := &objectCopy{from: openObjects(u.Dir), to: openObjects(to), target: filepath.Join(t.TempDir(), "o"), limit: 100, done: map[Hash]struct{}{}}
	if err := c.blob(context.Background(), blob); !errors.Is(err, ErrSource) {
		t.Errorf("a forged object: %v", err)
	}
}

// TestPatch compares patch with go-git's, on deltas that go-git makes and on
// such that were damaged afterwards.
func TestPatch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	room := make([]byte, 0, 1000)
	refused := 0
	for range 300 {
		base := make([]byte, 1+r.IntN(200_000))
		for i := range base {
			base[i] = byte(r.IntN(1 + r.IntN(256)))
		}
		target := bytes.Clone(base)
		for range r.IntN(10) {
			at := r.IntN(len(target))
			target = append(append(bytes.Clone(target[:at]), "something else"...), target[min(len(target), at+r.IntN(40)):]...)
		}
		delta := packfile.DiffDelta(base, target)
		if got, err := patch(room, base, delta); err != nil || !bytes.Equal(got, target) {
			t.Fatalf("patch of %d bytes: %d bytes, want %d (%v)", len(base), len(got), len(target), err)
		}
		damaged := bytes.Clone(delta)
		damaged[r.IntN(len(damaged))] ^= byte(1 << r.IntN(8))
		damaged = damaged[:len(damaged)-r.IntN(2)]
		if _, size, _, ok := deltaSizes(damaged); !ok || size > 1<<20 {
			continue // no delta of this kind is used
		}
		got, err := patch(nil, base, damaged)
		want, wantErr := packfile.PatchDelta(base, damaged)
		switch {
		case err != nil:
			refused++
		case wantErr != nil || !bytes.Equal(got, want):
			t.Fatalf("a damaged delta gives %d bytes, go-git %d (%v)", len(got), len(want), wantErr)
		}
	}
	if refused == 0 {
		t.Error("no damaged delta is refused")
	}
}

func TestPatchRefuses(t *testing.T) {
	base := []byte("0123456789")
	for name, delta := range map[string][]byte{
		"nothing":                  {},
		"no target size":           {10},
		"another base":             {9, 1, 1, 'x'},
		"beyond the base":          {10, 5, 0x91, 8, 5},
		"copy of an endless size":  {10, 5, 0x80},
		"more than the target":     {10, 2, 3, 'a', 'b', 'c'},
		"less than the target":     {10, 4, 3, 'a', 'b', 'c'},
		"literal that is cut":      {10, 4, 4, 'a', 'b', 'c'},
		"argument that is cut":     {10, 4, 0x91, 1},
		"reserved instruction":     {10, 4, 0},
		"size that does not end":   {10, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1},
		"offset of four full ones": {10, 1, 0x9f, 0xff, 0xff, 0xff, 0xff, 1},
	} {
		if got, err := patch(nil, base, delta); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}
