package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
)

// TranslationIDs returns the ids of the live translations of components,
// ascending. It reads an index: a list of all translations is cut into pages
// before their rows are read.
func (s *Snapshot) TranslationIDs(ctx context.Context, components []int64) ([]int64, error) {
	var ids []int64
	err := chunks(components, func(chunk []any) error {
		return s.s.query(ctx, `SELECT id FROM translations WHERE component_id IN `+list(1, len(chunk))+` AND removed = 0`, chunk, func(scan scan) error {
			var id int64
			err := scan(&id)
			ids = append(ids, id)
			return err
		})
	})
	slices.Sort(ids)
	return ids, s.db.fail(ctx, "list translations", err)
}

// TranslationsByID returns translations, removed ones too, in the order of their
// ids. Ids that are none are left out.
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

// HeadCommit returns what people are shown of the commit that a component stands
// at; nil if it stands at none, or if nothing is known of it: it was stored by
// an older version, and no commit came since.
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
