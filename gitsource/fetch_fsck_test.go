package gitsource

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// TestFsck: git, and what stands in for it, refuse objects that harm those who clone them,
// and take those with harmless faults of old tools; what was there stays.
func TestFsck(t *testing.T) {
	gittest.NeedGit(t)
	root, u := upstreamBelow(t)
	file, sub := u.Blob("x"), u.Tree(files{"a": "x"})
	for name, tt := range map[string]struct {
		lines   []gittest.Line[object.Hash]
		refused string
	}{
		"dotgit":           {[]gittest.Line[object.Hash]{{Mode: "40000", Name: ".git", Hash: sub}}, "hasDotgit"},
		"dotdot":           {[]gittest.Line[object.Hash]{{Mode: "40000", Name: "..", Hash: sub}}, "hasDotdot"},
		"short name":       {[]gittest.Line[object.Hash]{{Mode: "40000", Name: "GIT~1", Hash: sub}}, "hasDotgit"},
		"slash":            {[]gittest.Line[object.Hash]{{Mode: "100644", Name: "a/../../b", Hash: file}}, "fullPathname"},
		"zero-padded mode": {[]gittest.Line[object.Hash]{{Mode: "040000", Name: "po", Hash: sub}}, ""},
		"unsorted":         {[]gittest.Line[object.Hash]{{Mode: "100644", Name: "b", Hash: file}, {Mode: "100644", Name: "a", Hash: file}}, ""},
		"plain":            {[]gittest.Line[object.Hash]{{Mode: "100644", Name: "b", Hash: file}}, ""},
	} {
		for _, transport := range []string{"binary", "builtin"} {
			first := u.Push("A", files{"x": "1"})
			srv := httptest.NewServer(backend(t, root))
			t.Cleanup(srv.Close)
			m := openMirror(t, remote.Repository{URL: srv.URL + "/up.git"}, Options{Remote: remote.Options{Transport: transport}})
			checkFetch(t, m, "main", files{"x": "1"})
			second := u.CommitTree("B", u.RawTree(tt.lines...), first)
			u.Set("main", second)
			_, err := m.Fetch(context.Background())
			head, _ := m.Head()
			if tt.refused == "" {
				if err != nil || head.Hash != second {
					t.Errorf("%s, %s: %v, head %s", name, transport, err, head.Hash)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), tt.refused) || !strings.Contains(err.Error(), "may harm those who clone it") || len(err.Error()) > 500 {
				t.Errorf("%s, %s: %v, want %s", name, transport, err, tt.refused)
			}
			if head.Hash != first {
				t.Errorf("%s, %s: head %s, want that of before", name, transport, head.Hash)
			}
		}
	}
}
