package history

import (
	"context"
	"math"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/kept"
)

const (
	// SpanWidth is the number of ranks in a span. A delta belongs to the
	// span in which it begins.
	SpanWidth = 1024
	// MaxSpans limits all sums: 48 bytes each, 20 MB.
	MaxSpans = 400_000
	// spansAtOnce limits what is read before it is kept, so that a request that
	// is cancelled early still helps the next one.
	spansAtOnce = 128
)

// spanSum is the sum of the deltas of one span.
type spanSum struct {
	span int64
	actionCounts
	minAt, maxAt int64
}

func (m *spanSum) add(r *deltaRow) {
	m.n += r.n
	m.added += r.added
	m.updated += r.updated
	m.removed += r.removed
	m.minAt, m.maxAt = min(m.minAt, r.at), max(m.maxAt, r.at)
	for action, n := range r.events {
		if m.events == nil {
			m.events = map[catalog.Action]int32{}
		}
		m.events[action] += n
	}
}

// ledgerSums are the sums of a ledger's first spans, closed of them; spans without
// deltas have none. A ledger only grows, so a sum is valid in every snapshot in which
// its span is closed, and a copy stays valid.
type ledgerSums struct {
	closed int64
	spans  []spanSum // ascending
}

// extended are the sums with the next spans closed, up to closed; rows are their deltas.
func (l ledgerSums) extended(rows []deltaRow, width, closed int64) ledgerSums {
	l.spans, l.closed = slices.Clip(l.spans), closed
	for i := range rows {
		span := (rows[i].rank - 1) / width
		if n := len(l.spans); n == 0 || l.spans[n-1].span != span {
			l.spans = append(l.spans, spanSum{span: span, minAt: math.MaxInt64, maxAt: math.MinInt64})
		}
		l.spans[len(l.spans)-1].add(&rows[i])
	}
	return l
}

// Spans keeps the sums of the ledgers in use, for the readers of one database. It is safe for
// concurrent use.
type Spans struct {
	sums  *kept.By[ledgerKey, ledgerSums] // the generation is the number of closed spans
	turn  chan struct{}                   // holds one token; its holder may read many spans
	width int64                           // of spans
}

// NewSpans makes a cache with sums of spans of width ranks, usually SpanWidth, and room for
// so many of them, usually MaxSpans.
func NewSpans(width int64, room int) *Spans {
	c := &Spans{sums: kept.New[ledgerKey, ledgerSums](room), turn: make(chan struct{}, 1), width: width}
	c.turn <- struct{}{}
	return c
}

// spanSums returns the sums of the spans of a ledger that are closed in this snapshot,
// in which the ledger has length entries.
func (s *Reader) spanSums(ctx context.Context, l *ledger, f *filter, length int64) ([]spanSum, error) {
	c := s.spans
	closed := length / c.width
	sums := c.sums.Newest(l.key)
	if closed-sums.closed > spansAtOnce {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.turn:
		}
		defer func() { c.turn <- struct{}{} }()
		sums = c.sums.Newest(l.key)
	}
	for sums.closed < closed {
		upTo := min(sums.closed+spansAtOnce, closed)
		rows, err := s.rows(ctx, l, everything(f), []rankRange{{sums.closed * c.width, upTo * c.width}})
		if err != nil {
			return nil, err
		}
		sums = sums.extended(rows, c.width, upTo)
		c.sums.Put(l.key, upTo, sums, len(sums.spans)+1)
	}
	n, _ := slices.BinarySearchFunc(sums.spans, closed, func(m spanSum, span int64) int { return int(m.span - span) })
	return sums.spans[:n], nil // the snapshot may be older
}

// everything is a filter that selects all entries of the same components.
func everything(f *filter) *filter {
	return &filter{all: true, added: true, updated: true, removed: true, events: true, from: math.MinInt64, to: math.MaxInt64, components: f.components}
}
