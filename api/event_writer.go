package api

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
)

// errGone wraps every failure to write.
var errGone = errors.New("the client does not accept more")

// eventWriter writes events. Each write has its own deadline: the server's
// limits are for answers that end.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	buf     bytes.Buffer
}

// begin tells the client its position, so that it can come back without a gap
// before its first entry. Clients ignore an event without data, except for its
// id.
func (e *eventWriter) begin(f *eventStream) error {
	if err := e.control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	e.buf.WriteString("retry: 2000\n")
	e.id(f, f.last)
	e.buf.WriteByte('\n')
	return e.flush()
}

func (e *eventWriter) id(f *eventStream, id int64) {
	e.buf.WriteString("id: ")
	e.buf.WriteString(strconv.FormatInt(id, 10))
	e.buf.WriteByte('\n')
	f.sent = id
}

// heartbeat sends a comment. If entries were filtered out, it also moves the
// client's position.
func (e *eventWriter) heartbeat(f *eventStream) error {
	if f.last != f.sent {
		e.id(f, f.last)
	}
	e.buf.WriteString(": heartbeat\n\n")
	return e.flush()
}

// entries sends one event per entry. The JSON is one line, so one line of data
// is enough.
func (e *eventWriter) entries(f *eventStream, entries []catalog.Change) error {
	for i := range entries {
		data, err := wire.JSON(wire.NewChange(f.Link, &entries[i]), 0)
		if err != nil {
			return err
		}
		e.id(f, entries[i].ID)
		e.buf.WriteString("event: change\ndata: ")
		e.buf.Write(data)
		e.buf.WriteString("\n\n")
		if e.buf.Len() >= streamWrite {
			if err := e.flush(); err != nil {
				return err
			}
		}
	}
	return e.flush()
}

// flush sends the buffer. The kernel watches the deadline, so its clock is the
// real one.
func (e *eventWriter) flush() error {
	if e.buf.Len() == 0 {
		return nil
	}
	defer e.buf.Reset()
	if err := e.control.SetWriteDeadline(time.Now().Add(e.timeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	if _, err := e.w.Write(e.buf.Bytes()); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	if err := e.control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	if err := e.control.SetWriteDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}
