package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
)

// NewestInLanguage returns the newest entries of the live translations of
// components into a language, up to limit, descending by id. It reads only the
// ends of their lists: one index lookup per translation, however long the list.
func (s *Snapshot) NewestInLanguage(ctx context.Context, components []int64, language string, limit int) ([]catalog.Change, error) {
	ends, err := s.endsOf(ctx, components, language, limit)
	if err != nil {
		return nil, s.db.fail(ctx, "read the newest changes in "+language, err)
	}
	slices.SortFunc(ends, func(a, b end) int { return cmp.Compare(b.first, a.first) })
	var pieces []piece
	wanted := int64(limit)
	for _, e := range ends {
		if wanted <= 0 {
			break
		}
		pieces = append(pieces, piece{delta: e.delta, lo: max(0, e.n-wanted), hi: e.n - 1})
		wanted -= e.n
	}
	entries, err := s.read(ctx, &changeFilter{all: true}, pieces)
	slices.SortFunc(entries, func(a, b catalog.Change) int { return cmp.Compare(b.ID, a.ID) })
	return entries, s.db.fail(ctx, "read the newest changes in "+language, err)
}

// end is one of the last deltas of a translation.
type end struct{ delta, first, n int64 }

// endsOf reads, for each translation, the deltas that may hold one of the newest
// entries.
func (s *Snapshot) endsOf(ctx context.Context, components []int64, language string, limit int) ([]end, error) {
	var translations []int64
	err := chunks(components, func(chunk []any) error {
		n := len(chunk)
		return s.s.ids(ctx, `SELECT id FROM translations WHERE component_id IN `+list(1, n)+` AND removed = 0 AND language = `+list(n+1, 1),
			append(chunk, language), &translations)
	})
	var ends []end
	for _, id := range translations {
		if err != nil {
			break
		}
		err = s.s.query(ctx, `SELECT id, first_change, n FROM deltas WHERE translation_id = $1 ORDER BY first_in_translation DESC LIMIT $2`,
			[]any{id, limit}, func(scan scan) error {
				var e end
				err := scan(&e.delta, &e.first, &e.n)
				ends = append(ends, e)
				return err
			})
	}
	return ends, err
}
