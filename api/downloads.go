package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/store"
)

const (
	// producerTime bounds the making of a download, which has a snapshot.
	producerTime = 10 * time.Minute
	// downloadTime bounds the sending of one download.
	downloadTime = time.Hour
)

// download is a body that is made into a spool and sent from there.
type download struct {
	*rest.Download
	list *lines // as lines; nil for all other downloads
}

// send sends a short download like any other answer, and a longer one while it is being made.
func (d download) send(x exchange, h header) outcome {
	out := newDeadlineWriter(x.w, x.s.streams.timeout)
	defer out.end()
	refuse := func(err error) outcome {
		_ = out.wait()
		return x.refuse(err, "api download failed")
	}
	ctx, cancel := context.WithTimeout(x.req.Context(), downloadTime)
	defer cancel()
	free, err := x.turn(ctx, x.s.shares.downloads) // clients with many threads ask for more than their share
	if err != nil {
		return refuse(err)
	}
	defer free()
	p, plan, err := d.begin(ctx, x)
	if err != nil {
		return refuse(err)
	}
	defer p.close()
	h.modified, h.at = plan.Modified, p.at
	if tags := etags(plan.Tag); plan.Tag != "" {
		switch h.etag = tags[identity]; {
		case h.failed(x.req, tags):
			return refuse(errChanged)
		case matchesAny(tags, x.req.Header.Values("If-None-Match"), weak):
			_ = out.wait()
			h.status = http.StatusNotModified
			return noContent{}.send(x, h)
		}
	}
	body, ended, err := p.spool.wait(ctx, x.wantsParts())
	if err != nil {
		return refuse(err)
	}
	_ = out.wait()
	if ended && p.spool.file == nil && d.list == nil {
		return d.sendShort(x, h, p, plan, body)
	}
	var done outcome
	if d.list != nil {
		done, err = d.list.sendSpooled(ctx, x, h, p.spool, out)
	} else {
		done, err = d.sendSpooled(ctx, x, h, p, plan, out)
	}
	if err != nil {
		if !errors.Is(err, errNoReader) && !errors.Is(err, errEnding) && ctx.Err() == nil {
			x.s.logger.Error("api download broken off", "path", x.req.URL.Path, "error", err)
		}
		x.observe(done, x.s.now().Sub(x.started))
		panic(http.ErrAbortHandler) // so that the client does not take it for complete
	}
	return done
}

// begin begins to make a download and waits for its plan. A search has a turn for that long.
func (d download) begin(ctx context.Context, x exchange) (*production, *rest.DownloadPlan, error) {
	if searches(x.rt, rest.ParseQuery(x.req.URL.RawQuery)) {
		free, err := x.turn(ctx, x.s.shares.longSearches)
		if err != nil {
			return nil, nil, err
		}
		defer free()
	}
	p, err := x.produce(ctx, d.Download)
	if err != nil {
		return nil, nil, err
	}
	plan, ok := <-p.planned
	if !ok {
		_, _, err := p.spool.wait(ctx, true)
		p.close()
		return nil, nil, err
	}
	return p, plan, nil
}

func (x exchange) wantsParts() bool {
	return x.req.Header.Get("Range") != "" && x.req.Method == http.MethodGet
}

// sendShort sends a complete download that is in memory like any document, and caches it.
func (d download) sendShort(x exchange, h header, p *production, plan *rest.DownloadPlan, body []byte) outcome {
	h.ranges = true
	made := newVariants(answer{h, content(body)})
	if plan.Fixed {
		made.tags = etags(plan.Tag)
	}
	key, ok := x.s.keyOf(x.req)
	if ok {
		x.s.cache.put(key, p.basis, x.rt, made)
	}
	a := x.s.choose(made, key, x.req)
	return a.body.send(x, a.header)
}

// beginSpooled sends the header of a spool, with one more field; body: its bytes follow.
func (x exchange) beginSpooled(h header, out *deadlineWriter, field, value string) (done outcome, body bool) {
	x.setHeader(&h)
	put(x.w.Header(), field, value)
	x.w.WriteHeader(h.status)
	done = outcome{status: h.status}
	if x.req.Method == http.MethodHead {
		return done, false
	}
	_ = out.Flush() // without a length, as for HEAD
	return done, true
}

// sendSpooled sends a download that is in a file: parts of it, or all of it as it is written.
func (d download) sendSpooled(ctx context.Context, x exchange, h header, p *production, plan *rest.DownloadPlan, out *deadlineWriter) (outcome, error) {
	e := identity
	if !x.wantsParts() && h.contentType != rest.TypeZip && !strings.Contains(h.contentType, "officedocument") {
		e = chooseEncoding(accepted(x.req), spoolMemory)
	}
	h.encoding = e.contentEncoding()
	if plan.Tag != "" {
		h.etag = etags(plan.Tag)[e]
	}
	if x.wantsParts() {
		x.w = out
		return outcome{status: x.sendParts(h, p.spool.reader())}, nil
	}
	done, body := x.beginSpooled(h, out, "Accept-Ranges", "bytes")
	if !body {
		return done, nil
	}
	coder, err := encoder(e, out)
	if err == nil {
		err = errors.Join(p.spool.copyTo(ctx, coder, nil), coder.Close())
	}
	return done, err
}

// production is a download being made.
type production struct {
	spool   *spool
	planned chan *rest.DownloadPlan // closed without a plan if planning failed
	ended   chan struct{}
	cancel  context.CancelFunc
	// at is the state that it shows, basis what a complete download was read from.
	at    store.Position
	basis store.Basis
}

// produce begins to make a download when the client has a turn: each download has a
// snapshot of the store, and may hold a whole file.
func (x exchange) produce(ctx context.Context, d *rest.Download) (*production, error) {
	s := x.s
	core, free, err := x.makerTurn(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, producerTime)
	spool := &spool{dir: s.tempDir, room: s.shares.spooled.Lease(x.client()), inside: s.spoolMemory, changed: make(chan struct{})}
	p := &production{spool: spool, planned: make(chan *rest.DownloadPlan, 1), ended: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(p.ended)
		defer free()
		defer close(p.planned)
		p.spool.end(s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
			defer caught(&err)
			if p.at, err = show(ctx, snap); err != nil {
				return err
			}
			plan, err := d.Plan(ctx, snap)
			if err != nil {
				return err
			}
			p.planned <- plan
			if err = plan.Write(ctx, &takingTurns{ctx: ctx, to: p.spool, core: core}); err != nil {
				return err
			}
			p.basis, err = snap.Basis(ctx)
			return err
		}))
	}()
	return p, nil
}

// takingTurns is a spool whose producer gives up its core now and then.
type takingTurns struct {
	ctx  context.Context
	to   *spool
	core *limit.Lease
	n    int
}

// turnBytes is what a producer writes in one turn: some milliseconds of work.
const turnBytes = 256 << 10

func (w *takingTurns) Write(b []byte) (int, error) {
	if w.n += len(b); w.n >= turnBytes {
		w.n = 0
		if err := w.core.Yield(w.ctx); err != nil {
			return 0, err
		}
	}
	return w.to.Write(b)
}

// close cancels the production, and returns when its goroutine has ended.
func (p *production) close() {
	p.cancel()
	p.spool.end(errNoReader)
	<-p.ended
	p.spool.close()
}

// caught turns a panic into an error: net/http does not do so in our goroutine.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}

// spoolMemory is how many bytes of a download are kept in memory; more go to a file.
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
		return overAnswers.problem(err)
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

// spill moves the bytes to a nameless file: none is left however the process ends.
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

// close ends the spool for both sides. A producer that goes on gets an error from Write.
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
