package ingest

import (
	"context"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// batch is what one transaction of a replay stores: every entry, but of every
// unit, file and layout only the last version. Once sealed nothing changes it,
// so that it is stored beside the work on the next one.
type batch struct {
	rows      []*catalog.Translation // put, in the order of the first time
	put       map[*catalog.Translation]bool
	fresh     []*stagedUnit // never stored, in the order of their ids by component
	layouts   map[int64][]catalog.UnitPosition
	files     map[int64]store.File
	days      map[dayKey]store.StatDay
	problems  map[problemKey]*store.Problem // nil: none any more
	authors   []author                      // the i-th has the id -1-i
	authorIDs map[[2]string]int64
	deltas    []store.Delta
	sealed    *sealed // nil while it grows

	entries, bytes int // for its bounds; bytes are those of files
}

// sealed is what a batch keeps of things that live on after it.
type sealed struct {
	rows    []catalog.Translation // values of batch.rows
	changed []changedUnits        // by translation
	ids     map[int64]int64       // of translations that batches before it made
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

// author is somebody whom a batch credits, at the earliest of the times told.
type author struct {
	name, email string
	at          time.Time
}

func newBatch() *batch {
	return &batch{
		put:     make(map[*catalog.Translation]bool),
		layouts: make(map[int64][]catalog.UnitPosition), files: make(map[int64]store.File),
		days:     make(map[dayKey]store.StatDay),
		problems: make(map[problemKey]*store.Problem), authorIDs: make(map[[2]string]int64),
	}
}

// store writes a sealed batch and returns the ids of the translations that it
// made, by their number in the replay. It changes nothing in b, since the
// transaction may still fail.
func (b *batch) store(ctx context.Context, tx *store.StepTx) (made map[int64]int64, err error) {
	f := batchWriter{batch: b, tx: tx, made: make(map[int64]int64)}
	for _, part := range []func(context.Context) error{
		f.translations, f.newUnits, f.units, f.layout, f.file, f.statDays, f.problem, f.changes,
	} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return f.made, nil
}
