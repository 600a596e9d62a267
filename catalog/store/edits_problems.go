package store

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// NotePush stores what a push of the edits of components came to: why it failed, or with
// "" that it did not. Then held are the edits that stay pending, with the reason; the
// others have none. Reasons of texts that changed meanwhile are not stored. Passwords in
// addresses are removed, and texts are bounded.
func (db *DB) NotePush(ctx context.Context, components []int64, problem string, held []Edit) error {
	return db.fail(ctx, "store what a push came to", db.write(ctx, func(s *session) error {
		changed, err := notePushProblem(ctx, s, components, problemText(problem))
		if err == nil && problem == "" {
			var others []int64
			others, err = noteHeld(ctx, s, components, held)
			changed = append(changed, others...)
		}
		if err != nil {
			return err
		}
		return noteChanged(ctx, s, changed)
	}))
}

func notePushProblem(ctx context.Context, s *session, components []int64, problem string) (changed []int64, err error) {
	err = chunks(components, func(chunk []any) error {
		return s.query(ctx, `UPDATE components SET push_problem = $1 WHERE push_problem <> $1 AND id IN `+list(2, len(chunk))+` RETURNING id`,
			append([]any{problem}, chunk...), func(scan scan) error {
				var id int64
				err := scan(&id)
				changed = append(changed, id)
				return err
			})
	})
	return changed, err
}

// noteHeld stores the reasons of pending edits and returns the components of those whose
// reason changed.
func noteHeld(ctx context.Context, s *session, components []int64, held []Edit) (changed []int64, err error) {
	want := make(map[int64]Edit, len(held))
	for _, e := range held {
		e.Reason = problemText(e.Reason)
		want[e.ID] = e
	}
	err = chunks(components, func(chunk []any) error {
		rows, err := editsWhere(ctx, s, ` WHERE e.status = 'pending' AND e.reason <> '' AND e.translation_id IN (
			SELECT id FROM translations WHERE component_id IN `+list(1, len(chunk))+`)`, chunk...)
		for _, e := range rows {
			if now, still := want[e.ID]; !still {
				e.Reason = ""
				want[e.ID] = e
			} else if now.Reason == e.Reason {
				delete(want, e.ID)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(want)) {
		e := want[id]
		found, err := s.first(ctx, `UPDATE edits SET reason = $1 WHERE id = $2 AND status = 'pending' AND target = $3 AND state = $4 RETURNING id`,
			[]any{e.Reason, id, e.Target, int64(e.State)}, &id)
		if err != nil {
			return nil, err
		}
		if found {
			changed = append(changed, e.UnitID/catalog.UnitsPerComponent)
		}
	}
	return changed, nil
}

// maxProblemText bounds a problem, in bytes.
const maxProblemText = 1_000

// problemText makes a text that may be the words of a remote fit to be stored and shown.
func problemText(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(repourl.RedactText(text), "\x00", ""), "")
	if len(text) <= maxProblemText {
		return text
	}
	const half = maxProblemText / 2
	return strings.ToValidUTF8(text[:half]+" … "+text[len(text)-half:], "")
}
