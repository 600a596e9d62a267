package checkup

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/compared"
)

// The units of several components that are checked one after the other (Step.Later) are
// compared in the end, scope by scope: so the rows of a scope's groups are stored once, in their
// order, instead of looked up for each component. Units of new translations are kept in memory
// until then, and their failing checks are stored once; the store has their translations as not
// checked, so that after a crash the next pull checks them. Where there is no room, and
// for units that were stored before, the failing checks are stored at once and the rules of the
// translation as uncompared; their units are read for it again.

// uncomparedRules are the rules of a translation that was checked with some rules, but not
// compared yet (store.UncomparedSuffix).
func uncomparedRules(rules string) string { return rules + store.UncomparedSuffix }

// IsUncompared reports whether a translation that was checked with some rules is not
// compared yet.
func IsUncompared(rules string) bool { return strings.HasSuffix(rules, store.UncomparedSuffix) }

// Kept has what AddUncompared needs of units of new translations, by component.
type Kept map[int64]*keptComponent

// KeptBytes is about the memory of a unit in Kept.
const KeptBytes = 32

type keptComponent struct {
	id           int64
	translations map[int64]*keptTranslation
	sources      []keptSource
	sourceAt     map[int64]uint32 // by unit
	masks        []checks.Mask
	maskAt       map[checks.Mask]uint16
}

type keptTranslation struct {
	*keptComponent
	row   int64
	rules string
	units []keptUnit
}

// keptSource is what the translations of a source string have in common.
type keptSource struct {
	unit         int64
	key, meaning int64 // of groups by source, and in groups by target
	words, chars int
}

type keptUnit struct {
	value                int64  // in the group by source
	unit, source         uint32 // the id within the component; an index
	mask                 uint16 // the failing checks that compare nothing
	byTarget             bool   // it is in a group by target
	inconsistent, reused keptCheck
}

type keptCheck struct{ runs, fails bool }

// of returns the check that a group decides.
func (u *keptUnit) of(c *compared.Member) *keptCheck {
	if c.SameTarget() {
		return &u.reused
	}
	return &u.inconsistent
}

// Add adds what a step kept, once that is stored, and returns how many units those are.
func (k Kept) Add(step Kept) (units int64) {
	for id, c := range step {
		k[id] = c
		c.sourceAt, c.maskAt = nil, nil
		for _, t := range c.translations {
			units += int64(len(t.units))
		}
	}
	return units
}

// Has reports whether the units of a translation with some rules are kept.
func (k Kept) Has(t *catalog.Translation, rules string) bool { return k.of(t, rules) != nil }

// of returns what is kept of a translation; nil if another step has checked it.
func (k Kept) of(t *catalog.Translation, rules string) *keptTranslation {
	c := k[t.ComponentID]
	if c == nil || c.translations[t.ID] == nil || t.Checked != "" || c.translations[t.ID].rules != rules {
		return nil
	}
	return c.translations[t.ID]
}

// keep keeps units of a new translation, or the next ones of a large file, and reports
// whether it did. Units with terms are not kept, since a glossary may change.
func (k *Step) keep(ctx context.Context, c *Component, t *catalog.Translation, rules string, units []*catalog.Unit, masks []checks.Mask) (bool, error) {
	of := k.Kept[c.ID]
	if of == nil {
		of = &keptComponent{id: c.ID, translations: map[int64]*keptTranslation{}, sourceAt: map[int64]uint32{}, maskAt: map[checks.Mask]uint16{}}
		k.Kept[c.ID] = of
	}
	one := of.translations[t.ID]
	if one == nil {
		one = &keptTranslation{keptComponent: of, row: t.ID, rules: rules}
	}
	_, stored := k.comparison.rules[t.ID] // an earlier part
	if stored || checks.UsesGlossary(c.Settings.CheckFlags) || asksForTerms(units) || len(of.masks)+len(units) > math.MaxUint16 || !k.Room(len(units)) {
		delete(of.translations, t.ID)
		return false, k.failures.storeKept(ctx, one)
	}
	of.translations[t.ID] = one
	one.units = slices.Grow(one.units, len(units))
	s := compared.Scope{PluralNumber: t.PluralNumber}
	for i, u := range units {
		one.units = append(one.units, of.unit(&k.comparison.hasher, &s, rules, u, masks[i]))
	}
	return true, nil
}

// unit is what is kept of a unit.
func (c *keptComponent) unit(h *catalog.Hasher, s *compared.Scope, rules string, u *catalog.Unit, mask checks.Mask) keptUnit {
	m := compared.BySource(h, u)
	kept := keptUnit{value: m.Value, unit: uint32(u.ID % catalog.UnitsPerComponent), byTarget: s.GroupsByTarget(u)}
	kept.inconsistent.runs = decides(rules, u, checks.Inconsistent)
	kept.reused.runs = decides(rules, u, checks.Reused)
	var ok bool
	if kept.source, ok = c.sourceAt[u.SourceID]; !ok {
		kept.source = uint32(len(c.sources))
		c.sourceAt[u.SourceID] = kept.source
		c.sources = append(c.sources, keptSource{u.SourceID, m.Key, compared.Meaning(h, u.Source), u.Words, u.Chars})
	}
	if kept.mask, ok = c.maskAt[mask]; !ok {
		kept.mask = uint16(len(c.masks))
		c.maskAt[mask] = kept.mask
		c.masks = append(c.masks, mask)
	}
	return kept
}

// unitID is the id of a unit.
func (c *keptComponent) unitID(u *keptUnit) int64 {
	return c.id*catalog.UnitsPerComponent + int64(u.unit)
}

// addKept is put for the units of a kept translation.
func (n *comparison) addKept(s *scope, t *keptTranslation) {
	for i := range t.units {
		u := &t.units[i]
		u.inconsistent.fails, u.reused.fails = false, false // from a transaction that was tried before
		c := compared.Member{Key: t.sources[u.source].key, Value: u.value, Unit: t.unitID(u)}
		if s.Sole == 0 {
			n.change(s, memberChange{Member: c, kept: u, runs: u.inconsistent.runs})
		}
		if u.byTarget {
			n.change(s, memberChange{Member: c.ByTarget(t.sources[u.source].meaning), kept: u, runs: u.reused.runs})
		}
	}
}

// storeKept has store store which checks of kept units fail.
func (f *failures) storeKept(ctx context.Context, t *keptTranslation) error {
	for i := range t.units {
		u := &t.units[i]
		mask := t.masks[u.mask].Set(checks.Inconsistent, u.inconsistent.fails).Set(checks.Reused, u.reused.fails)
		if mask.IsZero() {
			continue
		}
		if f.buffer == nil {
			f.buffer = make([]catalog.Unit, failingAtATime)
		}
		of := &t.sources[u.source]
		unit := &f.buffer[len(f.waiting)]
		*unit = catalog.Unit{ID: t.unitID(u), TranslationID: t.row, SourceID: of.unit, Words: of.words, Chars: of.chars}
		if err := f.set(ctx, unit, mask); err != nil {
			return err
		}
	}
	return nil
}

// scopedTranslation is a translation with the scope that its units are compared in.
type scopedTranslation struct {
	row   catalog.Translation
	rules string
	scope *scope
	kept  *keptTranslation // or nil
}

// AddUncompared adds the units of the uncompared and of the kept translations of components
// to those that Run compares, up to together changes of groups at a time.
func (k *Step) AddUncompared(ctx context.Context, comps []*Component, kept Kept, together int) error {
	n := &k.comparison
	n.together = together
	list, err := n.uncompared(ctx, comps, kept)
	if err != nil {
		return err
	}
	n.kept = kept
	slices.SortStableFunc(list, func(a, b scopedTranslation) int { return cmp.Compare(a.scope.ID, b.scope.ID) })
	for i := range list {
		t := &list[i]
		if t.scope.Sole == t.row.ID && i+1 < len(list) && list[i+1].scope == t.scope {
			err = n.share(ctx, t.scope) // before it has members
		} else {
			err = n.joinScope(ctx, t.scope, t.row.ID)
		}
		if err != nil {
			return err
		}
		n.rules[t.row.ID] = t.rules
		if err := n.tx.SetChecked(ctx, t.row.ID, t.rules, t.scope.ID); err != nil {
			return err
		}
		if t.kept != nil {
			n.addKept(t.scope, t.kept)
		} else if err := n.tx.ComparedOf(ctx, t.row.ID, func(u *catalog.Unit) { n.putUnit(t.scope, t.rules, u) }); err != nil {
			return err
		}
		if err := n.flushLarge(ctx); err != nil {
			return err
		}
	}
	return k.storeAllKept(ctx, list)
}

// uncompared lists the translations that AddUncompared compares.
func (n *comparison) uncompared(ctx context.Context, comps []*Component, kept Kept) (list []scopedTranslation, err error) {
	for _, c := range comps {
		rows, err := n.tx.Translations(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			t := scopedTranslation{row: rows[i], rules: Rules(c, &rows[i])}
			t.kept = kept.of(&t.row, t.rules)
			if t.row.Removed || t.kept == nil && t.row.Checked != uncomparedRules(t.rules) {
				continue
			}
			if t.scope, err = n.findScope(ctx, c.ProjectID, &t.row, t.rules); err != nil {
				return nil, err
			}
			list = append(list, t)
		}
	}
	return list, nil
}

// storeAllKept stores which checks of kept units fail, in the order of units, once all are
// compared.
func (k *Step) storeAllKept(ctx context.Context, list []scopedTranslation) error {
	if err := k.comparison.flush(ctx); err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b scopedTranslation) int { return cmp.Compare(a.row.ID, b.row.ID) })
	for i := range list {
		if t := list[i].kept; t != nil {
			if err := k.failures.storeKept(ctx, t); err != nil {
				return err
			}
		}
	}
	k.comparison.kept = nil
	return k.failures.store(ctx)
}
