package object

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxTextFile bounds the small text files of a git directory: a loose ref has
// 41 bytes, a symbolic ref a few more.
const maxTextFile = 64 << 10

// ReadText reads a small text file of a git directory (HEAD, a ref, alternates),
// a regular file of up to 64 KiB, without blanks around the text.
func ReadText(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxTextFile {
		return "", fmt.Errorf("%s: %w", filepath.Base(name), fs.ErrInvalid)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxTextFile))
	return strings.TrimSpace(string(data)), err
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
