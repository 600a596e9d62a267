package editing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
)

// Options configure an Editor. DB, Syncer and Languages are required.
type Options struct {
	// DB is the store of units and of the journal.
	DB *store.DB
	// Syncer pulls what is edited.
	Syncer *ingest.Syncer
	// Languages is the language table.
	Languages *lang.Table
	// Room returns an error while there is too little room to store edits. They use what
	// pulls leave. Nil: there is always room.
	Room func() error
	// Now is the clock; nil: time.Now.
	Now func() time.Time
}

// Editor stores edits. It is safe for concurrent use.
type Editor struct{ Options }

// New makes an Editor.
func New(o Options) *Editor {
	if o.Room == nil {
		o.Room = func() error { return nil }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Editor{o}
}

// tries bounds the tries to store edits, each of which fails if a pull moves the head
// meanwhile.
const tries = 20

// atHead runs fn in a transaction at the head of a component, if the component may be
// changed: again, if a pull moves the head meanwhile. at is the time of what is stored.
func (d *Editor) atHead(ctx context.Context, id int64, may func(*store.BranchComponent) error, fn func(ctx context.Context, tx *store.StepTx, at time.Time) error) error {
	for n := 1; ; n++ {
		row, err := d.DB.ComponentByID(ctx, id)
		if err == nil {
			err = may(&row)
		}
		if err != nil {
			return err
		}
		at := d.Now().UTC().Truncate(time.Microsecond)
		err = d.Syncer.AtHead(ctx, row, at, func(ctx context.Context, tx *store.StepTx) error { return fn(ctx, tx, at) })
		if !errors.Is(err, catalog.ErrConflict) || n == tries {
			return err
		}
	}
}

// always permits what the server does itself.
func always(*store.BranchComponent) error { return nil }

// editable says why a component takes no edits, nil if it does.
func editable(row *store.BranchComponent) error {
	switch {
	case !row.Settings.Edits.Taken():
		return edit.ErrNotTaken
	case row.Locked:
		return edit.ErrLocked
	case !row.Imported || row.Head == "":
		return errNotImported
	}
	return nil
}

var errNotImported = fmt.Errorf("the component is not imported yet: %w", catalog.ErrNotFound)

// wrap adds to an error what failed.
func wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf(format+": %w", append(args, *err)...)
	}
}

// Commit notes that a client asked to commit the pending edits of translations of one
// component, so that clones have them. It returns the number of translations with any.
func (d *Editor) Commit(ctx context.Context, component int64, translations []int64) (n int, err error) {
	defer wrap(&err, "commit edits of component %d", component)
	pending, err := store.Get(ctx, d.DB, (*store.Snapshot).PendingTexts, component)
	waits := map[int64]bool{}
	for i := range pending {
		waits[pending[i].TranslationID] = waits[pending[i].TranslationID] || !pending[i].Committed
	}
	waiting := slices.DeleteFunc(slices.Clone(translations), func(t int64) bool { return !waits[t] })
	if err != nil || len(waiting) == 0 {
		return 0, err
	}
	return len(waiting), d.atHead(ctx, component, always, func(ctx context.Context, tx *store.StepTx, _ time.Time) error {
		return catalog.Try(waiting, func(t *int64) error { return tx.CommitEdits(ctx, *t) })
	})
}

// errSame ends a transaction that would change nothing.
var errSame = errors.New("nothing is to be changed")

// Lock locks a component, so that it takes no edits, or unlocks it. It returns whether
// that changed anything, which makes an entry 14 or 15.
func (d *Editor) Lock(ctx context.Context, id int64, by edit.Author, locked bool) (changed bool, err error) {
	defer wrap(&err, "lock component %d", id)
	entry := store.Entry{Action: catalog.ActionUnlock, State: catalog.StateAbsent, OldState: catalog.StateAbsent}
	if locked {
		entry.Action = catalog.ActionLock
	}
	err = d.atHead(ctx, id, func(row *store.BranchComponent) error {
		switch {
		case row.Locked == locked:
			return errSame
		case row.Head == "":
			return errNotImported
		}
		return nil
	}, func(ctx context.Context, tx *store.StepTx, at time.Time) error {
		return cmp.Or(tx.SetLocked(ctx, id, locked),
			tx.AddDeltaBy(ctx, edit.Author{Name: by.Name, Email: by.Email, Time: at}, store.Delta{ComponentID: id, Entries: []store.Entry{entry}}))
	})
	if errors.Is(err, errSame) {
		return false, nil
	}
	return err == nil, err
}
