package ingest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
)

// updateFile keeps the stored suggestions in one file of a branch if their inputs
// are the same as the last time; else it collects them.
func (s *componentSuggestions) updateFile(ctx context.Context, h object.Head, slot *fileSlot, row *catalog.Translation, step *gitsource.Step) error {
	source := store.SuggestionSource{TranslationID: row.ID, Branch: h.Branch}
	now := suggestionFile{inputs: hashInputs(h, slot, row, step)}
	if last, known := s.last[source]; known && last.inputs == now.inputs && last.n == s.stored[source] && row.Filename == slot.path {
		s.files[source], s.keep[source] = last, true
		s.kept += last.n
		if last.problem != "" {
			s.problems = append(s.problems, last.problem)
		}
		return nil
	}
	before, problems := len(s.list), len(s.problems)
	if err := s.collectFile(ctx, h.Branch, slot, row, step); err != nil {
		return err
	}
	now.n = len(s.list) - before
	if len(s.problems) > problems {
		now.problem = s.problems[problems]
	}
	s.files[source] = now
	return nil
}

// hashInputs returns a hash of everything that the suggestions in a file depend on:
// its versions on the branch and in the commits that the component's branch lacks,
// and the version that is served.
func hashInputs(h object.Head, slot *fileSlot, row *catalog.Translation, step *gitsource.Step) (sum [sha256.Size]byte) {
	all := sha256.New()
	fmt.Fprintf(all, "%s %q %s %d %q %s\n", h.Hash, slot.path, slot.blob, row.ID, row.Filename, row.Revision)
	change := slices.IndexFunc(step.Changes, func(c gitsource.Change) bool { return c.Path == slot.path })
	for i := range step.Origins {
		o := &step.Origins[i]
		if len(o.Parents) == 1 && o.Parents[0] >= 0 && step.Origins[o.Parents[0]].Blobs[change] == o.Blobs[change] {
			continue // about other files
		}
		fmt.Fprintf(all, "%s %s", o.Commit.Hash, o.Blobs[change])
		for p, parent := range o.Parents {
			if parent < 0 {
				fmt.Fprintf(all, " outside %s", o.Outside[p][change])
			} else {
				fmt.Fprintf(all, " %s", step.Origins[parent].Blobs[change])
			}
		}
		fmt.Fprintln(all)
	}
	all.Sum(sum[:0])
	return sum
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
	theirs, err := s.load.load(ctx, s.comp.row.ID, slot.path, slot.blob, s.comp.rules)
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
	origins, err := attribute.introduced(ctx, slot.path, ids)
	if err != nil {
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
			AuthorName: name, AuthorEmail: email, At: commit.Committer.When.UTC(), Commit: commit.Hash.String(),
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
		return s.load.load(ctx, s.comp.row.ID, row.Filename, blob, s.comp.rules)
	}
	var stored store.File
	err = s.p.s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		stored, err = snap.File(ctx, row.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	file, bad := parse(row.Filename, stored.Data, s.comp.rules, nil)
	if bad != nil {
		return nil, bad
	}
	return file, nil
}
