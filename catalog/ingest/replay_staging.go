package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/object"
)

// staging is the stepStore of a replay: it collects what the commits write of some
// components, batch by batch, and answers what they read. It gives unit ids in the order of
// appearance, as the store would, so that they do not depend on where batches
// end. It numbers new translations from -1 down, until the store has given them ids.
//
// The units of touched translations stay in memory from batch to batch, as long as
// there is room (evict). No other pull may move the components meanwhile: the
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
	ids        rowIDs               // of all that are stored
	lastRow    int64                // the newest number of a new translation, negative
	// waitStored waits until all sealed batches are stored. It is called before
	// every read from the store that they may affect.
	waitStored func() error
	meter      *meter
	// room returns an error if so many bytes more may not be stored.
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
		owners: make(map[int64]int64), ids: make(rowIDs), waitStored: waitStored, batch: newBatch(),
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

// time is the time of a replayed commit's entries in a component: never before
// the previous entry (docs/compatibility.md#history).
func (s *staging) time(component int64, commit time.Time) time.Time {
	if last := s.components[component].lastAt; commit.Before(last) {
		return last
	}
	return commit
}

func (s *staging) Translations(ctx context.Context, component int64) ([]catalog.Translation, error) {
	return store.Get(ctx, s.db, (*store.Snapshot).AllTranslations, component)
}

func (s *staging) Problems(ctx context.Context, component int64) ([]store.Problem, error) {
	return store.Get(ctx, s.db, (*store.Snapshot).Problems, component)
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
	s.writeWhole(wholeKey{kind: "layout", id: translation}, n, func(ctx context.Context, w *batchWriter) error {
		sortByID(placed)
		return w.tx.PutLayout(ctx, w.id(translation), placed)
	})
	return s.meter.take(int64(n))
}

// PutExtra keeps the last list: only the head is compared with the template.
func (s *staging) PutExtra(_ context.Context, component int64, extra []store.ExtraString) error {
	s.writeWhole(wholeKey{kind: "extra", id: component}, extraBytes*len(extra), func(ctx context.Context, w *batchWriter) error {
		return w.tx.PutExtra(ctx, component, extra)
	})
	return nil
}

// PutFile leaves the bytes for the end of the replay (storeFiles).
func (s *staging) PutFile(_ context.Context, f store.File) error {
	f.Data, f.Pieces, f.Later = nil, nil, true
	s.files[f.TranslationID] = f
	s.writeWhole(wholeKey{kind: "file", id: f.TranslationID}, fileRowBytes, func(ctx context.Context, w *batchWriter) error {
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
	f, err = store.Get(ctx, s.db, (*store.Snapshot).File, s.ids.id(translation))
	if f.Later {
		f.Data, err = s.blob(ctx, f.Blob)
	}
	return f, err
}

func (s *staging) PutStatDay(_ context.Context, d store.StatDay) error {
	key := wholeKey{"day", d.TranslationID, d.Day.UTC().Format(time.DateOnly)}
	s.writeWhole(key, dayBytes, func(ctx context.Context, w *batchWriter) error {
		d.TranslationID = w.id(d.TranslationID)
		return w.tx.PutStatDay(ctx, d)
	})
	return nil
}

func (s *staging) SetProblem(_ context.Context, p store.Problem) error {
	s.writeWhole(wholeKey{"problem", p.ComponentID, p.Path}, dayBytes, func(ctx context.Context, w *batchWriter) error {
		return w.tx.SetProblem(ctx, p)
	})
	return nil
}

func (s *staging) ClearProblem(_ context.Context, component int64, path string) error {
	s.writeWhole(wholeKey{"problem", component, path}, dayBytes, func(ctx context.Context, w *batchWriter) error {
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
	d.At = s.time(d.ComponentID, d.At)
	c.lastAt = d.At
	s.entries += len(d.Entries)
	s.write(deltaBytes(&d), func(ctx context.Context, w *batchWriter) error {
		d.TranslationID = w.id(d.TranslationID)
		return w.tx.AddDeltaBy(ctx, by, d)
	})
	return nil
}

// What a replay holds is counted in bytes, so that it can be bounded. The sizes are
// estimates (TestStagingMemory): structs, their places in maps and slices, and an
// average of the short strings.
const (
	tabledBytes  = 96  // of a unit in a table, without its target
	stagedBytes  = 480 // of a unit that a batch added or changed, without its target
	placedBytes  = 48  // of a unit in a layout, without its location
	dayBytes     = 256 // of a day, or a problem
	fileRowBytes = 256 // of a file without its bytes
	extraBytes   = 16
	commitBytes  = 288 // of a delta, without its entries
	changedBytes = 112 // of an entry, without its texts
)

func layoutBytes(placed []catalog.UnitPosition) int {
	n := 0
	for i := range placed {
		n += placedBytes + len(placed[i].Location)
	}
	return n
}

func deltaBytes(d *store.Delta) int {
	n := commitBytes
	for i := range d.Entries {
		n += changeBytes(&d.Entries[i])
	}
	return n
}

func changeBytes(e *store.Entry) int { return changedBytes + len(e.Target) + len(e.Old) }

// full reports whether the batch must be stored: it is large, or its commits touched
// tables beyond their bound, which cannot be forgotten before.
func (s *staging) full(b *replayBounds) bool {
	return s.entries >= b.batchEntries || s.bytes >= b.batchBytes || s.tabled > b.tableBytes && s.tabled-s.kept > b.tableBytes/4
}

// evict forgets tables of a batch that just began, those whose last use is the longest
// ago first, if all together are larger than a bound. Those of the last commit, since the
// next one is likely to touch the same, may be twice as large.
func (s *staging) evict(bound int) {
	byUse := slices.SortedFunc(maps.Keys(s.tables), func(a, b int64) int { return cmp.Compare(s.tables[a].used, s.tables[b].used) })
	for _, id := range byUse {
		t := s.tables[id]
		if s.tabled <= bound || t.used > s.begun && s.tabled <= 2*bound {
			break
		}
		s.tabled -= t.bytes
		delete(s.tables, id)
	}
	s.kept = s.tabled
}

// A replay stores the bytes of files once, at its end: until then the repository has
// them, and nobody is shown files of a component that is not imported yet. The batches
// store which versions are served.

// readLimit bounds files that were read before, perhaps with a larger max_file_size.
const readLimit = 1 << 40

// blob reads a file from the mirror.
func (p *pull) blob(ctx context.Context, id string) ([]byte, error) {
	hash, err := object.ParseHash(id)
	if err != nil {
		return nil, fmt.Errorf("stored blob: %w", err)
	}
	return p.reader.SharedBlob(ctx, hash, readLimit)
}

// storeReplayedFiles stores the bytes of the files that a replay left for later: at its end,
// or when another step ends it, since its commits are gone from the branch.
func (p *pull) storeReplayedFiles(ctx context.Context, tx *store.StepTx, comps ...*component) error {
	for _, c := range comps {
		if c.row.Imported || c.row.ImportAt.IsZero() {
			continue
		}
		if err := p.storeFiles(ctx, tx, c); err != nil {
			return &componentError{c, err}
		}
	}
	return nil
}

func (p *pull) storeFiles(ctx context.Context, tx *store.StepTx, c *component) error {
	files, err := tx.LaterFiles(ctx, c.row.ID)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.Data, err = p.blob(ctx, f.Blob); errors.Is(err, object.ErrUnknownObject) {
			continue // of a commit that is gone, and the file of the head cannot be parsed
		}
		if err != nil {
			return fmt.Errorf("read the file of translation %d: %w", f.TranslationID, err)
		}
		if err := tx.PutFile(ctx, f); err != nil {
			return err
		}
	}
	return nil
}
