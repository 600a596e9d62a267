package gitsource

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

func TestSnapshot(t *testing.T) {
	u := newUpstream(t)
	c := u.Commit("A", files{
		"po/de.po": "1", "po/cs.po": "->de.po", "po/abs.po": "->/etc/passwd", "po/out.po": "->../../x", "po/up.po": "->../po/./de.po",
		"po-x/a.po": "2", "po.po": "3", "sub": "@", "deep/a/b/c.po": "4", "skip/x.po": "5",
	})
	u.Set("main", c)
	r := reader(t, mirrorOf(t, u, Options{}))
	var entered []string
	list, err := r.Snapshot(context.Background(), c, poMask.Want, func(dir string) bool {
		entered = append(entered, dir)
		return dir == "skip"
	})
	gittest.Must(t, err)
	blob := func(text string) object.Hash {
		return object.Hash(plumbing.ComputeHash(plumbing.BlobObject, []byte(text)))
	}
	want := []object.File{
		{Path: "deep/a/b/c.po", Blob: blob("4")},
		{Path: "po-x/a.po", Blob: blob("2")},
		{Path: "po.po", Blob: blob("3")},
		{Path: "po/de.po", Blob: blob("1")},
	}
	if d := cmp.Diff(want, list); d != "" {
		t.Errorf("snapshot (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"deep", "deep/a", "deep/a/b", "po", "po-x", "skip"}, entered); d != "" {
		t.Errorf("directories asked for:\n%s", d)
	}
	if _, err := r.Snapshot(context.Background(), object.Hash{5}, nil, nil); !errors.Is(err, object.ErrUnknownCommit) {
		t.Errorf("unknown commit: %v", err)
	}
	if _, err := r.Snapshot(context.Background(), blob("4"), nil, nil); err == nil {
		t.Error("a file was taken for a commit")
	}
}

func TestHostileTrees(t *testing.T) {
	u := newUpstream(t)
	b, other := u.Blob("good"), u.Blob("bad")
	good := u.RawTree(line("100644", "x.po", b))
	evil := u.RawTree(
		line("100644", "z.po", b), line("100644", "a.po", b), // not sorted
		line("100644", "a.po", other), // a second time
		line("40000", "..", good), line("40000", ".", good), line("40000", "", good), line("40000", ".GIT", good), line("40000", "a/b", good),
		line("100644", "../up.po", b), line("160000", "sub.po", b), line("123456", "odd.po", b),
		line("100664", "old.po", b), line("040000", "padded", good),
		line("100644", "\xff.po", b), line("100644", "back\\slash.po", b), line("100644", "new\nline.po", b),
	)
	c := u.CommitTree("A", evil)
	u.Set("main", c)
	r := reader(t, mirrorOf(t, u, Options{}))
	po := mask(t, "{component}.po")
	masks := filemask.NewMatcher([]filemask.Mask{po})
	// What must not be read is listed, so that it can be reported, under a
	// Name that is fit to be shown and that no mask matches.
	want := files{
		"a.po": "good", "z.po": "good", "old.po": "good", "padded/x.po": "good",
		`\x2e\x2e/x.po`: "refused", `\x2e/x.po`: "refused", `\x00/x.po`: "refused", `\x2e\x47\x49\x54/x.po`: "refused",
		`a\x2fb/x.po`: "refused", `..\x2fup.po`: "refused", `\xff.po`: "refused", `back\x5cslash.po`: "refused", `new\x0aline.po`: "refused",
	}
	got := files{}
	for p, text := range contents(t, r, c, masks) {
		if po.Refuses(p) != "" {
			text = "refused"
			if _, ok := po.Match(p); ok || (strings.Contains(p, "\n") || strings.Contains(p, "\xff")) {
				t.Errorf("%q, matches: %v", p, ok)
			}
		}
		got[p] = text
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("snapshot (-want +got):\n%s", d)
	}
	clear(got)
	for _, s := range steps(t, r, object.Hash{}, c, masks) {
		for _, c := range s.Changes {
			got[c.Path] = "good"
			if po.Refuses(c.Path) != "" {
				got[c.Path] = "refused"
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("steps (-want +got):\n%s", d)
	}

	for name, data := range map[string]string{"cut": "100644 a\x00abc", "no name": "100644", "long mode": "1000000000644 a\x00" + strings.Repeat("x", 20)} {
		bad := u.CommitTree("B", u.Object(plumbing.TreeObject, []byte(data)))
		if _, err := initGeneration(t, u, bad).Snapshot(context.Background(), bad, nil, nil); !errors.Is(err, object.ErrCorrupt) {
			t.Errorf("%s tree: %v", name, err)
		}
	}
}

func TestTreesAreBounded(t *testing.T) {
	u := newUpstream(t)
	tree := u.RawTree(line("100644", "x.po", u.Blob("1")))
	for range 3 * object.MaxDepth { // deeper than any real tree
		tree = u.RawTree(line("40000", "d", tree), line("100644", "x.po", u.Blob("1")))
	}
	deep := u.CommitTree("Deep", tree)
	bomb := u.RawTree(line("100644", "x", u.Blob("1")))
	for range 12 { // 20^12 paths in 12 objects
		var entries []gittest.Line[object.Hash]
		for i := range 20 {
			entries = append(entries, line("40000", fmt.Sprintf("d%02d", i), bomb))
		}
		bomb = u.RawTree(entries...)
	}
	bombed := u.CommitTree("Bomb", bomb, deep)
	u.Set("main", bombed)
	r := reader(t, mirrorOf(t, u, Options{}))
	list, err := r.Snapshot(context.Background(), deep, nil, nil)
	if err != nil || len(list) != object.MaxDepth+1 {
		t.Errorf("deep tree: %d files, %v", len(list), err)
	}
	if _, err := r.Snapshot(context.Background(), bombed, poMask.Want, nil); !errors.Is(err, object.ErrTooLarge) {
		t.Errorf("tree bomb: %v", err)
	}
	for _, err := range r.Steps(context.Background(), deep, bombed, poMask) {
		if !errors.Is(err, object.ErrTooLarge) {
			t.Errorf("tree bomb in a step: %v", err)
		}
	}
	// Few entries can have long paths.
	long := u.RawTree(line("100644", "x.po", u.Blob("1")))
	for range 3 {
		var entries []gittest.Line[object.Hash]
		for i := range 30 {
			entries = append(entries, line("40000", fmt.Sprintf("%s%02d", strings.Repeat("d", 1200), i), long))
		}
		long = u.RawTree(entries...)
	}
	paths := u.CommitTree("Paths", long, bombed)
	u.Set("main", paths)
	r = reader(t, mirrorOf(t, u, Options{}))
	if _, err := r.Snapshot(context.Background(), paths, poMask.Want, nil); !errors.Is(err, object.ErrTooLarge) || !strings.Contains(err.Error(), "paths of files with more than 64 MiB") {
		t.Errorf("long paths: %v", err)
	}
	for _, err := range r.Steps(context.Background(), deep, paths, poMask) {
		if !errors.Is(err, object.ErrTooLarge) {
			t.Errorf("long paths in a step: %v", err)
		}
	}
	// A mask keeps out of it.
	masks := filemask.NewMatcher([]filemask.Mask{mask(t, "po/*.po")})
	if list, err := r.Snapshot(context.Background(), bombed, masks.Want, masks.Prune); err != nil || len(list) != 0 {
		t.Errorf("with a mask: %v, %v", list, err)
	}
}

// line is one line of a tree.
func line(mode, name string, h object.Hash) gittest.Line[object.Hash] {
	return gittest.Line[object.Hash]{Mode: mode, Name: name, Hash: h}
}
