package ingest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/object"
)

// entryList collects the change entries of one component and step. They are
// written in the order of path, commit of origin and position in the file.
type entryList struct {
	deltas  []pendingDelta
	written int64 // entries that are no longer in deltas
}

// The ranks of entries about one path.
const (
	rankEvent = iota
	rankSource
	rankTarget
)

// stepCommit marks an entry of the step's own commit.
const stepCommit = -1

// pendingDelta is a delta without its author.
type pendingDelta struct {
	path        string
	rank        int
	origin      int // index in step.Origins, or stepCommit
	translation int64
	at          time.Time // zero: application.at
	entries     []store.Entry
	later       *largeSource // makes laterCount entries, or nil
	laterCount  int64
}

// event adds an entry about a component or a file.
func (l *entryList) event(path string, action catalog.Action, event map[string]string) {
	l.deltas = append(l.deltas, pendingDelta{
		path: path, rank: rankEvent, origin: stepCommit,
		entries: []store.Entry{eventEntry(action, event)},
	})
}

// eventEntry is an entry about no string.
func eventEntry(action catalog.Action, event map[string]string) store.Entry {
	return store.Entry{Action: action, State: catalog.StateAbsent, OldState: catalog.StateAbsent, Event: event}
}

// created adds the first entry of a component's list
// (docs/compatibility.md#component-events).
func (l *entryList) created(at time.Time) {
	l.event("", catalog.ActionCreateComponent, map[string]string{})
	l.deltas[len(l.deltas)-1].at = at
}

func (l *entryList) count() int64 {
	n := l.written
	for i := range l.deltas {
		n += int64(len(l.deltas[i].entries)) + l.deltas[i].laterCount
	}
	return n
}

// attributedEntry is an entry about a string with its commit of origin.
type attributedEntry struct {
	store.Entry
	origin int
}

// units adds the entries of one translation, given in the order of the file.
func (l *entryList) units(row *catalog.Translation, entries []attributedEntry) {
	rank := rankTarget
	if row.IsSource {
		rank = rankSource
	}
	byOrigin := make(map[int][]store.Entry)
	for _, e := range entries {
		byOrigin[e.origin] = append(byOrigin[e.origin], e.Entry)
	}
	for origin, list := range byOrigin {
		l.deltas = append(l.deltas, pendingDelta{path: row.Filename, rank: rank, origin: origin, translation: row.ID, entries: list})
	}
}

// writeUpTo writes the entries about paths up to one, which get no others: so those of
// many files are not in memory together.
func (l *entryList) writeUpTo(ctx context.Context, a *application, path string) error {
	due := entryList{}
	l.deltas = slices.DeleteFunc(l.deltas, func(d pendingDelta) bool {
		if d.path <= path {
			due.deltas = append(due.deltas, d)
		}
		return d.path <= path
	})
	l.written += due.count()
	if err := due.write(ctx, a); err != nil || a.loader.units != nil { // else the staging has them
		return err
	}
	for i := range due.deltas {
		for k := range due.deltas[i].entries {
			a.loader.meter.held -= int64(changeBytes(&due.deltas[i].entries[k]))
		}
	}
	return nil
}

func (l *entryList) write(ctx context.Context, a *application) error {
	last := a.origins.stepOrigin()
	for i := range l.deltas {
		if l.deltas[i].origin == stepCommit {
			l.deltas[i].origin = last
		}
	}
	slices.SortStableFunc(l.deltas, func(x, y pendingDelta) int {
		return cmp.Or(cmp.Compare(x.path, y.path), cmp.Compare(x.rank, y.rank), cmp.Compare(x.origin, y.origin), cmp.Compare(x.translation, y.translation))
	})
	return catalog.Try(l.deltas, func(d *pendingDelta) error { return l.writeDelta(ctx, a, d) })
}

func (l *entryList) writeDelta(ctx context.Context, a *application, d *pendingDelta) error {
	if d.later != nil {
		held, part := a.loader.meter.held, *d
		part.later = nil
		return d.later.eachEntries(ctx, nil, func(entries []attributedEntry) error {
			part.entries = part.entries[:0]
			for i := range entries {
				part.entries = append(part.entries, entries[i].Entry)
			}
			a.loader.meter.held = held
			return l.writeDelta(ctx, a, &part)
		})
	}
	commit := a.step.Origins[d.origin].Commit
	name, email := a.mailmap.Lookup(commit.Author.Name, commit.Author.Email)
	if d.at.IsZero() {
		d.at = a.at
	}
	return a.tx.AddDeltaBy(ctx, edit.Author{Name: name, Email: email, Time: commit.Author.When}, store.Delta{
		ComponentID:   a.comp.row.ID,
		TranslationID: d.translation,
		Commit:        commit.Hash.String(),
		CommitTime:    commit.Committer.When,
		CoAuthors:     coAuthors(&commit, a.mailmap),
		At:            d.at,
		Entries:       d.entries,
	})
}

// maxCoAuthors bounds the co-authors of each entry of a commit.
const maxCoAuthors = 50

// coAuthors returns the names in the Co-authored-by trailers of a commit, as
// .mailmap gives them, without the commit's author.
func coAuthors(c *object.Commit, mailmap object.Mailmap) []string {
	const trailer = "co-authored-by:"
	if !strings.Contains(strings.ToLower(c.Message), trailer) {
		return nil
	}
	author, _ := mailmap.Lookup(c.Author.Name, c.Author.Email)
	author = catalog.PersonName(author)
	var names []string
	for line := range strings.Lines(c.Message) {
		if len(line) < len(trailer) || !strings.EqualFold(line[:len(trailer)], trailer) {
			continue
		}
		name, rest, _ := strings.Cut(line[len(trailer):], "<")
		email, _, _ := strings.Cut(rest, ">")
		name, _ = mailmap.Lookup(strings.TrimSpace(name), strings.TrimSpace(email))
		name = catalog.PersonName(name)
		if name != "" && name != author && !slices.Contains(names, name) && len(names) < maxCoAuthors {
			names = append(names, name)
		}
	}
	return names
}
