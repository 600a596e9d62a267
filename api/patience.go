package api

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// patientWriter gives a client some time for every piece, however long all takes.
type patientWriter struct {
	w       io.Writer
	control *http.ResponseController
	timeout time.Duration
}

func newPatientWriter(w http.ResponseWriter, timeout time.Duration) *patientWriter {
	return &patientWriter{w, http.NewResponseController(w), timeout}
}

// end takes the deadline away: the connection may serve further requests.
func (p *patientWriter) end() { _ = p.control.SetWriteDeadline(time.Time{}) }

// Write writes with a deadline of its own.
func (p *patientWriter) Write(b []byte) (int, error) {
	if err := p.wait(); err != nil {
		return 0, err
	}
	return p.w.Write(b)
}

// Flush sends what was written, with a deadline of its own.
func (p *patientWriter) Flush() error {
	if err := p.wait(); err != nil {
		return err
	}
	if err := p.control.Flush(); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// wait begins the time for a piece. It is the kernel's, so its clock is real.
func (p *patientWriter) wait() error {
	if err := p.control.SetWriteDeadline(time.Now().Add(p.timeout)); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// patientResponse is a response whose body is written with patience.
type patientResponse struct {
	http.ResponseWriter
	body *patientWriter
}

func (p patientResponse) Write(b []byte) (int, error) { return p.body.Write(b) }
