package push_test

import (
	"testing"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	gogit "github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

// filesAt reads the tree of a commit, as what Tree writes. go-git's walk of files refuses names
// such as git~1, and leaves submodules out.
func filesAt(tb testing.TB, up *gittest.Upstream[object.Hash], commit object.Hash) gittest.Files {
	tb.Helper()
	r := treeReader{tb, filesystem.NewStorage(osfs.New(up.Dir), cache.NewObjectLRUDefault()), gittest.Files{}}
	c, err := gogit.GetCommit(r.st, plumbing.Hash(commit))
	gittest.Must(tb, err)
	r.read(c.TreeHash, "")
	return r.files
}

type treeReader struct {
	tb    testing.TB
	st    *filesystem.Storage
	files gittest.Files
}

// read reads a tree whose names begin with a prefix.
func (r treeReader) read(tree plumbing.Hash, prefix string) {
	r.tb.Helper()
	t, err := gogit.GetTree(r.st, tree)
	gittest.Must(r.tb, err)
	for _, e := range t.Entries {
		switch path := prefix + e.Name; e.Mode {
		case filemode.Dir:
			r.read(e.Hash, path+"/")
		case filemode.Submodule:
			r.files[path] = "@"
		case filemode.Symlink:
			r.files[path] = "->" + r.text(e.Hash)
		default:
			r.files[path] = r.text(e.Hash)
		}
	}
}

// text reads a blob.
func (r treeReader) text(blob plumbing.Hash) string {
	r.tb.Helper()
	b, err := gogit.GetBlob(r.st, blob)
	gittest.Must(r.tb, err)
	text, err := gogit.NewFile("", filemode.Regular, b).Contents()
	gittest.Must(r.tb, err)
	return text
}
