package ingest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// batch is what one transaction of a replay stores: every entry, and the last
// version of every unit, file and layout. Once sealed it does not change, so that
// it can be stored while the next one is made.
type batch struct {
	rows      []*catalog.Translation // put, in the order of the first time
	put       map[*catalog.Translation]bool
	newUnits  []*stagedUnit // never stored, in the order of their ids by component
	layouts   map[int64][]catalog.UnitPosition
	extra     map[int64][]store.ExtraString // by component
	files     map[int64]store.File
	days      map[dayKey]store.StatDay
	problems  map[problemKey]*store.Problem // nil: cleared
	authors   []author                      // the i-th has the id -1-i
	authorIDs map[[2]string]int64
	deltas    []store.Delta
	sealed    *sealed // nil until seal

	entries, bytes int   // for its bounds; replay_memory.go says what bytes counts
	stored         int64 // bytes of the targets of newUnits
}

// sealed is a batch's copy of what later batches go on changing.
type sealed struct {
	rows    []catalog.Translation // values of batch.rows
	changed []changedUnits        // by translation
	ids     map[int64]int64       // of translations that earlier batches made
}

// changedUnits are the units of a translation that were stored before the
// batch and that it changed, by id.
type changedUnits struct {
	translation int64
	units       []*stagedUnit
}

type dayKey struct {
	translation int64
	day         string
}

type problemKey struct {
	component int64
	path      string
}

// author is an author of entries, at the earliest of the times given.
type author struct {
	name, email string
	at          time.Time
}

func newBatch() *batch {
	return &batch{
		put:     make(map[*catalog.Translation]bool),
		layouts: make(map[int64][]catalog.UnitPosition), files: make(map[int64]store.File), extra: make(map[int64][]store.ExtraString),
		days:     make(map[dayKey]store.StatDay),
		problems: make(map[problemKey]*store.Problem), authorIDs: make(map[[2]string]int64),
	}
}

// write stores a sealed batch and returns the ids of the translations that it
// made, by their number in the replay. It changes nothing in b, since the
// transaction may still fail.
func (b *batch) write(ctx context.Context, tx *store.StepTx) (made map[int64]int64, err error) {
	f := batchWriter{batch: b, tx: tx, made: make(map[int64]int64)}
	for _, part := range []func(context.Context) error{
		f.putTranslations, f.addUnits, f.updateUnits, f.putExtra, f.putLayouts, f.putFiles, f.putStatDays, f.putProblems, f.addChanges,
	} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return f.made, nil
}

// pendingBatch is a batch that is being stored.
type pendingBatch struct {
	done    chan struct{} // closed at its end
	err     error
	made    map[int64]int64 // ids of new translations
	move    move            // to its last commit
	changes map[int64]int64 // entries by component
	counts  map[int64]stagedComponent
}

// flush begins to store the batch, whose last commit is to.
func (r *replay) flush(ctx context.Context, to string) error {
	if err := r.waitStored(); err != nil {
		return err
	}
	b := &pendingBatch{
		done: make(chan struct{}), changes: r.changes, counts: r.staging.counts(),
		move: move{convoy: r.comps, from: r.from, to: to, partial: true},
	}
	sealed, info := r.staging.seal(), r.p.stepInfo(ctx, b.move)
	r.staging.evictStored(r.p.s.bounds.tableBytes)
	r.pending, r.from, r.commits, r.changes = b, to, 0, make(map[int64]int64)
	go func() {
		defer close(b.done)
		b.err = r.p.transact(ctx, info, func(ctx context.Context, tx *store.StepTx) (err error) {
			b.made, err = sealed.write(ctx, tx)
			return err
		})
	}()
	return nil
}

// flushTurn is flush for a batch that may be larger than usual. It ends the turn.
func (r *replay) flushTurn(ctx context.Context, to string) error {
	if err := r.flush(ctx, to); err != nil {
		return err
	}
	if err := r.waitStored(); err != nil {
		return err
	}
	r.staging.evictAll()
	if r.p.meter.kept < r.p.meter.small {
		r.p.meter.endTurn()
	}
	return nil
}

func (r *replay) waitStored() error {
	b := r.pending
	if b == nil {
		return r.broken
	}
	r.pending = nil
	<-b.done
	if r.broken = b.err; b.err != nil {
		return b.err
	}
	r.staging.addIDs(b.made)
	r.p.moved(b.move)
	for _, c := range r.comps {
		r.p.changes[c.row.ID] += b.changes[c.row.ID]
		c.row.LastUnit, c.row.LastAt = b.counts[c.row.ID].lastUnit, b.counts[c.row.ID].lastAt
	}
	return nil
}

// reachedHead sets what later parts of the pull read of components at the head,
// and frees the rest, which was for the replay.
func (r *replay) reachedHead() {
	for _, c := range r.comps {
		c.applied, c.matchesNothing = true, !c.selects()
		c.translations, c.seen = nil, nil
		c.dropUnion()
	}
}

type batchWriter struct {
	*batch
	tx   *store.StepTx
	made map[int64]int64 // ids of new translations, by their number
}

// id is a translation's id in the store.
func (f *batchWriter) id(translation int64) int64 {
	if translation >= 0 {
		return translation
	}
	if id, ok := f.made[translation]; ok {
		return id
	}
	return f.sealed.ids[translation]
}

func (f *batchWriter) putTranslations(ctx context.Context) error {
	for _, t := range f.sealed.rows {
		number := t.ID
		t.ID = f.id(number) // 0 for a new one
		if err := f.tx.PutTranslation(ctx, &t); err != nil {
			return err
		}
		if number < 0 {
			f.made[number] = t.ID
		}
	}
	return nil
}

func (f *batchWriter) addUnits(ctx context.Context) error {
	for block := range slices.Chunk(f.newUnits, stagedBlock) {
		units := make([]catalog.Unit, len(block))
		list := make([]store.FingerprintedUnit, len(block))
		for i, u := range block {
			units[i] = u.Unit
			units[i].TranslationID = f.id(u.TranslationID)
			list[i] = u.fingerprinted(&units[i])
		}
		if err := f.tx.AddUnits(ctx, list); err != nil {
			return err
		}
	}
	return nil
}

// stagedBlock is the number of units of a batch that are copied at a time.
const stagedBlock = 1 << 10

// updateUnits stores the changes of units that were stored before the batch.
func (f *batchWriter) updateUnits(ctx context.Context) error {
	for _, c := range f.sealed.changed {
		var updated []store.FingerprintedUnit
		var removed []int64
		for _, u := range c.units {
			if u.rewritten {
				unit := u.Unit
				unit.TranslationID = f.id(unit.TranslationID)
				updated = append(updated, u.fingerprinted(&unit))
			}
			if u.Removed {
				removed = append(removed, u.ID)
			}
		}
		if err := f.tx.UpdateUnits(ctx, updated); err != nil {
			return err
		}
		if err := f.tx.RemoveUnits(ctx, removed); err != nil {
			return err
		}
	}
	return nil
}

func (f *batchWriter) putExtra(ctx context.Context) error {
	for _, component := range slices.Sorted(maps.Keys(f.extra)) {
		if err := f.tx.PutExtra(ctx, component, f.extra[component]); err != nil {
			return err
		}
	}
	return nil
}

func (f *batchWriter) putLayouts(ctx context.Context) error {
	for _, translation := range slices.Sorted(maps.Keys(f.layouts)) {
		sortByID(f.layouts[translation])
		if err := f.tx.PutLayout(ctx, f.id(translation), f.layouts[translation]); err != nil {
			return err
		}
	}
	return nil
}

func (f *batchWriter) putFiles(ctx context.Context) error {
	for _, translation := range slices.Sorted(maps.Keys(f.files)) {
		file := f.files[translation]
		file.TranslationID = f.id(translation)
		if err := f.tx.PutFile(ctx, file); err != nil {
			return err
		}
	}
	return nil
}

func (f *batchWriter) putStatDays(ctx context.Context) error {
	keys := slices.SortedFunc(maps.Keys(f.days), func(a, b dayKey) int {
		return cmp.Or(cmp.Compare(a.translation, b.translation), strings.Compare(a.day, b.day))
	})
	for _, key := range keys {
		d := f.days[key]
		d.TranslationID = f.id(d.TranslationID)
		if err := f.tx.PutStatDay(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (f *batchWriter) putProblems(ctx context.Context) error {
	keys := slices.SortedFunc(maps.Keys(f.problems), func(a, b problemKey) int {
		return cmp.Or(cmp.Compare(a.component, b.component), strings.Compare(a.path, b.path))
	})
	for _, key := range keys {
		var err error
		if p := f.problems[key]; p != nil {
			err = f.tx.SetProblem(ctx, *p)
		} else {
			err = f.tx.ClearProblem(ctx, key.component, key.path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addChanges stores the authors, in the order of appearance, and the entries.
func (f *batchWriter) addChanges(ctx context.Context) error {
	users := make([]int64, len(f.authors))
	for i, a := range f.authors {
		var err error
		if users[i], err = f.tx.User(ctx, a.name, a.email, a.at); err != nil {
			return err
		}
	}
	for _, d := range f.deltas {
		d.TranslationID = f.id(d.TranslationID)
		if d.AuthorID < 0 {
			d.AuthorID = users[-1-d.AuthorID]
		}
		if err := f.tx.AddDelta(ctx, d); err != nil {
			return err
		}
	}
	return nil
}
