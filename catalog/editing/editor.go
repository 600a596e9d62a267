package editing

import (
	"context"
	"errors"
	"fmt"
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

// again calls try until no pull has moved the head meanwhile.
func again(try func() error) error {
	for n := 1; ; n++ {
		if err := try(); !errors.Is(err, catalog.ErrConflict) || n == tries {
			return err
		}
	}
}

// clock is the time of what is stored now.
func (d *Editor) clock() time.Time { return d.Now().UTC().Truncate(time.Microsecond) }

// editableComponent returns a component that takes edits.
func (d *Editor) editableComponent(ctx context.Context, id int64) (row store.BranchComponent, err error) {
	row, err = d.DB.ComponentByID(ctx, id)
	switch {
	case err != nil:
	case !row.Settings.Edits.Taken():
		err = edit.ErrNotTaken
	case row.Locked:
		err = edit.ErrLocked
	case !row.Imported || row.Head == "":
		err = fmt.Errorf("the component is not imported yet: %w", catalog.ErrNotFound)
	}
	return row, err
}
