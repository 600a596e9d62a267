package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

const (
	// hookPause is the least time between two entries 53 of a component
	// (docs/compatibility.md#component-events).
	hookPause = time.Minute
	// hookTries bounds the tries, each of which fails if a pull moves the heads
	// meanwhile.
	hookTries = 10
	// hookRecent is how many of a component's newest entries are searched for one
	// that an earlier process wrote.
	hookRecent = 20
)

// hookTimes are the times of the last entry 53 of components. The zero value is
// ready to use.
type hookTimes struct {
	mu sync.Mutex // held while entries are written: the next caller sees them
	at map[int64]time.Time
}

// RecordHook writes entry 53 for components of a branch that, as a webhook says,
// was pushed to. event describes the push and is shown to everybody. A component
// gets at most one entry in a minute, and no entry before its first import or
// when it is no longer of the branch. Pulls may run meanwhile.
func (s *Syncer) RecordHook(ctx context.Context, b Branch, components []int64, event map[string]string) error {
	s.hooked.mu.Lock()
	defer s.hooked.mu.Unlock()
	at := s.now().UTC().Truncate(time.Microsecond)
	due, err := s.hooked.due(ctx, s.db, components, at)
	for try := 1; err == nil && len(due) > 0; try++ {
		err = s.writeHook(ctx, b, due, event, at)
		if err == nil {
			return nil
		}
		if errors.Is(err, catalog.ErrConflict) && try < hookTries {
			err = nil // a pull was faster: its head is the new one
			due, err = s.hooked.due(ctx, s.db, due, at)
		}
	}
	if err != nil {
		return fmt.Errorf("record a webhook for %s: %w", b.Key, err)
	}
	return nil
}

// due returns the components that got no entry 53 within the last minute.
func (h *hookTimes) due(ctx context.Context, db *store.DB, components []int64, at time.Time) ([]int64, error) {
	if h.at == nil {
		h.at = make(map[int64]time.Time)
	}
	var due []int64
	for _, id := range components {
		last, known := h.at[id]
		if !known {
			var err error
			if last, err = lastHook(ctx, db, id); err != nil {
				return nil, err
			}
			h.at[id] = last
		}
		if passed := at.Sub(last); passed < 0 || passed >= hookPause {
			due = append(due, id)
		}
	}
	return due, nil
}

// lastHook returns the time of a component's newest entry 53, if it is recent.
func lastHook(ctx context.Context, db *store.DB, component int64) (last time.Time, err error) {
	err = db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		list, err := snap.Changes(ctx, store.ChangeQuery{ComponentID: component, Limit: hookRecent, Newest: true})
		i := slices.IndexFunc(list, func(c catalog.Change) bool { return c.Action == catalog.ActionHook })
		if i >= 0 {
			last = list[i].Timestamp
		}
		return err
	})
	return last, err
}

// writeHook writes the entries, in one step for the components of each head.
func (s *Syncer) writeHook(ctx context.Context, b Branch, components []int64, event map[string]string, at time.Time) error {
	if len(b.Components) == 0 {
		return fmt.Errorf("the branch has no component: %w", catalog.ErrInvalid)
	}
	spec := &b.Components[0].Spec
	rows, err := s.db.Branch(ctx, spec.Repo, spec.Branch)
	if err != nil {
		return err
	}
	heads := make(map[string]store.StepInfo)
	for i := range rows { // in the order of their ids, as a step wants them
		row := &rows[i]
		if row.Imported && row.Head != "" && slices.Contains(components, row.ID) {
			heads[row.At()] = stayingAt(row, at, append(heads[row.At()].Components, row.ID)...)
		}
	}
	for _, info := range heads {
		ids := info.Components
		_, err := s.db.Step(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
			for _, id := range ids {
				if err := tx.AddDelta(ctx, store.Delta{ComponentID: id, Entries: []store.Entry{eventEntry(catalog.ActionHook, event)}}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			s.hooked.at[id] = at
		}
	}
	return nil
}
