package object

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

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

func TestSourceObjectsAreChecked(t *testing.T) {
	u := newUpstream(t)
	c1 := u.Commit("A", files{"x": "1"})
	to := bare(t)
	gittest.Must(t, CopyAll(t.Context(), u.Dir, to, c1))
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
