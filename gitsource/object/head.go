package object

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Head is a branch and its commit.
type Head struct {
	// Hash of the commit.
	Hash Hash
	// Branch without "refs/heads/"; "HEAD" where the remote's HEAD is detached.
	Branch string
}

// Detached is the Branch of a HEAD that names a commit and no branch.
const Detached = "HEAD"

// ReadHEAD reads the file HEAD of a git directory: the ref that it names, or the
// commit.
func ReadHEAD(gitDir string) (ref string, commit Hash, err error) {
	text, err := ReadText(filepath.Join(gitDir, "HEAD"))
	if err != nil {
		return "", Hash{}, err
	}
	if name, ok := strings.CutPrefix(text, "ref:"); ok {
		name = strings.TrimSpace(name)
		branch, ok := strings.CutPrefix(name, "refs/heads/")
		if !ok || !ValidBranch(branch) && branch != ".invalid" {
			return "", Hash{}, fmt.Errorf("HEAD names %.500q, which is no branch", name)
		}
		return name, Hash{}, nil
	}
	commit, err = ParseHash(text)
	return "", commit, err
}

// CurrentHead reads the branch that HEAD of a git directory names, and its
// commit.
func CurrentHead(gitDir string) (Head, error) {
	ref, hash, err := ReadHEAD(gitDir)
	if err != nil {
		return Head{}, err
	}
	if ref == "" {
		return Head{Hash: hash, Branch: Detached}, nil
	}
	hash, err = ReadRef(gitDir, ref)
	return Head{Hash: hash, Branch: strings.TrimPrefix(ref, "refs/heads/")}, err
}

// WriteHead moves the branch of a mirror's git directory. The commit before is
// kept as refs/repoglot/previous.
func WriteHead(gitDir string, head Head) error {
	old, err := CurrentHead(gitDir)
	had := err == nil
	if head.Branch == Detached {
		return WriteText(filepath.Join(gitDir, "HEAD"), head.Hash.String()+"\n")
	}
	if had && old.Hash != head.Hash {
		// A rewritten branch is compared with its last state
		// (docs/compatibility.md#history): this ref keeps that state when the
		// directory is repacked.
		if err := WriteText(filepath.Join(gitDir, "refs", "repoglot", "previous"), old.Hash.String()+"\n"); err != nil {
			return err
		}
	}
	if had && old.Branch != head.Branch && old.Branch != Detached {
		// The file "a" would be in the way of "a/b".
		_ = os.Remove(filepath.Join(gitDir, "refs", "heads", filepath.FromSlash(old.Branch)))
	}
	ref := "refs/heads/" + head.Branch
	if err := WriteText(filepath.Join(gitDir, filepath.FromSlash(ref)), head.Hash.String()+"\n"); err != nil {
		return err
	}
	if had && old.Branch == head.Branch {
		return nil
	}
	return WriteText(filepath.Join(gitDir, "HEAD"), "ref: "+ref+"\n")
}
