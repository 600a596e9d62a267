package ingest

import (
	"context"
	"fmt"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
)

// componentSuggestions collects the suggestions of one component.
type componentSuggestions struct {
	*suggestionRun
	comp     *component
	rows     map[string]*catalog.Translation // live translations by language
	list     []store.Suggestion              // new suggestions
	problems []string
	files    map[store.SuggestionSource]suggestionFile // files of this run
	last     map[store.SuggestionSource]suggestionFile // files of the last run
	stored   map[store.SuggestionSource]int            // number of stored suggestions
	keep     map[store.SuggestionSource]bool           // files whose stored suggestions stay
	kept     int                                       // number of suggestions that stay
}

// collect collects the suggestions of each branch. A branch that cannot be read
// has no suggestions.
func (s *componentSuggestions) collect(ctx context.Context, heads []object.Head) error {
	base, err := object.ParseHash(s.comp.row.Head)
	if err != nil {
		return err
	}
	err = s.p.s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		rows, err := snap.Translations(ctx, s.comp.row.ID)
		s.rows = make(map[string]*catalog.Translation, len(rows))
		for i := range rows {
			s.rows[rows[i].Language] = &rows[i]
		}
		if err == nil {
			s.stored, err = snap.SuggestionCounts(ctx, s.comp.row.ID)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, h := range heads {
		step, err := s.step(ctx, base, h.Hash)
		if err != nil {
			return fmt.Errorf("branch %s: %w", h.Branch, err)
		}
		if step.Truncated {
			s.problems = append(s.problems, h.Branch+": no suggestions: too many commits are not merged")
		}
		if len(step.Origins) == 0 {
			continue // merged, or truncated
		}
		if err := s.branch(ctx, h, step); err != nil {
			return fmt.Errorf("branch %s: %w", h.Branch, err)
		}
		if s.kept+len(s.list) > maxSuggestions {
			s.list = s.list[:max(0, maxSuggestions-s.kept)]
			s.files = nil // some of their suggestions are not stored
			s.problems = append(s.problems, fmt.Sprintf("%s: only %d suggestions are kept of a component; narrow suggestions.branches", h.Branch, maxSuggestions))
			return nil
		}
	}
	return nil
}

// branch collects the suggestions of one branch.
func (s *componentSuggestions) branch(ctx context.Context, h object.Head, step *gitsource.Step) error {
	fresh := make(map[string]bool)
	for i, ch := range step.Changes {
		if s.comp.selection.wants(ch.Path) && !ch.New.IsZero() && introducesFile(step, i) {
			fresh[ch.Path] = true
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	m := matcher([]*component{s.comp})
	files, err := s.reader.Snapshot(ctx, h.Hash, m.Want, m.Prune)
	if err != nil {
		return err
	}
	files, _ = gitsource.SplitLinks(files)
	if s.mailmap, err = s.reader.Mailmap(ctx, h.Hash); err != nil {
		return err
	}
	slots := s.comp.selection.assign(files)
	for i := range slots.targets {
		slot := &slots.targets[i]
		row := s.rows[slot.language]
		if !fresh[slot.path] || row == nil || row.IsSource {
			continue
		}
		if err := s.updateFile(ctx, h, slot, row, step); err != nil {
			return fmt.Errorf("%s: %w", slot.path, err)
		}
	}
	return nil
}

// store replaces the stored suggestions of the component if they differ, in a step
// that does not move the head.
func (s *componentSuggestions) store(ctx context.Context) error {
	p := s.p
	same := false
	err := p.s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		same, err = snap.SameSuggestions(ctx, s.comp.row.ID, s.list, s.keep)
		return err
	})
	if err != nil || same {
		return err
	}
	spec := &p.branch.Components[0].Spec
	info := store.StepInfo{
		Repo: spec.Repo, Branch: spec.Branch, Components: []int64{s.comp.row.ID},
		From: s.comp.row.Head, To: s.comp.row.Head, Tracking: p.ref, At: p.at, Configured: s.comp.row.Configured,
	}
	return p.transact(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
		return tx.PutSuggestions(ctx, s.comp.row.ID, s.list, s.keep)
	})
}
