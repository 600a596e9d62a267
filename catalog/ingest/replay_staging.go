package ingest

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// staging is the stepStore of a replay: it collects what the commits write of some
// components, batch by batch, and answers what they read. It gives unit ids in the order of
// appearance, as the store would, so that they do not depend on where batches
// end. It numbers new translations from -1 down, until the store has given them ids.
//
// The units of touched translations stay in memory from batch to batch, as long as
// there is room (replay_memory.go). No other pull may move the components meanwhile: the
// compare-and-swap on their head fails if another process did.
type staging struct {
	db         *store.DB
	components map[int64]*stagedComponent
	tables     map[int64]*unitTable // by translation
	tabled     int                  // the sum of their bytes
	kept       int                  // of which when the batch began
	owners     map[int64]int64      // components of translations that were put
	clock      int                  // counts the uses of tables
	begun      int                  // the clock when the last commit began
	ids        map[int64]int64      // of new translations that are stored, by number
	lastRow    int64                // the newest number of a new translation, negative
	// waitStored waits until all sealed batches are stored. It is called before
	// every read from the store that they may affect.
	waitStored func() error
	meter      *meter // or nil
	// room returns an error if so many bytes more may not be stored; nil: all may.
	room func(n int64) error
	// blob reads a file from the repository.
	blob func(ctx context.Context, id string) ([]byte, error)

	*batch // the current one
}

// stagedComponent is what a replay counts of one component.
type stagedComponent struct {
	lastUnit int64
	lastAt   time.Time // of the newest entry
}

// newStaging makes the staging area of components as they are stored.
func newStaging(db *store.DB, comps []*component, waitStored func() error) *staging {
	s := &staging{
		db: db, components: make(map[int64]*stagedComponent, len(comps)), tables: make(map[int64]*unitTable),
		owners: make(map[int64]int64), ids: make(map[int64]int64), waitStored: waitStored, batch: newBatch(),
	}
	for _, c := range comps {
		s.components[c.row.ID] = &stagedComponent{lastUnit: c.row.LastUnit, lastAt: c.row.LastAt}
	}
	return s
}

// seal ends the batch and begins the next. The batch before must be stored.
func (s *staging) seal() *batch {
	b := s.batch
	b.seal(maps.Clone(s.ids))
	s.batch = newBatch()
	return b
}

func (s *staging) counts() map[int64]stagedComponent {
	counted := make(map[int64]stagedComponent, len(s.components))
	for id, c := range s.components {
		counted[id] = *c
	}
	return counted
}

// id is a translation's id in the store; 0 if it has none yet.
func (s *staging) id(translation int64) int64 {
	if translation < 0 {
		return s.ids[translation]
	}
	return translation
}

// time is the time of a replayed commit's entries in a component: never before
// the previous entry (docs/compatibility.md#history).
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

// PutTranslation keeps the pointer: the row is stored as it is at the end of the
// batch.
func (s *staging) PutTranslation(_ context.Context, t *catalog.Translation) error {
	if t.ID == 0 {
		s.lastRow--
		t.ID = s.lastRow
		s.tables[t.ID] = new(unitTable)
	}
	s.owners[t.ID] = t.ComponentID
	if !s.put[t] {
		s.put[t] = true
		s.rows = append(s.rows, t)
	}
	return nil
}

func (s *staging) PutLayout(_ context.Context, translation int64, placed []catalog.UnitPosition) error {
	n := layoutBytes(placed)
	s.writeWhole(layoutKey(translation), n, func(ctx context.Context, w *batchWriter) error {
		sortByID(placed)
		return w.tx.PutLayout(ctx, w.id(translation), placed)
	})
	return s.meter.take(int64(n))
}

// PutExtra keeps the last list: only the head is compared with the template.
func (s *staging) PutExtra(_ context.Context, component int64, extra []store.ExtraString) error {
	s.writeWhole(extraKey(component), extraBytes*len(extra), func(ctx context.Context, w *batchWriter) error {
		return w.tx.PutExtra(ctx, component, extra)
	})
	return nil
}

// PutFile leaves the bytes for the end of the replay (storeFiles).
func (s *staging) PutFile(_ context.Context, f store.File) error {
	f.Data, f.Pieces, f.Later = nil, nil, true
	s.files[f.TranslationID] = f
	s.writeWhole(fileKey(f.TranslationID), fileRowBytes, func(ctx context.Context, w *batchWriter) error {
		f.TranslationID = w.id(f.TranslationID)
		return w.tx.PutFile(ctx, f)
	})
	return nil
}

// File reads the bytes from the repository, if they are not stored yet.
func (s *staging) File(ctx context.Context, translation int64) (f store.File, err error) {
	f, ok := s.files[translation]
	if ok {
		f.Data, err = s.blob(ctx, f.Blob)
		return f, err
	}
	if err := s.waitStored(); err != nil {
		return f, err
	}
	err = s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		f, err = snap.File(ctx, s.id(translation))
		return err
	})
	if f.Later {
		f.Data, err = s.blob(ctx, f.Blob)
	}
	return f, err
}

func (s *staging) PutStatDay(_ context.Context, d store.StatDay) error {
	key := dayKey{d.TranslationID, d.Day.UTC().Format(time.DateOnly)}
	s.writeWhole(key, dayBytes, func(ctx context.Context, w *batchWriter) error {
		d.TranslationID = w.id(d.TranslationID)
		return w.tx.PutStatDay(ctx, d)
	})
	return nil
}

func (s *staging) SetProblem(_ context.Context, p store.Problem) error {
	s.writeWhole(problemKey{p.ComponentID, p.Path}, dayBytes, func(ctx context.Context, w *batchWriter) error {
		return w.tx.SetProblem(ctx, p)
	})
	return nil
}

func (s *staging) ClearProblem(_ context.Context, component int64, path string) error {
	s.writeWhole(problemKey{component, path}, dayBytes, func(ctx context.Context, w *batchWriter) error {
		return w.tx.ClearProblem(ctx, component, path)
	})
	return nil
}

func (s *staging) AddDeltaBy(_ context.Context, by edit.Author, d store.Delta) error {
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
	s.entries += len(d.Entries)
	s.write(deltaBytes(&d), func(ctx context.Context, w *batchWriter) error {
		d.TranslationID = w.id(d.TranslationID)
		return w.tx.AddDeltaBy(ctx, by, d)
	})
	return nil
}
