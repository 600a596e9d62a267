package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
)

// TranslationIDs returns the ids of the live translations of components,
// ascending. It reads only an index: callers cut a long list into pages before
// they read rows.
func (s *Snapshot) TranslationIDs(ctx context.Context, components []int64) ([]int64, error) {
	var ids []int64
	err := chunks(components, func(chunk []any) error {
		return s.s.ids(ctx, `SELECT id FROM translations WHERE component_id IN `+list(1, len(chunk))+` AND removed = 0`, chunk, &ids)
	})
	slices.Sort(ids)
	return ids, s.db.fail(ctx, "list translations", err)
}

// TranslationsByID returns translations by id, removed ones included. Unknown ids
// are left out.
func (s *Snapshot) TranslationsByID(ctx context.Context, ids []int64) ([]catalog.Translation, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	out := make([]catalog.Translation, 0, len(ids))
	err := chunks(ids, func(chunk []any) error {
		return s.s.query(ctx, `SELECT `+translationColumns+translationFrom+` WHERE t.id IN `+list(1, len(chunk))+` ORDER BY t.id`, chunk, func(scan scan) error {
			var t catalog.Translation
			var r translationScan
			err := scan(r.dest(&t)...)
			r.finish(&t)
			out = append(out, t)
			return err
		})
	})
	return out, s.db.fail(ctx, "read translations by id", err)
}

// HeadCommit describes the commit to which a component points; nil before the
// first import, or if an older version stored the component and no commit came
// since.
func (s *Snapshot) HeadCommit(ctx context.Context, componentID int64) (*catalog.Commit, error) {
	var head, text string
	found, err := s.s.first(ctx, `SELECT head, COALESCE(head_commit, '') FROM components WHERE id = $1`, []any{componentID}, &head, &text)
	if err != nil || !found || text == "" {
		return nil, s.db.fail(ctx, fmt.Sprintf("read the commit of component %d", componentID), err)
	}
	c, err := commitOf(text)
	if err != nil || c.Hash != head {
		return nil, s.db.fail(ctx, fmt.Sprintf("read the commit of component %d", componentID), err)
	}
	return &c, nil
}
