package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/store"
)

// unitTable holds all units of one translation, removed ones included, in the
// order of their ids.
type unitTable struct {
	known []catalog.Known
	texts []stagedText        // parallel
	dirty map[int]*stagedUnit // by index: the units that the batch changed
	used  int                 // staging.clock of the last use
	bytes int                 // an estimate
}

// stagedText is what an entry shows as the old version of a unit.
type stagedText struct {
	target string
	state  catalog.State
}

// stagedUnit is a unit that a batch added or changed, as it will be stored.
type stagedUnit struct {
	catalog.Unit
	text, meta int64
	since      time.Time // store.FingerprintedUnit.Since
	isNew      bool      // not stored yet
	rewritten  bool      // stored, and more than Removed changed
}

// fingerprinted returns unit, a copy of u.Unit, with the fingerprints of u.
func (u *stagedUnit) fingerprinted(unit *catalog.Unit) store.FingerprintedUnit {
	return store.FingerprintedUnit{Unit: unit, Text: u.text, Meta: u.meta, Since: u.since}
}

// detach drops the fields of a unit that are not stored in its row, and copies
// the strings of the others, except the target.
func (u *stagedUnit) detach() {
	u.Location = ""
	if u.SourceID != u.ID {
		u.Source, u.Context = "", ""
	}
	unit.Detach(&u.Unit)
}

// takeChanged returns the units that the batch changed and that were stored
// before it, by id, and begins the next batch.
func (t *unitTable) takeChanged() []*stagedUnit {
	var changed []*stagedUnit
	for _, u := range t.dirty {
		if !u.isNew {
			changed = append(changed, u)
		}
	}
	if len(t.dirty) > 0 {
		t.dirty = make(map[int]*stagedUnit)
	}
	slices.SortFunc(changed, func(a, b *stagedUnit) int { return cmp.Compare(a.ID, b.ID) })
	return changed
}

func newUnitTable() *unitTable { return &unitTable{dirty: make(map[int]*stagedUnit)} }

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
	t := newUnitTable()
	err := s.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		units, err := snap.StoredUnits(ctx, s.id(translation))
		for i := range units {
			t.known = append(t.known, units[i].Known)
			t.texts = append(t.texts, stagedText{units[i].Target, units[i].State})
			t.bytes += tabledBytes + len(units[i].Target)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	t.used = s.clock
	s.tables[translation] = t
	s.tabled += t.bytes
	return t, s.meter.take(int64(t.bytes))
}

func (s *staging) KnownOf(ctx context.Context, translation int64, identities []catalog.Identity) ([]catalog.Known, error) {
	all, err := s.Known(ctx, translation)
	var known []catalog.Known
	for _, k := range all {
		if slices.Contains(identities, k.Identity) {
			known = append(known, k)
		}
	}
	return known, err
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
	if s.room != nil {
		if err := s.room(s.stored); err != nil {
			return err
		}
	}
	for i := range units {
		n := &units[i]
		t, err := s.table(ctx, n.TranslationID)
		if err != nil {
			return err
		}
		if err := s.add(t, n); err != nil {
			return err
		}
	}
	return nil
}

func (s *staging) add(t *unitTable, n *store.FingerprintedUnit) error {
	component := s.owners[n.TranslationID]
	c, ok := s.components[component]
	if !ok {
		return fmt.Errorf("translation %d is not in the replay: %w", n.TranslationID, catalog.ErrInvalid)
	}
	if c.lastUnit++; c.lastUnit >= catalog.UnitsPerComponent {
		return fmt.Errorf("component %d has no room for another unit: %w", component, catalog.ErrInvalid)
	}
	n.ID = component*catalog.UnitsPerComponent + c.lastUnit
	if n.SourceID == 0 {
		n.SourceID = n.ID
	}
	u := &stagedUnit{Unit: *n.Unit, text: n.Text, meta: n.Meta, since: n.Since, isNew: true}
	u.detach()
	if u.Target == u.Source {
		u.Target = u.Source
	} else {
		u.Target = strings.Clone(u.Target)
	}
	s.bytes += stagedBytes + len(u.Target)
	t.bytes += tabledBytes + len(u.Target)
	s.tabled += tabledBytes + len(u.Target)
	t.dirty[len(t.known)] = u
	t.known = append(t.known, catalog.Known{ID: u.ID, Identity: u.Identity, Text: u.text, Meta: u.meta})
	t.texts = append(t.texts, stagedText{u.Target, u.State})
	s.newUnits = append(s.newUnits, u)
	return s.meter.take(int64(stagedBytes + tabledBytes + len(u.Target)))
}

func (s *staging) UpdateUnits(ctx context.Context, units []store.FingerprintedUnit) error {
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
		s.update(t, at, u)
		if err := s.meter.take(int64(stagedBytes + len(u.Target))); err != nil {
			return err
		}
	}
	return nil
}

func (s *staging) update(t *unitTable, at int, u *store.FingerprintedUnit) {
	staged := t.dirty[at]
	if staged == nil {
		staged = new(stagedUnit)
		t.dirty[at] = staged
		s.bytes += stagedBytes
	}
	s.bytes += len(u.Target)
	grown := len(u.Target) - len(t.texts[at].target)
	t.bytes += grown
	s.tabled += grown
	sourceID, created := staged.SourceID, staged.Created // which only a new unit has
	staged.Unit = *u.Unit
	staged.SourceID, staged.Created, staged.Removed = sourceID, created, false
	staged.Target = t.texts[at].target
	if staged.Target != u.Target {
		staged.Target = strings.Clone(u.Target)
	}
	staged.detach()
	staged.text, staged.meta, staged.rewritten = u.Text, u.Meta, true
	k := &t.known[at]
	k.Text, k.Meta, k.Removed = u.Text, u.Meta, false
	t.texts[at] = stagedText{staged.Target, u.State}
}

func (s *staging) RemoveUnits(ctx context.Context, translation int64, ids []int64) error {
	t, err := s.table(ctx, translation)
	if err != nil {
		return err
	}
	for _, id := range ids {
		at, err := t.find(id)
		if err != nil {
			return err
		}
		staged := t.dirty[at]
		if staged == nil {
			staged = &stagedUnit{Unit: catalog.Unit{ID: id, TranslationID: translation}}
			t.dirty[at] = staged
			s.bytes += stagedBytes
		}
		staged.Removed = true
		t.known[at].Removed = true
	}
	return s.meter.take(stagedBytes * int64(len(ids)))
}
