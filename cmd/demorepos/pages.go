package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/repoglot/repoglot/api/web/intl"
)

// pagesRepo is the repository with the translations of repoglot's own pages.
const pagesRepo = "pages.git"

// commitPages makes the repository of the pages' translations, or commits those that
// changed since: the program that runs this has them built in. made says whether there
// is a new commit.
func commitPages(dir string) (path string, made bool, err error) {
	path = filepath.Join(dir, pagesRepo)
	repo, err := git.PlainOpen(path)
	if errors.Is(err, git.ErrRepositoryNotExists) {
		if repo, err = git.PlainInitWithOptions(path, &git.PlainInitOptions{
			Bare: true, InitOptions: git.InitOptions{DefaultBranch: plumbing.NewBranchReferenceName("main")},
		}); err == nil {
			err = os.WriteFile(filepath.Join(path, "description"), []byte("the translations of repoglot's pages\n"), 0o600)
		}
	}
	if err != nil {
		return path, false, fmt.Errorf("repository of the pages: %w", err)
	}
	if made, err = commitTree(repo); err != nil {
		err = fmt.Errorf("repository of the pages: %w", err)
	}
	return path, made, err
}

// commitTree commits the files unless the branch has them already. Times follow from
// the commit before, so that the commits are the same everywhere.
func commitTree(repo *git.Repository) (bool, error) {
	tree, err := pagesTree(repo)
	if err != nil {
		return false, err
	}
	who := object.Signature{Name: "repoglot", Email: "pages@repoglot.example", When: time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)}
	commit := object.Commit{TreeHash: tree, Message: "Add the translations of the pages\n"}
	const branch = plumbing.ReferenceName("refs/heads/main")
	head, err := repo.Reference(branch, true)
	switch {
	case err == nil:
		parent, err := repo.CommitObject(head.Hash())
		if err != nil {
			return false, err
		}
		if parent.TreeHash == tree {
			return false, nil
		}
		who.When, commit.Message = parent.Committer.When.Add(24*time.Hour), "Update the translations of the pages\n"
		commit.ParentHashes = []plumbing.Hash{head.Hash()}
	case !errors.Is(err, plumbing.ErrReferenceNotFound):
		return false, err
	}
	commit.Author, commit.Committer = who, who
	stored := repo.Storer.NewEncodedObject()
	if err := commit.Encode(stored); err != nil {
		return false, err
	}
	hash, err := repo.Storer.SetEncodedObject(stored)
	if err != nil {
		return false, err
	}
	return true, repo.Storer.SetReference(plumbing.NewHashReference(branch, hash))
}

// pagesTree stores the files and returns their tree.
func pagesTree(repo *git.Repository) (plumbing.Hash, error) {
	var folder object.Tree
	err := fs.WalkDir(intl.Files, "po", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(intl.Files, name)
		if err != nil {
			return err
		}
		blob := repo.Storer.NewEncodedObject()
		blob.SetType(plumbing.BlobObject)
		w, err := blob.Writer()
		if err != nil {
			return err
		}
		if _, err = w.Write(data); err == nil {
			err = w.Close()
		}
		if err != nil {
			return err
		}
		hash, err := repo.Storer.SetEncodedObject(blob)
		folder.Entries = append(folder.Entries, object.TreeEntry{Name: d.Name(), Mode: filemode.Regular, Hash: hash})
		return err
	})
	if err != nil {
		return plumbing.ZeroHash, err
	}
	sort.Sort(object.TreeEntrySorter(folder.Entries))
	below, err := storeTree(repo, &folder)
	if err != nil {
		return below, err
	}
	return storeTree(repo, &object.Tree{Entries: []object.TreeEntry{{Name: "po", Mode: filemode.Dir, Hash: below}}})
}

func storeTree(repo *git.Repository, t *object.Tree) (plumbing.Hash, error) {
	stored := repo.Storer.NewEncodedObject()
	if err := t.Encode(stored); err != nil {
		return plumbing.ZeroHash, err
	}
	return repo.Storer.SetEncodedObject(stored)
}
