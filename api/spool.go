package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/repoglot/repoglot/api/limit"
)

// spoolMemory is how many bytes of a download are kept in memory; a longer one
// is written to a file.
const spoolMemory = 1 << 20

// errNoReader tells the producer of a download that the client is gone.
var errNoReader = errors.New("the client went away")

// spool holds a download between its producer, which has a snapshot and should
// be done soon, and the client, which may be slow. One goroutine writes to it
// while another one reads. It must be closed.
type spool struct {
	dir    string       // of the file
	room   *limit.Lease // the bytes of the file
	inside int          // bytes that are kept in memory

	mu      sync.Mutex
	changed chan struct{} // closed at the next change
	memory  []byte        // all bytes, until there is a file
	file    *os.File
	size    int64
	ended   bool
	err     error // the producer's
}

func newSpool(dir string, room *limit.Lease, inside int) *spool {
	return &spool{dir: dir, room: room, inside: inside, changed: make(chan struct{})}
}

func (s *spool) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return 0, errNoReader
	}
	if s.file == nil && len(s.memory)+len(b) <= s.inside {
		s.memory = append(s.memory, b...)
	} else if err := s.keep(b); err != nil {
		return 0, err
	}
	s.size += int64(len(b))
	s.wake()
	return len(b), nil
}

func (s *spool) keep(b []byte) error {
	if err := s.room.Take(int64(len(s.memory) + len(b))); err != nil {
		return overShare(err)
	}
	var err error
	if s.file == nil {
		err = s.spill()
	}
	if err == nil {
		_, err = s.file.WriteAt(b, s.size)
	}
	if err != nil {
		return fmt.Errorf("keep a download until it is sent: %w", err)
	}
	return nil
}

// spill moves the bytes to a file without a name, so that no file is left
// however the process ends.
func (s *spool) spill() error {
	f, err := os.CreateTemp(s.dir, "download-*")
	if err != nil {
		return err
	}
	s.file = f
	_ = os.Remove(f.Name()) // where an open file cannot be removed, close removes it
	_, err = f.WriteAt(s.memory, 0)
	s.memory = nil
	return err
}

func (s *spool) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// end says that the download is complete, or that it failed with err.
func (s *spool) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended, s.err = true, err
		s.wake()
	}
}

// close ends the spool for both sides. A producer that goes on gets an error
// from Write.
func (s *spool) close() {
	s.end(errNoReader)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
	}
	s.room.Release()
}

// wait waits until the download is complete, or unless whole is set, until it
// is too long for memory. body is the whole of a short download.
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

// copyTo writes all bytes as they come, as long as mayGoOn has no error; nil: always.
func (s *spool) copyTo(ctx context.Context, w io.Writer, mayGoOn func(context.Context) error) error {
	buf := make([]byte, 64<<10)
	for at := int64(0); ; {
		s.mu.Lock()
		size, ended, err, changed, file, memory := s.size, s.ended, s.err, s.changed, s.file, s.memory
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
		if mayGoOn != nil {
			if err := mayGoOn(ctx); err != nil {
				return err
			}
		}
		n := int(min(int64(len(buf)), size-at))
		if file == nil {
			copy(buf, memory[at:])
		} else if _, err := file.ReadAt(buf[:n], at); err != nil {
			return fmt.Errorf("read a download that was kept: %w", err)
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return fmt.Errorf("%w: %w", errNoReader, err)
		}
		at += int64(n)
	}
}

// reader reads a complete download that is in a file.
func (s *spool) reader() io.ReadSeeker {
	s.mu.Lock()
	defer s.mu.Unlock()
	return io.NewSectionReader(s.file, 0, s.size)
}
