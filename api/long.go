package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
)

// longTime bounds the sending of one long answer, which holds a snapshot.
const longTime = 10 * time.Minute

// longAnswer is an answer that is made while it is sent, from one snapshot.
type longAnswer interface {
	// send reads what the headers depend on, calls begin with the ETag and the
	// encoding, or with "" for none, and writes the body to what begin returns, nothing
	// if that is nil. What fails before begin is told to the client.
	send(ctx context.Context, snap *store.Snapshot, req *http.Request, begin func(status int, etag, encoding string) *patientWriter) error
}

// sendLong answers with what is made while it is sent. Who takes nothing for a
// while, or not all in time, is cut off, and the snapshot is free again.
func (s *Server) sendLong(rt *resource.Route, c echo.Context, a answer) answer {
	req, w := c.Request(), c.Response()
	done, err := s.download(req.Context())
	if err != nil {
		return s.refuseLong(rt, c, err)
	}
	defer done()
	ctx, cancel := context.WithTimeout(req.Context(), longTime)
	defer cancel()
	begun := false
	var out *patientWriter
	begin := func(status int, etag, encoding string) *patientWriter {
		a.status, a.etag, a.encoding = status, etag, encoding
		begun = true
		s.write(rt, w, req, a)
		if req.Method == http.MethodHead || status != http.StatusOK {
			return nil
		}
		out = newPatientWriter(w, s.streams.timeout)
		_ = out.control.Flush() // no length, as for HEAD
		return out
	}
	err = s.db.ReadLong(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		return a.long.send(ctx, snap, req, begin)
	})
	switch {
	case err == nil:
	case !begun:
		return s.refuseLong(rt, c, err)
	default:
		if ctx.Err() == nil && rest.AsProblem(err) == rest.ErrInternal {
			s.logger.Error("api answer broken off", "path", req.URL.Path, "error", err)
		}
		panic(http.ErrAbortHandler) // so that the client does not take it for whole
	}
	if out != nil {
		out.end()
	}
	return a
}

func (s *Server) refuseLong(rt *resource.Route, c echo.Context, err error) answer {
	p := rest.AsProblem(longProblem(err))
	if p == rest.ErrInternal {
		s.logger.Error("api request failed", "route", rt.Path, "path", c.Request().URL.Path, "error", err)
	}
	a := renderProblem(p, 0)
	s.write(rt, c.Response(), c.Request(), a)
	return a
}

// longProblem says what clients are told of the bounds of long reads.
func longProblem(err error) error {
	switch {
	case errors.Is(err, store.ErrLongReads):
		return errBusy
	case errors.Is(err, store.ErrSnapshotTooOld):
		return errHeld
	}
	return err
}

// errHeld is the answer while the store has too much to hold back already.
var errHeld = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: "Too much is being written: try again in a while.", RetryAfter: rest.RetrySeconds}
