package object

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

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
