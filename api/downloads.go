package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
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

// send sends a short download like any other answer, and a longer one while it
// is being made.
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

// begin begins to make a download and waits for its plan. A search has a turn for
// that long.
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

// sendShort sends a complete download that is in memory like any document, and
// caches it.
func (d download) sendShort(x exchange, h header, p *production, plan *rest.DownloadPlan, body []byte) outcome {
	made := newVariants(answer{h, ranged(body)})
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

// beginSpooled sends the header of an answer in a spool, with one more field; body tells
// that its bytes follow.
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

// sendSpooled sends a download that is in a file: parts of it, or all of it as
// it is written.
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
	p := &production{spool: newSpool(s.tempDir, s.shares.spooled.Lease(x.client()), s.spoolMemory), planned: make(chan *rest.DownloadPlan, 1), ended: make(chan struct{}), cancel: cancel}
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

// caught turns a panic into an error. It would end the process otherwise, since
// net/http does not know our goroutine.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
	}
}
