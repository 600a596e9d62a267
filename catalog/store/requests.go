package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Incomings returns the requests of others that a component shows.
func (s *Snapshot) Incomings(ctx context.Context, component int64) (l catalog.Incomings, err error) {
	defer s.s.About(component).End()
	return incomings(ctx, s.s, component)
}

func incomings(ctx context.Context, s *sqldb.Session, component int64) (l catalog.Incomings, err error) {
	defer s.Failed(ctx, &err, "read the requests of component %d", component)
	var text string
	if _, err = s.First(ctx, `SELECT requests FROM components WHERE id = $1`, []any{component}, &text); err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &l)
	}
	return l, err
}

// changeIncomings stores what change makes of the requests of components.
func (db *DB) changeIncomings(ctx context.Context, components []int64, change func(id int64, l *catalog.Incomings) error) error {
	return db.fail(ctx, "store requests", db.write(ctx, func(s *sqldb.Session) error {
		var changed []int64
		for _, id := range components {
			l, err := incomings(ctx, s, id)
			if err == nil {
				err = change(id, &l)
			}
			if err != nil {
				return err
			}
			text := ""
			if len(l.List) > 0 || l.Problem != "" {
				data, err := json.Marshal(l)
				if err != nil {
					return err
				}
				text = string(data)
			}
			if err := s.IDs(ctx, `UPDATE components SET requests = $1 WHERE id = $2 AND requests <> $1 RETURNING id`, []any{text, id}, &changed); err != nil {
				return err
			}
		}
		return noteChanged(ctx, s, changed)
	}))
}

// NoteIncomings stores the requests that components show, and showed. Wishes that are newer than what was
// tried stay.
func (db *DB) NoteIncomings(ctx context.Context, components []int64, of func(id int64, was catalog.Incomings) catalog.Incomings) error {
	return db.changeIncomings(ctx, components, func(id int64, l *catalog.Incomings) error {
		now := of(id, *l)
		now.Failed = problemText(now.Failed)
		for i := range now.List {
			r := &now.List[i]
			r.Title, r.Problem, r.Failed = problemText(r.Title), problemText(r.Problem), problemText(r.Failed)
			if was := l.Find(r.Number, r.Head); was != nil && was.Wished != nil && was.Wished.At.After(r.Tried) {
				r.Wished = was.Wished
			}
		}
		*l = now
		return nil
	})
}

// WishMerge notes that somebody wants a request merged whose head was shown to them;
// catalog.ErrConflict if the component does not show it, or not as mergeable.
func (db *DB) WishMerge(ctx context.Context, component int64, number int, head string, w catalog.MergeWish) error {
	return db.changeIncomings(ctx, []int64{component}, func(_ int64, l *catalog.Incomings) error {
		r := l.Find(number, head)
		if r == nil || !r.Mergeable() {
			return fmt.Errorf("%w: the request %d cannot be merged at %.10s any more", catalog.ErrConflict, number, head)
		}
		r.Wished, r.Failed = &w, ""
		return nil
	})
}
