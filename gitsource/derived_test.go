package gitsource

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// TestShow: clones see commits that are shown, and nothing else of the mirror; until the
// head moves.
func TestShow(t *testing.T) {
	gittest.NeedGit(t)
	u, _, m := mirrored(t, files{"po/cs.po": "1"}, Options{})
	head := fetch(t, m)
	show := func(texts ...string) (tip object.Hash) {
		t.Helper()
		w, err := m.Writer(t.Context())
		gittest.Must(t, err)
		defer w.Close()
		tip = w.Head().Hash
		for _, text := range texts {
			tip, err = w.Commit(t.Context(), derived(tip, text))
			gittest.Must(t, err)
		}
		gittest.Must(t, w.Show(tip))
		return tip
	}
	sees := func(tip object.Hash) {
		t.Helper()
		var list strings.Builder
		gittest.Must(t, m.UploadPack(t.Context(), Upload{}, &list))
		if got := list.String(); strings.Count(got, " refs/") != 1 || strings.Count(got, tip.String()) != 2 || !strings.Contains(got, "symref=HEAD:refs/heads/main") && !strings.Contains(got, " HEAD") {
			t.Errorf("a client is told\n%s\nwant %s", got, tip)
		}
	}
	gets := func(id object.Hash, want bool) {
		t.Helper()
		var pack strings.Builder
		gittest.Must(t, m.UploadPack(t.Context(), wholeUpload(id), &pack))
		if got := strings.Contains(pack.String(), "PACK"); got != want {
			t.Errorf("a client gets %s: %v", id, got)
		}
	}
	sees(head.Hash)
	first := show("2", "3")
	sees(first)
	gets(first, true)
	gets(head.Hash, true)
	if show("2", "3") != first {
		t.Error("the same commits are others")
	}
	second := show("4")
	sees(second)
	gets(first, false)

	// A copy of the git directory has them.
	old, _ := m.Path()
	dir := filepath.Join(t.TempDir(), "copy")
	gittest.Must(t, object.Init(dir))
	gittest.Must(t, gitOf(t, m).Repack(t.Context(), old, dir))
	if _, tip := derivedTip(dir, head); tip != second {
		t.Errorf("a copy shows %s, want %s", tip, second)
	}
	// Killed before the branch was written: a HEAD that names nothing.
	gittest.Must(t, os.Remove(filepath.Join(old, derivedRef(head))))
	sees(head.Hash)
	show("4")
	sees(second)

	next := u.Push("B", files{"po/cs.po": "9"}, head.Hash)
	fetch(t, m)
	sees(next)
	gets(second, false)
	third := show("5")
	sees(third)
	show()
	sees(next)
	if left, _ := os.ReadDir(filepath.Join(old, derivedFolder)); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

func gitOf(t *testing.T, m *Mirror) remote.Git {
	t.Helper()
	git, ok := m.opts.Remote.Git()
	if !ok {
		t.Fatal("no git")
	}
	return git
}
