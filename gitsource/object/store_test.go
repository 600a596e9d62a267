package object

import (
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

func openStore(tb testing.TB, gitDir string) *Store {
	tb.Helper()
	s, err := Open(gitDir)
	gittest.Must(tb, err)
	tb.Cleanup(func() { gittest.Must(tb, s.Close()) })
	return s
}

// contentsOf reads all files of a commit.
func contentsOf(tb testing.TB, s *Store, commit Hash) files {
	tb.Helper()
	n, err := s.Node(commit)
	gittest.Must(tb, err)
	fs := files{}
	var walk func(tree Hash, prefix string)
	walk = func(tree Hash, prefix string) {
		list, err := s.Tree(tree)
		gittest.Must(tb, err)
		for _, e := range list {
			switch e.Kind {
			case KindTree:
				walk(e.Hash, prefix+e.Name+"/")
			case KindFile, KindLink:
				data, err := s.Blob(e.Hash, 1<<30)
				gittest.Must(tb, err)
				fs[prefix+e.Name] = string(data)
				if e.Kind == KindLink {
					fs[prefix+e.Name] = "->" + string(data)
				}
			}
		}
	}
	walk(n.Tree, "")
	return fs
}
