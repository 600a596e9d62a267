package history

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"

	"golang.org/x/sync/semaphore"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/kept"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
)

const (
	// SpanWidth is the number of ranks in a span. A delta belongs to the
	// span in which it begins. Another width needs an empty table spans.
	SpanWidth = 1024
	// MaxSpans limits all sums, one a span and component: 56 bytes each, 22 MB.
	MaxSpans = 400_000
	// spansAtOnce limits what is read before it is kept, so that a request that is
	// cancelled early still helps the next one, and a step that closes spans of an older
	// version is short.
	spansAtOnce = 512
)

// spanSum is the sum of the deltas of one component in one span.
type spanSum struct {
	span, component int64
	actionCounts
	minAt, maxAt int64
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
	places := map[[2]int64]int{}
	for i := range rows {
		r := &rows[i]
		key := [2]int64{(r.rank - 1) / width, r.id / catalog.UnitsPerComponent}
		n, ok := places[key]
		if !ok {
			n, places[key] = len(l.spans), len(l.spans)
			l.spans = append(l.spans, spanSum{span: key[0], component: key[1], minAt: r.at, maxAt: r.at})
		}
		m := &l.spans[n]
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
	return l
}

// Spans keeps the sums of the ledgers in use, for the readers of one database. It is safe for
// concurrent use.
type Spans struct {
	sums  *kept.By[ledgerKey, ledgerSums] // the generation is the number of closed spans
	turn  *semaphore.Weighted             // of whoever reads many spans
	width int64                           // of spans
}

// NewSpans makes a cache with sums of spans of width ranks, usually SpanWidth, and room for
// so many of them, usually MaxSpans.
func NewSpans(width int64, room int) *Spans {
	return &Spans{kept.New[ledgerKey, ledgerSums](room), semaphore.NewWeighted(1), width}
}

// spanSums returns the sums of the spans of a ledger that are closed in this snapshot,
// in which the ledger has length entries.
func (s *Reader) spanSums(ctx context.Context, l *ledger, length int64) ([]spanSum, error) {
	closed := length / s.spans.width
	sums := s.spans.sums.Newest(l.key)
	if closed-sums.closed > spansAtOnce {
		if err := s.spans.turn.Acquire(ctx, 1); err != nil {
			return nil, err
		}
		defer s.spans.turn.Release(1)
		sums = s.spans.sums.Newest(l.key)
	}
	for sums.closed < closed {
		upTo := min(sums.closed+spansAtOnce, closed)
		more, err := s.storedSums(ctx, l, sums, upTo)
		if err == nil && more.closed == sums.closed {
			more, err = s.summed(ctx, l, sums, upTo)
		}
		if err != nil {
			return nil, err
		}
		sums = more
		s.spans.sums.Put(l.key, sums.closed, sums, len(sums.spans)+1)
	}
	n, _ := slices.BinarySearchFunc(sums.spans, closed, func(m spanSum, span int64) int { return cmp.Or(int(m.span-span), 1) })
	return sums.spans[:n], nil // the snapshot may be older
}

// summed adds the spans up to upTo, from the deltas.
func (s *Reader) summed(ctx context.Context, l *ledger, sums ledgerSums, upTo int64) (ledgerSums, error) {
	all := &filter{all: true, added: true, updated: true, removed: true, events: true, from: math.MinInt64, to: math.MaxInt64}
	rows, err := s.rows(ctx, l, all, []rankRange{{sums.closed * s.spans.width, upTo * s.spans.width}})
	return sums.extended(rows, s.spans.width, upTo), err
}

// storedSums adds the spans up to upTo that are stored: of the lists of the server, projects
// and components all that steps have filled, or the first of them after an older version.
func (s *Reader) storedSums(ctx context.Context, l *ledger, sums ledgerSums, upTo int64) (ledgerSums, error) {
	sums.spans = slices.Clip(sums.spans)
	if l.key.author != 0 {
		return sums, nil
	}
	err := sqldb.Each(ctx, s.s, `SELECT data FROM spans WHERE kind = $1 AND id = $2 AND span >= $3 AND span < $4 ORDER BY span`,
		[]any{string(l.key.kind), l.key.id, sums.closed, upTo}, sums.add)
	return sums, err
}

// CloseSpans stores the sums of the spans of a list that its newest entries have filled:
// it had from entries before, and has length.
func (s *Reader) CloseSpans(ctx context.Context, q Query, from, length int64) error {
	closed := length / s.spans.width
	if from/s.spans.width == closed {
		return nil
	}
	l := q.ledger(0)
	_, err := s.s.First(ctx, `SELECT COALESCE(MAX(span) + 1, 0) FROM spans WHERE kind = $1 AND id = $2`, []any{string(l.key.kind), l.key.id}, &from)
	if err != nil {
		return err
	}
	rows, err := s.spanRows(ctx, &l, from, min(closed, from+spansAtOnce))
	in := sqldb.NewInserter("spans", "kind", "id", "span", "data")
	for i := 0; i < len(rows) && err == nil; i++ {
		err = in.Add(ctx, s.s, string(l.key.kind), l.key.id, from+int64(i), rows[i])
	}
	return cmp.Or(err, in.Flush(ctx, s.s))
}

// spanRows makes what is stored of the spans in [from, to): the sums of their components.
func (s *Reader) spanRows(ctx context.Context, l *ledger, from, to int64) ([][]byte, error) {
	rows := make([][]byte, to-from)
	for i := range rows {
		rows[i] = []byte{stored.Version}
	}
	sums, err := s.summed(ctx, l, ledgerSums{closed: from}, to)
	for i := range sums.spans {
		m := &sums.spans[i]
		numbers := []int64{m.component, m.minAt, m.maxAt, int64(m.n), int64(m.added), int64(m.updated), int64(m.removed), int64(len(m.events))}
		for _, action := range slices.Sorted(maps.Keys(m.events)) {
			numbers = append(numbers, int64(action), int64(m.events[action]))
		}
		for _, n := range numbers {
			rows[m.span-from] = binary.AppendVarint(rows[m.span-from], n)
		}
	}
	return rows, err
}

var errSpan = errors.New("the sums of changes are damaged: restore a backup, or empty the table spans")

// add adds the next span, from what is stored of it.
func (l *ledgerSums) add(row []byte) error {
	data, err := stored.Unversioned(row, errSpan)
	in := stored.Reader{B: data}
	for len(in.B) > 0 && err == nil {
		m := spanSum{span: l.closed, component: in.Varint(), minAt: in.Varint(), maxAt: in.Varint()}
		for _, n := range []*int32{&m.n, &m.added, &m.updated, &m.removed} {
			*n = int32(in.Varint())
		}
		if n := in.Varint(); n > 0 {
			m.events = map[catalog.Action]int32{}
			for ; n > 0 && !in.Bad; n-- {
				m.events[catalog.Action(in.Varint())] = int32(in.Varint())
			}
		}
		if in.Bad {
			err = errSpan
		}
		l.spans = append(l.spans, m)
	}
	l.closed++
	return err
}

// DamagedSpans counts the stored spans of a list that differ from its deltas.
func (s *Reader) DamagedSpans(ctx context.Context, q Query) (n int64, err error) {
	l := q.ledger(0)
	length, err := s.length(ctx, q.scope())
	list, unread := sqldb.Map(ctx, s.s, `SELECT span, data FROM spans WHERE kind = $1 AND id = $2`, []any{string(l.key.kind), l.key.id}, func(data *[]byte) []any { return []any{data} })
	err = cmp.Or(err, unread)
	for span := int64(0); span < int64(len(list)) && err == nil; span++ {
		counted := [][]byte{nil}
		if span < length/s.spans.width {
			counted, err = s.spanRows(ctx, &l, span, span+1)
		}
		if !bytes.Equal(counted[0], list[span]) {
			n++
		}
	}
	return n, err
}
