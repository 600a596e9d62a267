package object

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// bareConfig is the whole configuration of a mirror. It names no remote, so no
// address and no credential is ever on disk.
const bareConfig = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n"

// Init makes an empty bare repository in gitDir.
func Init(gitDir string) error {
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(gitDir, filepath.FromSlash(dir)), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(gitDir, "config"), []byte(bareConfig), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(gitDir, "HEAD"), []byte("ref: refs/heads/.invalid\n"), 0o600)
}

const (
	// maxPacks: 150 packs make a walk 15 times slower and cost 160 descriptors.
	maxPacks = 50
	// looseSample: this many loose objects in one of the 256 directories mean
	// some 7,000 in all; git gc --auto uses the same estimate.
	looseSample = 27
)

// Crowded reports whether a git directory has so many packs or loose objects
// that reading becomes slow: more than 50 packs, or some 7,000 loose objects.
func Crowded(gitDir string) bool {
	packs, _ := os.ReadDir(filepath.Join(gitDir, "objects", "pack"))
	n := 0
	for _, p := range packs {
		if strings.HasSuffix(p.Name(), ".pack") {
			n++
		}
	}
	loose, _ := os.ReadDir(filepath.Join(gitDir, "objects", "17"))
	return n > maxPacks || len(loose) > looseSample
}

// maxShallow bounds the list of commits at which a history ends: 400,000 of them.
const maxShallow = 16 << 20

// shallowText returns the list of commits at which a repository's history ends; "" if
// it is whole.
func shallowText(dir string) (string, error) {
	text, err := readText(dir, "shallow", maxShallow)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return text, err
}

// WriteShallow stores the commits at which a history ends, a line each; without any it is
// whole.
func WriteShallow(gitDir, ends string) error {
	name := filepath.Join(gitDir, "shallow")
	if ends != "" {
		return WriteText(name, ends+"\n")
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store where history ends: %w", err)
	}
	return nil
}

// maxTextFile bounds the small text files of a git directory: a loose ref has
// 41 bytes, a symbolic ref a few more.
const maxTextFile = 64 << 10

// ReadText reads a small text file of a git directory (HEAD, a ref, alternates)
// without blanks around the text: a regular file of up to 64 KiB, which no symlink
// leads out of dir to.
func ReadText(dir, name string) (string, error) { return readText(dir, name, maxTextFile) }

func readText(dir, name string, most int64) (string, error) {
	f, err := openIn(dir, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if int64(len(data)) > most {
		return "", fmt.Errorf("%s: %w", path.Base(name), fs.ErrInvalid)
	}
	return strings.TrimSpace(string(data)), err
}

// openIn opens a regular file in a folder. name has slashes. A repository may be
// somebody else's: no symlink leads to other files of this machine (CVE-2022-39253),
// and a pipe or a device is refused without waiting for it.
func openIn(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		if info, lerr := root.Lstat(filepath.FromSlash(name)); lerr == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s: %w: %w", path.Base(name), fs.ErrInvalid, err)
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path.Base(name), fs.ErrInvalid)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// WriteText writes a small text file of a git directory. Readers see the old text
// or the new text, also after a crash.
func WriteText(name, content string) error {
	return writeFile(name, ".tmp-*", func(f *os.File) error {
		if _, err := f.WriteString(content); err != nil {
			return err
		}
		return f.Sync() // otherwise a power failure may leave an empty file
	})
}
