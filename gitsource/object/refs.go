package object

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
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

// ReadHEAD reads the file HEAD of a git directory: the ref that it names, or the commit.
func ReadHEAD(gitDir string) (ref string, commit Hash, err error) {
	text, err := ReadText(gitDir, "HEAD")
	if err != nil {
		return "", Hash{}, err
	}
	if name, ok := strings.CutPrefix(text, "ref:"); ok {
		name = strings.TrimSpace(name)
		branch, ok := strings.CutPrefix(name, "refs/heads/")
		if !ok || !ValidBranch(branch) && branch != ".invalid" {
			return "", Hash{}, errors.New("HEAD names no branch")
		}
		return name, Hash{}, nil
	}
	commit, err = refHash("HEAD", text)
	return "", commit, err
}

// refHash reads the id in the file of a ref. Errors do not show the text: it may be any file's.
func refHash(name, text string) (Hash, error) {
	h, err := ParseHash(text)
	if err != nil {
		return h, fmt.Errorf("%s holds no git id of 40 hexadecimal digits", name)
	}
	return h, nil
}

// CurrentHead reads the branch that HEAD of a git directory names, and its commit.
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

// WriteHead moves the branch of a mirror's git directory, and keeps refs/repoglot/previous.
func WriteHead(gitDir string, head Head) error {
	old, err := CurrentHead(gitDir)
	had := err == nil
	if head.Branch == Detached {
		return WriteText(filepath.Join(gitDir, "HEAD"), head.Hash.String()+"\n")
	}
	if had && old.Hash != head.Hash {
		// A rewritten branch is compared with its last state
		// (docs/compatibility.md#history): this ref keeps that in a repack.
		if err := WriteText(filepath.Join(gitDir, "refs", "repoglot", "previous"), old.Hash.String()+"\n"); err != nil {
			return err
		}
	}
	ref := "refs/heads/" + head.Branch
	file := filepath.Join(gitDir, filepath.FromSlash(ref))
	if had && old.Branch != head.Branch && old.Branch != Detached {
		// HEAD names the commit meanwhile, so that the mirror has a head if this fails.
		if err := WriteText(filepath.Join(gitDir, "HEAD"), old.Hash.String()+"\n"); err != nil {
			return err
		}
		// The file "a" would be in the way of "a/b".
		_ = os.Remove(filepath.Join(gitDir, "refs", "heads", filepath.FromSlash(old.Branch)))
	}
	removeEmpty(file) // the folder "a", of "a/b" before, would be in the way of "a"
	if err := WriteText(file, head.Hash.String()+"\n"); err != nil {
		return err
	}
	if had && old.Branch == head.Branch {
		return nil
	}
	return WriteText(filepath.Join(gitDir, "HEAD"), "ref: "+ref+"\n")
}

// removeEmpty removes a folder that has no files.
func removeEmpty(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // the usual case: there is none
	}
	for _, e := range entries {
		if e.IsDir() {
			removeEmpty(filepath.Join(dir, e.Name()))
		}
	}
	_ = os.Remove(dir) // which fails if there are files
}

// ReadRef looks a ref up among the loose and the packed refs of a git directory.
// The error wraps fs.ErrNotExist if there is no such ref.
func ReadRef(dir, name string) (Hash, error) {
	for range 5 {
		text, err := ReadText(dir, name)
		if err != nil {
			// "is a directory" and "not a directory" also mean: not loose.
			return readPackedRef(dir, name)
		}
		next, symbolic := strings.CutPrefix(text, "ref:")
		if !symbolic {
			return refHash(name, text)
		}
		next = strings.TrimSpace(next)
		if !strings.HasPrefix(next, "refs/") || !ValidBranch(strings.TrimPrefix(next, "refs/")) {
			return Hash{}, fmt.Errorf("ref %s names no ref", name)
		}
		name = next
	}
	return Hash{}, fmt.Errorf("ref %s: symbolic refs run in a circle", name)
}

// packedRefs calls fn for each line of packed-refs, if there is one, until it returns an error.
func packedRefs(dir string, fn func(name, id string) error) error {
	f, err := openIn(dir, "packed-refs")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxTextFile)
	for lines.Scan() {
		if id, name, ok := strings.Cut(lines.Text(), " "); ok && id != "#" {
			if err := fn(name, id); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

func readPackedRef(dir, name string) (h Hash, err error) {
	said := fmt.Errorf("ref %s: %w", name, fs.ErrNotExist)
	err = packedRefs(dir, func(n, id string) error {
		if n != name {
			return nil
		}
		h, said = refHash(name, id)
		return fs.SkipAll
	})
	if err != nil && !errors.Is(err, fs.SkipAll) {
		said = err
	}
	return h, said
}

// Refs calls fn for each ref of a git directory below a prefix such as "refs/heads/", with
// the rest of its name: packed ones first, which may be there again. Refs that hold no id
// are left out. An error of fn ends it and is returned, but for fs.SkipAll.
func Refs(gitDir, prefix string, fn func(name string, h Hash) error) error {
	err := packedRefs(gitDir, func(name, id string) error {
		name, below := strings.CutPrefix(name, prefix)
		if h, err := ParseHash(id); below && err == nil {
			return fn(name, h)
		}
		return nil
	})
	if err == nil {
		root := filepath.Join(gitDir, filepath.FromSlash(prefix))
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil // removed in the meantime
			case err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".tmp-") || strings.HasSuffix(path, ".lock"):
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			name = filepath.ToSlash(name)
			if h, err := ReadRef(gitDir, prefix+name); err == nil {
				return fn(name, h)
			}
			return nil
		})
	}
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// ValidBranch reports whether git could have a branch of this name, as far as it
// matters for safety (git-check-ref-format(1)).
func ValidBranch(name string) bool {
	if name == "" || name == "@" || len(name) > 1024 || strings.HasPrefix(name, "-") || strings.HasSuffix(name, ".") {
		return false
	}
	if strings.Contains(name, "..") || strings.Contains(name, "@{") || strings.ContainsAny(name, " ~^:?*[\\\x7f") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.ContainsFunc(name, unicode.IsControl)
}
