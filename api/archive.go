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

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

const typeZip = "application/zip"

// archiveTime bounds the sending of one archive, which holds a snapshot.
const archiveTime = 10 * time.Minute

// archive is an answer that is made while it is sent: files of one snapshot as
// ZIP, of which one at a time is in memory.
type archive struct {
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

// sendArchive answers with an archive. Its ETag is a hash of what goes into it,
// so a client that has it costs no more than the list.
func (s *Server) sendArchive(rt *route, c echo.Context, a answer) answer {
	req, w := c.Request(), c.Response()
	done, err := s.download(req.Context())
	if err != nil {
		a = renderProblem(asProblem(err), 0)
		s.write(rt, w, req, a)
		return a
	}
	defer done()
	ctx, cancel := context.WithTimeout(req.Context(), archiveTime)
	defer cancel()
	begun := false
	err = s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		files, err := a.archive.list(ctx, snap)
		if err != nil {
			return err
		}
		made := &coded{tag: s.archiveTag(files)}
		a.etag = made.etag(identity)
		if header := req.Header.Values("If-None-Match"); len(header) > 0 && made.matches(header) {
			a.status, a.archive = http.StatusNotModified, nil
		}
		begun = true
		s.write(rt, w, req, a)
		if req.Method == http.MethodHead || a.archive == nil {
			return nil
		}
		out := newPatientWriter(w, s.streams.timeout)
		defer out.end()
		_ = out.control.Flush() // no length, as for HEAD
		return writeArchive(ctx, snap, out, files)
	})
	switch {
	case err == nil:
	case !begun:
		a = renderProblem(asProblem(err), 0)
		s.write(rt, w, req, a)
	default:
		if ctx.Err() == nil {
			s.logger.Error("api archive broken off", "path", req.URL.Path, "error", err)
		}
		panic(http.ErrAbortHandler) // so that the client does not take it for whole
	}
	return a
}

func (s *Server) archiveTag(files []archived) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", s.version)
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
	if err := p.control.SetWriteDeadline(time.Now().Add(p.timeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return p.w.Write(b)
}
