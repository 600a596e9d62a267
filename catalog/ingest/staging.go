package ingest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// staging is the sink of a replay: it keeps in memory what the commits of a
// batch make of some components, and flush stores the outcome in one
// transaction: every entry, but of every unit, file and layout only the last
// version. Unit ids are given here in the order of appearance, which is what
// the store would do, so that they do not depend on where batches end. New
// translations and authors are numbered from -1 down until the store has given
// them ids.
//
// The units of translations touched stay in memory from batch to batch, up to
// maxTabled. The convoy is the replay's alone: the compare-and-swap on its head
// finds out if another process has moved it.
type staging struct {
	db         *store.DB
	components map[int64]*stagedComponent
	tables     map[int64]*unitTable // by translation
	owners     map[int64]int64      // components of translations that the batch put
	clock      int                  // of the last use of a table

	// What flush stores.
	rows      []*catalog.Translation // put, in the order of the first time
	put       map[*catalog.Translation]bool
	fresh     []*stagedUnit // never stored, in the order of their ids by component
	layouts   map[int64][]catalog.Placed
	files     map[int64]store.File
	days      map[dayKey]store.StatDay
	problems  map[problemKey]*store.Problem // nil: none any more
	authors   []author                      // the i-th has the id -1-i
	authorIDs map[[2]string]int64
	deltas    []store.Delta
	lastRow   int64 // the newest id of a new translation, negative

	entries, bytes int // of the batch, for its bounds
}

// stagedComponent is what a replay counts of one component.
type stagedComponent struct {
	lastUnit int64
	lastAt   time.Time // of the newest entry
}

type dayKey struct {
	translation int64
	day         string
}

type problemKey struct {
	component int64
	path      string
}

// author is somebody whom a batch credits, at the earliest of the times told.
type author struct {
	name, email string
	at          time.Time
}

// newStaging begins a replay of components as they are stored.
func newStaging(db *store.DB, comps []*component) *staging {
	s := &staging{db: db, components: make(map[int64]*stagedComponent, len(comps)), tables: make(map[int64]*unitTable)}
	for _, c := range comps {
		s.components[c.row.ID] = &stagedComponent{lastUnit: c.row.LastUnit, lastAt: c.row.LastAt}
	}
	s.clear()
	return s
}

// clear begins a batch.
func (s *staging) clear() {
	s.rows, s.put, s.fresh = nil, make(map[*catalog.Translation]bool), nil
	s.owners = make(map[int64]int64)
	s.layouts, s.files = make(map[int64][]catalog.Placed), make(map[int64]store.File)
	s.days = make(map[dayKey]store.StatDay)
	s.problems = make(map[problemKey]*store.Problem)
	s.authors, s.authorIDs, s.deltas = nil, make(map[[2]string]int64), nil
	s.lastRow, s.entries, s.bytes = 0, 0, 0
}

// time is that of a replayed commit's entries in a component: never before the
// entry before (decision 19).
func (s *staging) time(component int64, commit time.Time) time.Time {
	if last := s.components[component].lastAt; commit.Before(last) {
		return last
	}
	return commit
}

func (s *staging) Translations(ctx context.Context, component int64) (list []catalog.Translation, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		list, err = snap.AllTranslations(ctx, component)
		return err
	})
	return list, err
}

func (s *staging) Problems(ctx context.Context, component int64) (list []store.Problem, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		list, err = snap.Problems(ctx, component)
		return err
	})
	return list, err
}

// PutTranslation keeps the pointer: what the row holds at the end of the batch
// is stored.
func (s *staging) PutTranslation(_ context.Context, t *catalog.Translation) error {
	if t.ID == 0 {
		s.lastRow--
		t.ID = s.lastRow
		s.tables[t.ID] = newUnitTable()
	}
	s.owners[t.ID] = t.ComponentID
	if !s.put[t] {
		s.put[t] = true
		s.rows = append(s.rows, t)
	}
	return nil
}

func (s *staging) PutLayout(_ context.Context, translation int64, placed []catalog.Placed) error {
	s.layouts[translation] = placed
	return nil
}

func (s *staging) PutFile(_ context.Context, f store.File) error {
	s.files[f.TranslationID] = f
	s.bytes += len(f.Data)
	return nil
}

func (s *staging) File(ctx context.Context, translation int64) (f store.File, err error) {
	if f, ok := s.files[translation]; ok {
		return f, nil
	}
	err = s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		f, err = snap.File(ctx, translation)
		return err
	})
	return f, err
}

func (s *staging) PutStatDay(_ context.Context, d store.StatDay) error {
	s.days[dayKey{d.TranslationID, d.Day.UTC().Format(time.DateOnly)}] = d
	return nil
}

func (s *staging) SetProblem(_ context.Context, p store.Problem) error {
	s.problems[problemKey{p.ComponentID, p.Path}] = &p
	return nil
}

func (s *staging) ClearProblem(_ context.Context, component int64, path string) error {
	s.problems[problemKey{component, path}] = nil
	return nil
}

// User returns a number that stands for the author within the batch.
func (s *staging) User(_ context.Context, name, email string, at time.Time) (int64, error) {
	key := [2]string{name, email}
	if id, ok := s.authorIDs[key]; ok {
		if a := &s.authors[-1-id]; at.Before(a.at) {
			a.at = at
		}
		return id, nil
	}
	s.authors = append(s.authors, author{name, email, at})
	id := -int64(len(s.authors))
	s.authorIDs[key] = id
	return id, nil
}

func (s *staging) AddDelta(_ context.Context, d store.Delta) error {
	if len(d.Entries) == 0 {
		return nil
	}
	c, ok := s.components[d.ComponentID]
	if !ok {
		return fmt.Errorf("component %d is not in the replay: %w", d.ComponentID, catalog.ErrInvalid)
	}
	if d.At.Before(c.lastAt) {
		d.At = c.lastAt
	}
	c.lastAt = d.At
	s.deltas = append(s.deltas, d)
	s.entries += len(d.Entries)
	return nil
}

// own copies a text out of the file that it was read from, which would else
// stay in memory with it.
func own(text string) string { return strings.Clone(text) }
