package ingest

import (
	"context"
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
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
}

// collect collects the suggestions of each branch. A branch that cannot be read
// has no suggestions.
func (s *componentSuggestions) collect(ctx context.Context, heads []object.Head) error {
	at, err := gitsource.ParseState(s.comp.row.Head)
	if err != nil {
		return err
	}
	err = s.p.s.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		rows, err := snap.Translations(ctx, s.comp.row.ID)
		s.rows = catalog.ByKey(rows, func(t *catalog.Translation) string { return t.Language })
		return err
	})
	if err != nil {
		return err
	}
	for _, h := range heads {
		step, err := s.step(ctx, at.Commit, h.Hash)
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
		if len(s.list) > maxSuggestions {
			s.list = s.list[:maxSuggestions]
			s.problems = append(s.problems, fmt.Sprintf("%s: only %d suggestions are kept of a component; narrow suggestions.branches", h.Branch, maxSuggestions))
			return nil
		}
	}
	return nil
}

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
		if err := s.collectFile(ctx, h.Branch, slot, row, step); err != nil {
			return fmt.Errorf("%s: %w", slot.path, err)
		}
	}
	return nil
}

// store replaces the stored suggestions of the component if they differ, in a step
// that does not move the head.
func (s *componentSuggestions) store(ctx context.Context) error {
	p, row := s.p, &s.comp.row
	same := false
	err := p.s.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		same, err = snap.SameSuggestions(ctx, row.ID, s.list)
		return err
	})
	if err != nil || same {
		return err
	}
	info := stayingAt(row, p.at, row.ID)
	info.Tracking, info.Configured = p.ref, row.Configured
	return p.transact(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
		return tx.PutSuggestions(ctx, row.ID, s.list)
	})
}

// introducesFile reports whether a commit of the step has a version of a changed
// file that no parent of it has.
func introducesFile(step *gitsource.Step, change int) bool {
	for i := range step.Origins {
		o := &step.Origins[i]
		inherited := false
		for p, parent := range o.Parents {
			before := o.Outside[p]
			if parent >= 0 {
				before = step.Origins[parent].Blobs
			}
			inherited = inherited || before[change] == o.Blobs[change]
		}
		if !inherited {
			return true
		}
	}
	return false
}

// collectFile collects the suggestions in one file of a branch: targets that a
// commit of the branch introduced and that differ from the served ones.
func (s *componentSuggestions) collectFile(ctx context.Context, branch string, slot *fileSlot, row *catalog.Translation, step *gitsource.Step) error {
	theirs, err := s.load.load(ctx, s.comp, slot.path, slot.blob, false)
	if bad := fault(err); bad != nil {
		s.problems = append(s.problems, problemText(store.Problem{Path: branch + ":" + slot.path, Line: bad.line, Column: bad.column, Message: bad.msg}))
		return nil
	}
	if err != nil {
		return err
	}
	ours, err := s.servedFile(ctx, row)
	if err != nil {
		return err
	}
	var ids []catalog.Identity
	for i := range theirs.Units {
		u := &theirs.Units[i]
		if u.State != catalog.StateTranslated {
			continue // an empty, fuzzy or read-only string suggests nothing
		}
		at, ok := ours.Find(u.Identity)
		if ok && ours.Units[at].Target != u.Target && ours.Units[at].State != catalog.StateReadOnly {
			ids = append(ids, u.Identity)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	attribute := newAttributor(step, s.load, s.comp)
	if row.Filename != slot.path {
		attribute.moved = map[string]string{slot.path: row.Filename}
	}
	origins := make(map[catalog.Identity]int, len(ids)) // of those that no commit outside the step has
	if err := attribute.walk(ctx, slot.path, shownTranslation(row.PluralNumber), ids, origins); err != nil {
		return err
	}
	for _, id := range ids {
		origin, ok := origins[id]
		if !ok {
			continue // older than the branch
		}
		commit := &step.Origins[origin].Commit
		at, _ := theirs.Find(id)
		name, email := s.mailmap.Lookup(commit.Author.Name, commit.Author.Email)
		s.list = append(s.list, store.Suggestion{
			TranslationID: row.ID, Identity: id, Branch: branch, Target: strings.Clone(theirs.Units[at].Target),
			AuthorName: catalog.PersonName(name), AuthorEmail: email, At: commit.Committer.When.UTC(), Commit: commit.Hash.String(),
		})
	}
	return nil
}

// servedFile returns the version of a file that is served, which may be older than
// the version at the component's head.
func (s *componentSuggestions) servedFile(ctx context.Context, row *catalog.Translation) (*unit.File, error) {
	blob, err := object.ParseHash(row.Revision)
	if err != nil {
		return nil, err
	}
	if s.reader.Has(blob) {
		return s.load.load(ctx, s.comp, row.Filename, blob, false)
	}
	stored, err := store.Get(ctx, s.p.s.DB, (*store.Snapshot).File, row.ID)
	if err != nil {
		return nil, err
	}
	return parse(row.Filename, stored.Data, s.comp.rules, nil)
}
