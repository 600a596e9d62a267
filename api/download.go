package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
)

const (
	// maxDownloads bounds the clients that downloads are sent to side by side.
	maxDownloads = 32
	// maxProducers bounds those that are made side by side: each has a snapshot of
	// the store, and may hold a whole file.
	maxProducers = 2
	// producerWait is how long a client waits until its download can be made.
	producerWait = 30 * time.Second
	// downloadTime bounds the sending of one download.
	downloadTime = time.Hour
)

// errBusy is the answer where no more downloads can be sent or made.
var errBusy = &rest.Problem{Status: http.StatusServiceUnavailable, Detail: "Too many downloads are running.", RetryAfter: 1}

// production is a download being made.
type production struct {
	spool   *spool
	planned chan *rest.DownloadPlan // closed without one if planning failed
	ended   chan struct{}
	cancel  context.CancelFunc
	// generation is that of the snapshot.
	generation int64
}

// sendDownload answers with a download.
func (s *Server) sendDownload(rt *resource.Route, c echo.Context, a answer) (sent answer) {
	started, req, w := s.now(), c.Request(), c.Response()
	out := newPatientWriter(w, s.streams.timeout)
	defer out.end()
	defer func() { s.observe(rt, req, sent, s.now().Sub(started)) }()
	refuse := func(err error) answer {
		p := rest.AsProblem(longProblem(err))
		if p == rest.ErrInternal {
			s.logger.Error("api download failed", "path", req.URL.Path, "error", err)
		}
		a := renderProblem(p, 0)
		_ = out.wait()
		a.status = s.write(rt, w, req, a)
		return a
	}
	select {
	case s.downloads <- struct{}{}:
		defer func() { <-s.downloads }()
	default:
		return refuse(errBusy)
	}
	ctx, cancel := context.WithTimeout(req.Context(), downloadTime)
	defer cancel()
	p, err := s.produce(ctx, a.download)
	if err != nil {
		return refuse(err)
	}
	defer p.close()
	plan, ok := <-p.planned
	if !ok {
		_, _, err := p.spool.wait(ctx, true)
		return refuse(err)
	}
	a.modified = plan.Modified
	if plan.Tag != "" && hasDownload(req, a.download, plan) {
		a.etag, a.status, a.download = etags(plan.Tag)[identity], http.StatusNotModified, nil
		_ = out.wait()
		a.status = s.write(rt, w, req, a)
		return a
	}
	body, ended, err := p.spool.wait(ctx, req.Header.Get("Range") != "" && req.Method == http.MethodGet)
	if err != nil {
		return refuse(err)
	}
	_ = out.wait()
	if ended && p.spool.file == nil {
		return s.sendShort(rt, c, a, p, plan, body)
	}
	sent, err = s.sendAside(ctx, rt, c, a, p, plan, out)
	if err != nil {
		if !errors.Is(err, errNoReader) && ctx.Err() == nil {
			s.logger.Error("api download broken off", "path", req.URL.Path, "error", err)
		}
		panic(http.ErrAbortHandler) // so that the client does not take it for whole
	}
	return sent
}

// produce begins to make a download when its turn has come.
func (s *Server) produce(ctx context.Context, d *rest.Download) (*production, error) {
	turn := time.NewTimer(producerWait)
	defer turn.Stop()
	select {
	case s.producers <- struct{}{}:
	case <-turn.C:
		return nil, errBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &production{spool: newSpool(s.tempDir), planned: make(chan *rest.DownloadPlan, 1), ended: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(p.ended)
		defer func() { <-s.producers }()
		defer close(p.planned)
		p.spool.end(s.db.ReadLong(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
			defer caught(&err)
			if p.generation, err = snap.Generation(ctx); err != nil {
				return err
			}
			plan, err := d.Plan(ctx, snap)
			if err != nil {
				return err
			}
			p.planned <- plan
			return plan.Write(ctx, p.spool)
		}))
	}()
	return p, nil
}

// close gives up what is still being made, and returns when nobody works on it.
func (p *production) close() {
	p.cancel()
	p.spool.end(errNoReader)
	<-p.ended
	p.spool.close()
}

// hasDownload reports whether the client has what is planned.
func hasDownload(req *http.Request, d *rest.Download, p *rest.DownloadPlan) bool {
	if header := req.Header.Values("If-None-Match"); len(header) > 0 {
		return matchesAny(etags(p.Tag), header)
	}
	if d.Exact {
		return unchanged(p.Modified, req)
	}
	return unmodified(p.Modified, req)
}

// sendShort answers with a whole download that is in memory, as with any other
// document, and keeps it.
func (s *Server) sendShort(rt *resource.Route, c echo.Context, a answer, p *production, plan *rest.DownloadPlan, body []byte) answer {
	req := c.Request()
	a.download, a.body, a.ranges, a.generation = nil, body, true, p.generation
	made := newCoded(a)
	if plan.Fixed {
		made.tags = etags(plan.Tag)
	}
	key, ok := s.cacheKey(req)
	if ok {
		s.cache.put(key, p.generation, rt, made)
	}
	a = s.coded(made, key, req)
	a.status = s.write(rt, c.Response(), req, a)
	return a
}

// sendAside answers with a download that is in a file: with parts of it, or all as
// it comes.
func (s *Server) sendAside(ctx context.Context, rt *resource.Route, c echo.Context, a answer, p *production, plan *rest.DownloadPlan, out *patientWriter) (answer, error) {
	req, w := c.Request(), c.Response()
	parts := req.Header.Get("Range") != "" && req.Method == http.MethodGet
	e := identity
	if !parts && compressible(a.contentType) {
		e = chooseEncoding(req.Header.Get("Accept-Encoding"), spoolMemory)
	}
	if plan.Tag != "" {
		a.etag = etags(plan.Tag)[e]
	}
	if e != identity {
		a.encoding = e.token()
	}
	if parts {
		a.content, a.download = p.spool.content(), nil
		a.status = s.write(rt, patientResponse{w, out}, req, a)
		return a, nil
	}
	a.status = s.write(rt, w, req, a)
	if req.Method == http.MethodHead {
		return a, nil
	}
	_ = out.Flush() // no length, as for HEAD
	coder, err := encoder(e, out)
	if err == nil {
		err = errors.Join(p.spool.copyTo(ctx, coder), coder.Close())
	}
	return a, err
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

// patientResponse is a response whose body is written with patience.
type patientResponse struct {
	http.ResponseWriter
	body *patientWriter
}

func (p patientResponse) Write(b []byte) (int, error) { return p.body.Write(b) }

// serveParts answers with the content or the parts of it that are asked for.
func serveParts(w http.ResponseWriter, req *http.Request, a answer) int {
	content := a.content
	if content == nil {
		content = bytes.NewReader(a.body)
	}
	modified := a.modified
	if a.exact {
		modified = time.Time{} // is looked at already
	}
	part := &rangeWriter{ResponseWriter: w}
	http.ServeContent(part, req, "", modified, content)
	return part.status
}

// rangeWriter lets http.ServeContent say 416 in our words, and knows what it said.
type rangeWriter struct {
	http.ResponseWriter
	status int
}

func (w *rangeWriter) WriteHeader(status int) {
	w.status = status
	if status != http.StatusRequestedRangeNotSatisfiable {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	a := renderProblem(rest.ErrRange, 0)
	w.Header().Set("Content-Type", a.contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.Header().Del("Content-Disposition")
	w.ResponseWriter.WriteHeader(status)
	_, _ = w.ResponseWriter.Write(a.body)
}

func (w *rangeWriter) Write(b []byte) (int, error) {
	if w.status == http.StatusRequestedRangeNotSatisfiable {
		return len(b), nil // its own words
	}
	return w.ResponseWriter.Write(b)
}

// caught makes an error of a panic, which would end the process if nobody caught
// it in a goroutine of ours.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

// download takes a place among the downloads, or is errBusy.
func (s *Server) download(ctx context.Context) (done func(), err error) {
	select {
	case s.downloads <- struct{}{}:
		return func() { <-s.downloads }, nil
	default:
		return nil, cmp.Or(ctx.Err(), error(errBusy))
	}
}
