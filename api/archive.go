package api

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

const typeZip = "application/zip"

// archive is an answer that is made while it is sent: files of one snapshot as
// ZIP, of which one at a time is in memory.
type archive struct {
	version  string // of the program
	filename string
	// list lists the files, and checks again that they may be seen.
	list func(ctx context.Context, snap *store.Snapshot) ([]archived, error)
}

// archived is one file of an archive.
type archived struct {
	translation int64
	name        string
	revision    string
}

// send sends the archive. Its ETag is a hash of what goes into it, so a client
// that has it costs no more than the list.
func (a *archive) send(ctx context.Context, snap *store.Snapshot, req *http.Request, begin func(int, string, string) *patientWriter) error {
	files, err := a.list(ctx, snap)
	if err != nil {
		return err
	}
	made, status := &coded{tag: a.tag(files)}, http.StatusOK
	if header := req.Header.Values("If-None-Match"); len(header) > 0 && made.matches(header) {
		status = http.StatusNotModified
	}
	out := begin(status, made.etag(identity), "")
	if out == nil {
		return nil
	}
	return writeArchive(ctx, snap, out, files)
}

func (a *archive) tag(files []archived) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", a.version)
	for _, f := range files {
		fmt.Fprintf(h, "%q %s\n", f.name, f.revision)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:15])
}

// writeArchive writes ZIP. The times are those of the commits, so that the same
// files give the same bytes.
func writeArchive(ctx context.Context, snap *store.Snapshot, w io.Writer, files []archived) error {
	z := zip.NewWriter(w)
	for _, file := range files {
		f, err := snap.File(ctx, file.translation)
		if errors.Is(err, catalog.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		entry, err := z.CreateHeader(&zip.FileHeader{Name: file.name, Method: zip.Deflate, Modified: f.Modified.UTC()})
		if err != nil {
			return fmt.Errorf("archive %s: %w", file.name, err)
		}
		if _, err := entry.Write(f.Data); err != nil {
			return fmt.Errorf("archive %s: %w", file.name, err)
		}
	}
	return z.Close()
}

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
