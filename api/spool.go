package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// spoolMemory is how many bytes of a download are kept in memory; what is longer
// goes into a file.
const spoolMemory = 1 << 20

// errNoReader tells the producer of a download that nobody wants it any more.
var errNoReader = errors.New("the client went away")

// spool holds a download between the one that makes it, who has a snapshot and
// shall be done soon, and the client, who may be slow. It is written by one
// goroutine and read by another, at once. Close it.
type spool struct {
	dir string // for the file

	mu      sync.Mutex
	changed chan struct{} // closed at the next change
	memory  []byte        // all, until there is a file
	file    *os.File
	size    int64
	ended   bool
	err     error // of the producer
}

func newSpool(dir string) *spool { return &spool{dir: dir, changed: make(chan struct{})} }

// Write appends.
func (s *spool) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return 0, errNoReader
	}
	if s.file == nil && len(s.memory)+len(b) > spoolMemory {
		if err := s.spill(); err != nil {
			return 0, err
		}
	}
	if s.file == nil {
		s.memory = append(s.memory, b...)
	} else if _, err := s.file.WriteAt(b, s.size); err != nil {
		return 0, fmt.Errorf("keep a download until it is sent: %w", err)
	}
	s.size += int64(len(b))
	s.wake()
	return len(b), nil
}

// spill moves what there is into a file without a name, so that none is left
// behind however the process ends.
func (s *spool) spill() error {
	f, err := os.CreateTemp(s.dir, "download-*")
	if err == nil {
		s.file = f
		_ = os.Remove(f.Name()) // where an open file cannot be removed, close does it
		_, err = f.WriteAt(s.memory, 0)
		s.memory = nil
	}
	if err != nil {
		return fmt.Errorf("keep a download until it is sent: %w", err)
	}
	return nil
}

func (s *spool) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// end says that nothing more comes, because of err or because it is whole.
func (s *spool) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended, s.err = true, err
		s.wake()
	}
}

// close ends the spool for both sides. The producer must have ended, or it learns
// by its next Write.
func (s *spool) close() {
	s.end(errNoReader)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
	}
}

// wait waits until the download is whole, or as the caller wishes also until it
// does not fit into memory. It returns what a whole and short one consists of.
func (s *spool) wait(ctx context.Context, whole bool) (body []byte, ended bool, err error) {
	for {
		s.mu.Lock()
		body, ended, err = s.memory, s.ended, s.err
		large, changed := s.file != nil, s.changed
		s.mu.Unlock()
		if ended || large && !whole {
			return body, ended, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// copyTo writes all that comes, as it comes.
func (s *spool) copyTo(ctx context.Context, w io.Writer) error {
	buf := make([]byte, 64<<10)
	for at := int64(0); ; {
		s.mu.Lock()
		size, ended, err, changed, file := s.size, s.ended, s.err, s.changed, s.file
		s.mu.Unlock()
		if at == size {
			if ended {
				return err
			}
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		n := int(min(int64(len(buf)), size-at))
		if _, err := file.ReadAt(buf[:n], at); err != nil {
			return fmt.Errorf("read a download that was kept: %w", err)
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return fmt.Errorf("%w: %w", errNoReader, err)
		}
		at += int64(n)
	}
}

// content is a whole download that is in a file.
func (s *spool) content() io.ReadSeeker {
	s.mu.Lock()
	defer s.mu.Unlock()
	return io.NewSectionReader(s.file, 0, s.size)
}
