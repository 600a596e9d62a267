package ingest

import (
	"cmp"
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// batch is what one transaction of a replay stores: the translations and units, as they
// are in the end, and then the writes of its commits in their order. Of what is written
// whole the last version counts.
type batch struct {
	rows   []*catalog.Translation // put, in the order of the first time
	put    map[*catalog.Translation]bool
	units  map[int64]*stagedUnit // by id
	order  []*stagedUnit         // in the order of the first time
	writes []batchWrite
	whole  map[wholeKey]int     // the write of the last version
	files  map[int64]store.File // without bytes, by translation

	sealed []catalog.Translation // values of rows
	ids    rowIDs                // once sealed

	entries, bytes int   // for its bounds; the constants of replay_staging.go say what bytes counts
	stored         int64 // bytes of the targets of new units
}

// stagedUnit is a unit that a batch adds, updates or removes. Storing each version of it
// took a fifth more of SQLite's time for gtranslator-po, whose strings come and go.
type stagedUnit struct {
	store.FingerprintedUnit
	added, updated bool
}

// batchWrite is nothing if another version was written since.
type batchWrite struct {
	bytes int
	do    func(context.Context, *batchWriter) error
}

// wholeKey says what is written whole: of a translation or a component, and of a day or a path
// if there are several.
type wholeKey struct {
	kind string
	id   int64
	of   string
}

func newBatch() *batch {
	return &batch{
		put: make(map[*catalog.Translation]bool), units: make(map[int64]*stagedUnit), whole: make(map[wholeKey]int), files: make(map[int64]store.File),
	}
}

// write adds a write, which holds some bytes.
func (b *batch) write(bytes int, do func(context.Context, *batchWriter) error) {
	b.writes = append(b.writes, batchWrite{bytes, do})
	b.bytes += bytes
}

// writeWhole is write for something that is written whole.
func (b *batch) writeWhole(key wholeKey, bytes int, do func(context.Context, *batchWriter) error) {
	if i, ok := b.whole[key]; ok {
		b.bytes -= b.writes[i].bytes
		b.writes[i] = batchWrite{}
	}
	b.whole[key] = len(b.writes)
	b.write(bytes, do)
}

// unit returns the unit with an id, which is a new one at its first time, and counts its
// target, whose length changes by some bytes.
func (b *batch) unit(id int64, target int) *stagedUnit {
	u, ok := b.units[id]
	if !ok {
		u = &stagedUnit{FingerprintedUnit: store.FingerprintedUnit{Unit: &catalog.Unit{ID: id}}}
		b.units[id] = u
		b.order = append(b.order, u)
		b.bytes += stagedBytes
	}
	b.bytes += target - len(u.Target)
	return u
}

// update sets what an update stores.
func (s *stagedUnit) update(u *catalog.Unit, text, meta int64) {
	s.TranslationID, s.Target, s.State, s.PreviousSource = u.TranslationID, u.Target, u.State, u.PreviousSource
	s.Note, s.TranslatorBytes, s.Flags, s.Priority = u.Note, u.TranslatorBytes, u.Flags, u.Priority
	s.Text, s.Meta, s.Removed, s.updated = text, meta, false, true
}

// seal copies what later batches go on changing. ids are those of translations that
// earlier batches made. From now on the batch belongs to whoever stores it.
func (b *batch) seal(ids rowIDs) {
	b.ids, b.sealed = ids, make([]catalog.Translation, len(b.rows))
	for i, row := range b.rows {
		b.sealed[i] = *row
	}
}

// store stores a sealed batch, once.
func (b *batch) store(ctx context.Context, tx *store.StepTx) error {
	w := &batchWriter{tx, b.ids}
	for i := range b.sealed {
		t := &b.sealed[i]
		number := t.ID
		t.ID = w.id(number) // 0 for a new one
		if err := tx.PutTranslation(ctx, t); err != nil {
			return err
		}
		if number < 0 {
			b.ids[number] = t.ID
		}
	}
	if err := b.storeUnits(ctx, w); err != nil {
		return err
	}
	for _, write := range b.writes {
		if write.do == nil {
			continue
		}
		if err := write.do(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) storeUnits(ctx context.Context, w *batchWriter) error {
	var added, updated []store.FingerprintedUnit
	var removed []int64
	for _, u := range b.order {
		u.TranslationID = w.id(u.TranslationID)
		switch {
		case u.added:
			added = append(added, u.FingerprintedUnit)
		case u.updated:
			updated = append(updated, u.FingerprintedUnit)
		}
		if u.Removed && !u.added {
			removed = append(removed, u.ID)
		}
	}
	return cmp.Or(w.tx.AddUnits(ctx, added), w.tx.UpdateUnits(ctx, updated), w.tx.RemoveUnits(ctx, removed))
}

type batchWriter struct {
	tx *store.StepTx
	rowIDs
}

// rowIDs are the ids of new translations that are stored, by their numbers in a replay.
type rowIDs map[int64]int64

// id is a translation's id in the store; 0 if it has none yet.
func (ids rowIDs) id(translation int64) int64 {
	if translation < 0 {
		return ids[translation]
	}
	return translation
}

// pendingBatch is a batch that is being stored.
type pendingBatch struct {
	done    chan struct{} // closed at its end
	err     error
	sealed  *batch
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
		done: make(chan struct{}), changes: r.changes, counts: r.staging.counts(), sealed: r.staging.seal(),
		move: move{convoy: r.comps, from: r.from, to: to, partial: true},
	}
	info := r.p.stepInfo(ctx, b.move)
	r.staging.evict(r.p.s.bounds.tableBytes)
	r.pending, r.from, r.commits, r.changes = b, to, 0, make(map[int64]int64)
	go func() {
		defer close(b.done)
		b.err = r.p.transact(ctx, info, b.sealed.store)
	}()
	return nil
}

// flushTurn is flush for a batch that may be larger than usual. It ends the turn.
func (r *replay) flushTurn(ctx context.Context, to string) error {
	err := cmp.Or(r.flush(ctx, to), r.waitStored())
	if err == nil && r.p.meter.kept < r.p.meter.small {
		r.p.meter.endTurn()
	}
	return err
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
	r.staging.ids = b.sealed.ids
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
