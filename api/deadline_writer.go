package api

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// deadlineWriter gives each write a time limit of its own, however long all of
// them take.
type deadlineWriter struct {
	w       io.Writer
	control *http.ResponseController
	timeout time.Duration
}

func newDeadlineWriter(w http.ResponseWriter, timeout time.Duration) *deadlineWriter {
	return &deadlineWriter{w, http.NewResponseController(w), timeout}
}

// end removes the deadline: the connection may serve other requests.
func (p *deadlineWriter) end() { _ = p.control.SetWriteDeadline(time.Time{}) }

// Write writes with a deadline of its own.
func (p *deadlineWriter) Write(b []byte) (int, error) {
	if err := p.wait(); err != nil {
		return 0, err
	}
	return p.w.Write(b)
}

// Flush flushes with a deadline of its own.
func (p *deadlineWriter) Flush() error {
	if err := p.wait(); err != nil {
		return err
	}
	if err := p.control.Flush(); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// wait sets the next deadline. The kernel watches it, so its clock is the real
// one.
func (p *deadlineWriter) wait() error {
	if err := p.control.SetWriteDeadline(time.Now().Add(p.timeout)); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// deadlineResponse is a response whose body has a deadline for each write.
type deadlineResponse struct {
	http.ResponseWriter
	body *deadlineWriter
}

// Write writes to the body.
func (p deadlineResponse) Write(b []byte) (int, error) { return p.body.Write(b) }
