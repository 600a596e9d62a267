package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/store"
)

// unitTable holds all units of one translation, removed ones included, in the
// order of their ids.
type unitTable struct {
	known []catalog.Known
	texts []stagedText // parallel
	used  int          // staging.clock of the last use
	bytes int          // an estimate
}

// stagedText is what an entry shows as the old version of a unit.
type stagedText struct {
	target string
	state  catalog.State
}

// staged returns a copy of a unit that is to be stored, without the fields that are not
// stored in its row, and with strings of its own, but for the target.
func staged(u *catalog.Unit) catalog.Unit {
	c := *u
	c.Location = ""
	if c.SourceID != c.ID {
		c.Source, c.Context = "", ""
	}
	unit.Detach(&c)
	return c
}

// table returns the units of a translation, and reads them from the store if they
// are not in memory.
func (s *staging) table(ctx context.Context, translation int64) (*unitTable, error) {
	s.clock++
	if t, ok := s.tables[translation]; ok {
		t.used = s.clock
		return t, nil
	}
	if err := s.waitStored(); err != nil {
		return nil, err
	}
	units, err := store.Get(ctx, s.db, (*store.Snapshot).StoredUnits, s.ids.id(translation))
	if err != nil {
		return nil, err
	}
	t := new(unitTable)
	for i := range units {
		t.known = append(t.known, units[i].Known)
		t.texts = append(t.texts, stagedText{units[i].Target, units[i].State})
		t.bytes += tabledBytes + len(units[i].Target)
	}
	t.used = s.clock
	s.tables[translation] = t
	s.tabled += t.bytes
	return t, s.meter.take(int64(t.bytes))
}

func (s *staging) Known(ctx context.Context, translation int64) ([]catalog.Known, error) {
	t, err := s.table(ctx, translation)
	if err != nil {
		return nil, err
	}
	return t.known, nil
}

func (t *unitTable) find(id int64) (int, error) {
	i, ok := slices.BinarySearchFunc(t.known, id, func(k catalog.Known, id int64) int { return cmp.Compare(k.ID, id) })
	if !ok {
		return 0, fmt.Errorf("unit %d: %w", id, catalog.ErrNotFound)
	}
	return i, nil
}

// Texts leaves out Source and Context, which entries do not show.
func (s *staging) Texts(ctx context.Context, translation int64, ids []int64) (map[int64]store.Text, error) {
	t, err := s.table(ctx, translation)
	if err != nil {
		return nil, err
	}
	texts := make(map[int64]store.Text, len(ids))
	for _, id := range ids {
		i, err := t.find(id)
		if err != nil {
			return nil, err
		}
		texts[id] = store.Text{Target: t.texts[i].target, State: t.texts[i].state}
	}
	return texts, nil
}

func (s *staging) AddUnits(ctx context.Context, units []store.FingerprintedUnit) error {
	for i := range units {
		s.stored += int64(len(units[i].Target))
	}
	if err := s.room(s.stored); err != nil {
		return err
	}
	for i := range units {
		n := &units[i]
		t, err := s.table(ctx, n.TranslationID)
		if err != nil {
			return err
		}
		if err := s.number(n.Unit); err != nil {
			return err
		}
		c := s.unit(n.ID, len(n.Target))
		c.added, c.Text, c.Meta, c.Since = true, n.Text, n.Meta, n.Since
		*c.Unit = staged(n.Unit)
		if c.Target == c.Source {
			c.Target = c.Source // one string
		} else {
			c.Target = strings.Clone(c.Target)
		}
		s.grow(t, tabledBytes+len(c.Target))
		t.known = append(t.known, catalog.Known{ID: c.ID, Identity: c.Identity, Text: n.Text, Meta: n.Meta})
		t.texts = append(t.texts, stagedText{c.Target, c.State})
		if err := s.meter.take(int64(stagedBytes + tabledBytes + len(c.Target))); err != nil {
			return err
		}
	}
	return nil
}

// number gives a new unit its id.
func (s *staging) number(u *catalog.Unit) error {
	component := s.owners[u.TranslationID]
	c, ok := s.components[component]
	if !ok {
		return fmt.Errorf("translation %d is not in the replay: %w", u.TranslationID, catalog.ErrInvalid)
	}
	if c.lastUnit++; c.lastUnit >= catalog.UnitsPerComponent {
		return fmt.Errorf("component %d has no room for another unit: %w", component, catalog.ErrInvalid)
	}
	u.ID = component*catalog.UnitsPerComponent + c.lastUnit
	u.SourceID = cmp.Or(u.SourceID, u.ID)
	return nil
}

// grow counts bytes more of a table.
func (s *staging) grow(t *unitTable, bytes int) {
	t.bytes += bytes
	s.tabled += bytes
}

func (s *staging) UpdateUnits(ctx context.Context, units []store.FingerprintedUnit) error {
	before := s.bytes
	for i := range units {
		u := &units[i]
		t, err := s.table(ctx, u.TranslationID)
		if err != nil {
			return err
		}
		at, err := t.find(u.ID)
		if err != nil {
			return err
		}
		target := t.texts[at].target
		s.grow(t, len(u.Target)-len(target))
		if target != u.Target {
			target = strings.Clone(u.Target)
		}
		c := s.unit(u.ID, len(target))
		next := staged(u.Unit)
		next.Target = target
		c.update(&next, u.Text, u.Meta)
		k := &t.known[at]
		k.Text, k.Meta, k.Removed = u.Text, u.Meta, false
		t.texts[at] = stagedText{target, u.State}
	}
	return s.meter.take(int64(max(0, s.bytes-before)))
}

func (s *staging) RemoveUnits(ctx context.Context, translation int64, ids []int64) error {
	t, err := s.table(ctx, translation)
	if err != nil {
		return err
	}
	before := s.bytes
	for _, id := range ids {
		at, err := t.find(id)
		if err != nil {
			return err
		}
		t.known[at].Removed = true
		u := s.unit(id, len(t.texts[at].target))
		u.Target, u.Removed = t.texts[at].target, true
	}
	return s.meter.take(int64(s.bytes - before))
}
