package gitsource

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Head is what a branch points to.
type Head struct {
	// Hash of the commit.
	Hash Hash
	// Branch without "refs/heads/"; "HEAD" where the remote's HEAD is detached.
	Branch string
}

// detached stands for the branch of a HEAD that names a commit itself.
const detached = "HEAD"

const maxRefFile = 64 << 10 // a loose ref is 41 bytes, a symbolic one some more

// readSmall reads a regular file of at most maxRefFile bytes.
func readSmall(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRefFile {
		return "", fmt.Errorf("%s: %w", filepath.Base(name), fs.ErrInvalid)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxRefFile))
	return strings.TrimSpace(string(data)), err
}

// readHEAD reads a HEAD file: the ref it names, or the commit.
func readHEAD(gitDir string) (ref string, commit Hash, err error) {
	text, err := readSmall(filepath.Join(gitDir, "HEAD"))
	if err != nil {
		return "", Hash{}, err
	}
	if name, ok := strings.CutPrefix(text, "ref:"); ok {
		name = strings.TrimSpace(name)
		branch, ok := strings.CutPrefix(name, "refs/heads/")
		if !ok || !validBranch(branch) && branch != ".invalid" {
			return "", Hash{}, fmt.Errorf("HEAD names %q, which is no branch", oneLine(name))
		}
		return name, Hash{}, nil
	}
	commit, err = ParseHash(text)
	return "", commit, err
}

// readRef looks a ref up among the loose and the packed ones below dir.
// A ref that is not there is fs.ErrNotExist.
func readRef(dir, name string) (Hash, error) {
	for range 5 {
		text, err := readSmall(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			// Also "is a directory" and "not a directory" mean: not loose.
			return readPackedRef(dir, name)
		}
		next, symbolic := strings.CutPrefix(text, "ref:")
		if !symbolic {
			return ParseHash(text)
		}
		next = strings.TrimSpace(next)
		if !strings.HasPrefix(next, "refs/") || !validBranch(strings.TrimPrefix(next, "refs/")) {
			return Hash{}, fmt.Errorf("ref %s names %q, which is no ref", name, oneLine(next))
		}
		name = next
	}
	return Hash{}, fmt.Errorf("ref %s: symbolic refs run in a circle", name)
}

// packedRefs calls fn for each line of packed-refs until it returns false.
func packedRefs(dir string, fn func(name, id string) bool) error {
	f, err := os.Open(filepath.Join(dir, "packed-refs"))
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxRefFile)
	for lines.Scan() {
		id, name, ok := strings.Cut(lines.Text(), " ")
		if ok && id != "#" && !fn(name, id) {
			return nil
		}
	}
	return lines.Err()
}

func readPackedRef(dir, name string) (Hash, error) {
	var id string
	err := packedRefs(dir, func(n, i string) bool {
		if n == name {
			id = i
		}
		return id == ""
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Hash{}, err
	}
	if id == "" {
		return Hash{}, fmt.Errorf("ref %s: %w", name, fs.ErrNotExist)
	}
	return ParseHash(id)
}

// hasBranches reports whether any branch exists below dir.
func hasBranches(dir string) bool {
	found := false
	_ = packedRefs(dir, func(name, _ string) bool {
		found = found || strings.HasPrefix(name, "refs/heads/")
		return !found
	})
	if found {
		return true
	}
	_ = filepath.WalkDir(filepath.Join(dir, "refs", "heads"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			found = true
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

// writeAtomic replaces a file in one step.
func writeAtomic(name, content string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".tmp-*")
	if err != nil {
		return err
	}
	_, err = tmp.WriteString(content)
	if err == nil {
		err = tmp.Sync() // else a power failure may leave an empty file under its name
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}
