package object

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"

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

// openLoose opens a loose object and reads its header; fs.ErrNotExist if it is not in dir.
func openLoose(dir string, h Hash) (*looseObject, error) {
	f, err := openIn(dir, filepath.ToSlash(looseName(h)))
	if err != nil {
		return nil, err
	}
	o := &looseObject{file: f}
	if err := o.header(bufio.NewReader(f)); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%w: loose object: %w", ErrCorrupt, err)
	}
	return o, nil
}

// header reads the header; the object is what follows in.
func (o *looseObject) header(in io.Reader) error {
	z, err := zlib.NewReader(in)
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

// read returns the contents, which in has and which must be as long as the header says.
func (o *looseObject) read(in io.Reader) ([]byte, error) {
	// The size is only a claim so far: if it would be a rare ratio of compression, start
	// small and grow with the contents.
	size := min(o.size, 1<<20)
	if info, err := o.file.Stat(); err == nil && o.size/usualRatio <= info.Size() {
		size = o.size
	}
	data := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	n, err := io.Copy(data, io.LimitReader(in, o.size+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: loose object: %w", ErrCorrupt, unexpectedEOF(err))
	case n != o.size:
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, errLooseLength)
	}
	return data.Bytes(), nil
}

// check reads the object, compares it with its id and returns the contents if they are kept.
func (o *looseObject) check(h Hash, keep bool) (data []byte, err error) {
	sum := sha1.New()
	objectSum(sum, o.kind, o.size)
	if keep {
		parts := make(partsRead, 16)
		var summed sync.WaitGroup
		summed.Go(func() {
			for p := range parts {
				sum.Write(p)
			}
		})
		data, err = o.read(io.TeeReader(o.in, parts))
		close(parts)
		summed.Wait()
	} else {
		var n int64
		if n, err = io.Copy(sum, io.LimitReader(o.in, o.size+1)); err == nil && n != o.size {
			err = errLooseLength
		}
	}
	if err != nil {
		return nil, unexpectedEOF(err)
	}
	return data, sameID(sum, h)
}

// partsRead takes the contents that are kept: parts are hashed while the next are inflated.
type partsRead chan []byte

func (c partsRead) Write(p []byte) (int, error) {
	c <- p
	return len(p), nil
}

func sameID(sum hash.Hash, h Hash) error {
	if is := Hash(sum.Sum(nil)); is != h {
		return fmt.Errorf("it has the contents of %s", is)
	}
	return nil
}

func (o *looseObject) close() error { return o.file.Close() }

func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

var errLooseLength = errors.New("loose object is not as long as its header says")

// parseLooseHeader reads the header of a loose object, which is begin bytes long.
func parseLooseHeader(head []byte) (kind plumbing.ObjectType, size int64, begin int, err error) {
	end := bytes.IndexByte(head, 0)
	if end < 0 {
		return 0, 0, 0, errors.New("no header")
	}
	name, length, _ := bytes.Cut(head[:end], []byte{' '})
	if kind, err = plumbing.ParseObjectType(string(name)); err != nil {
		return 0, 0, 0, err
	}
	if size, err = strconv.ParseInt(string(length), 10, 64); err != nil || size < 0 {
		return 0, 0, 0, errors.New("no size in its header")
	}
	return kind, size, end + 1, nil
}

// deflateLoose writes a loose object.
func deflateLoose(w io.Writer, level int, kind plumbing.ObjectType, data []byte) error {
	z, err := zlib.NewWriterLevel(w, level)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(z, "%s %d\x00", kind, len(data)); err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	return z.Close()
}

// writeLoose adds an object as a loose file. When it returns, the object survives a
// crash; if it is there already, nothing is written.
func writeLoose(gitDir string, o addedObject) error {
	name := filepath.Join(gitDir, "objects", looseName(o.hash))
	if _, err := os.Lstat(name); err == nil {
		return nil
	}
	err := createFile(name, func(w *os.File) error {
		if err := deflateLoose(w, zlib.DefaultCompression, o.kind, o.data); err != nil {
			return err
		}
		return w.Sync()
	})
	if err == nil {
		err = syncDir(filepath.Dir(name))
	}
	if err != nil {
		return fmt.Errorf("write %s %s: %w", o.kind, o.hash, err)
	}
	return nil
}
