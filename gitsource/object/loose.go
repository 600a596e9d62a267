package object

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"
)

// looseName is the path of a loose object below an objects directory.
func looseName(h Hash) string {
	s := h.String()
	return filepath.Join(s[:2], s[2:])
}

// looseHeader is more than the longest header, "commit 9223372036854775807\x00".
const looseHeader = 32

// usualRatio is up to how many times its compressed length a loose object may be long to
// be given its memory at once. Generated PO files reach 30.
const usualRatio = 64

// looseObject is an open loose object. go-git does not bound their
// inflated size, and inflates them once more whenever the size is asked for.
type looseObject struct {
	file *os.File
	in   *bufio.Reader
	kind plumbing.ObjectType
	size int64
}

// openLoose opens a loose object and reads its header; fs.ErrNotExist if it is
// not in dir.
func openLoose(dir string, h Hash) (*looseObject, error) {
	f, err := openIn(dir, filepath.ToSlash(looseName(h)))
	if err != nil {
		return nil, err
	}
	o := &looseObject{file: f}
	if err := o.header(); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%w: loose object: %w", ErrCorrupt, err)
	}
	return o, nil
}

func (o *looseObject) header() error {
	z, err := zlib.NewReader(bufio.NewReader(o.file))
	if err != nil {
		return unexpectedEOF(err)
	}
	o.in = bufio.NewReader(z)
	head, err := o.in.Peek(looseHeader)
	if bytes.IndexByte(head, 0) < 0 {
		return errors.Join(errors.New("no header"), unexpectedEOF(err))
	}
	var begin int
	if o.kind, o.size, begin, err = parseLooseHeader(head); err != nil {
		return err
	}
	_, err = o.in.Discard(begin)
	return err
}

// read returns the contents, which must be as long as the header says.
func (o *looseObject) read() ([]byte, error) {
	// The size is only a claim so far: if it would be a rare ratio of compression, start
	// small and grow with the contents.
	size := min(o.size, 1<<20)
	if info, err := o.file.Stat(); err == nil && o.size/usualRatio <= info.Size() {
		size = o.size
	}
	data := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	n, err := io.Copy(data, io.LimitReader(o.in, o.size+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: loose object: %w", ErrCorrupt, unexpectedEOF(err))
	case n != o.size:
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, errLooseLength)
	}
	return data.Bytes(), nil
}

func (o *looseObject) close() error { return o.file.Close() }

func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
