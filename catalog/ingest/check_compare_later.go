package ingest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

// uncompared collects translations of several components that were checked, each
// component in a transaction of its own, until their units are compared with each
// other in one transaction: scope by scope, so that the rows of a scope's groups are
// stored once and in their order, and each unit's failing checks once, in the order of
// units. Until then the store has the translations as not checked, so that after a
// crash, or where the transaction fails, they are checked again.
type uncompared struct {
	translations []*uncomparedTranslation
	units        int
	bounds       compareBounds
	byID         map[int64]*uncomparedTranslation
	strings      *uncomparedStrings // of the component that was collected last
}

// compareBounds are the bounds of an uncompared.
type compareBounds struct {
	// units is how many units are collected: 24 bytes each, and as many for those that
	// fail a check.
	units int
	// together is how many units of a scope are compared at a time: 80 bytes each.
	together int
}

func defaultCompareBounds() compareBounds { return compareBounds{units: 3 << 19, together: 1 << 17} }

func (s *Syncer) newUncompared() *uncompared {
	return &uncompared{bounds: s.compared, byID: map[int64]*uncomparedTranslation{}}
}

type uncomparedTranslation struct {
	comp    *component
	row     catalog.Translation
	rules   string
	strings *uncomparedStrings
	units   []uncomparedUnit
	failing []uncomparedFailure // of units that are toStore, in their order
}

// uncomparedStrings are the source strings of a component that has translations.
type uncomparedStrings struct {
	component int64
	list      []uncomparedString
	at        map[int64]uint32 // by unit; only while the component is collected
}

// uncomparedString is what the translations of a source string have in common.
type uncomparedString struct {
	unit         int64
	key, meaning int64 // of groups by source, and in groups by target
	words, chars int
}

type uncomparedUnit struct {
	value   int64  // in the group by source
	unit    uint32 // the id within the component
	string  uint32
	compare unitBits
}

type unitBits uint8

const (
	toStore           unitBits = 1 << iota // without stored failures: they are stored once the unit was compared
	byTarget                               // it is in a group by target
	runsInconsistent                       // the check runs on it
	runsReused                             // the check runs on it
	failsInconsistent                      // as far as it was compared
	failsReused                            // as far as it was compared
)

// uncomparedFailure has the failing checks of a unit that compare nothing.
type uncomparedFailure struct {
	unit int32 // its index
	mask checks.Mask
}

// add collects the units of a translation, as comparison.put does. In masks it
// leaves what is to be stored before the units are compared: no change, for units
// without stored failures.
func (l *uncompared) add(c *component, t *catalog.Translation, h *catalog.Hasher, units []*store.CheckUnit, masks []checks.Mask) {
	one := l.byID[t.ID]
	if one == nil {
		one = &uncomparedTranslation{comp: c, row: *t, rules: t.Checked, strings: l.stringsOf(c.row.ID)}
		l.translations, l.byID[t.ID] = append(l.translations, one), one
	}
	before := len(one.units)
	one.units = slices.Grow(one.units, len(units))[:before+len(units)]
	s := store.Scope{PluralNumber: t.PluralNumber}
	for i, u := range units {
		to := &one.units[before+i]
		member, _ := s.BySource(h, &u.Unit)
		to.value, to.unit, to.string = member.Value, uint32(u.ID%catalog.UnitsPerComponent), one.strings.note(u, &member)
		to.compare = compareBits(&s, t.Checked, u)
		if to.compare.has(byTarget) {
			one.strings.list[to.string].mean(h, u.Source)
		}
		masks[i] = masks[i].Or(to.compare.failing())
		if checks.Mask(u.Failing) != (checks.Mask{}) {
			continue
		}
		to.compare |= toStore
		if masks[i] != (checks.Mask{}) {
			one.failing = append(one.failing, uncomparedFailure{int32(before + i), masks[i]})
			masks[i] = checks.Mask{}
		}
	}
	l.units += len(units)
}

// stringsOf returns the strings of the component that is collected.
func (l *uncompared) stringsOf(component int64) *uncomparedStrings {
	if l.strings == nil || l.strings.component != component {
		if l.strings != nil {
			l.strings.at = nil
		}
		l.strings = &uncomparedStrings{component: component, at: map[int64]uint32{}}
	}
	return l.strings
}

// note returns the index of a unit's source string.
func (l *uncomparedStrings) note(u *store.CheckUnit, member *store.ComparedUnit) uint32 {
	i, ok := l.at[u.SourceID]
	if !ok {
		i = uint32(len(l.list))
		l.at[u.SourceID] = i
		l.list = append(l.list, uncomparedString{unit: u.SourceID, key: member.Key, words: u.Words, chars: u.Chars})
	}
	return i
}

// mean notes the source.
func (s *uncomparedString) mean(h *catalog.Hasher, source string) {
	if s.meaning == 0 {
		s.meaning = store.Meaning(h, source)
	}
}

// compareBits returns in which groups a unit is, which checks that compare run on it,
// and which of them are stored as failing.
func compareBits(s *store.Scope, rules string, u *store.CheckUnit) (bits unitBits) {
	failing := checks.Mask(u.Failing)
	if decides(rules, &u.Unit, checks.Inconsistent) {
		bits |= runsInconsistent
		if failing.Has(checks.Inconsistent) {
			bits |= failsInconsistent
		}
	}
	if !s.GroupsByTarget(&u.Unit) {
		return bits
	}
	bits |= byTarget
	if decides(rules, &u.Unit, checks.Reused) {
		bits |= runsReused
		if failing.Has(checks.Reused) {
			bits |= failsReused
		}
	}
	return bits
}

// has reports whether all of some bits are set.
func (b unitBits) has(bits unitBits) bool { return b&bits == bits }

// failing returns the failing checks that compare.
func (b unitBits) failing() (mask checks.Mask) {
	if b.has(failsInconsistent) {
		mask = mask.With(checks.Inconsistent)
	}
	if b.has(failsReused) {
		mask = mask.With(checks.Reused)
	}
	return mask
}

// decide sets whether a check fails.
func (b *unitBits) decide(v *verdict) {
	bit := failsInconsistent
	if v.check == checks.Reused {
		bit = failsReused
	}
	*b &^= bit
	if v.fails {
		*b |= bit
	}
}

// undo forgets the translations after the first n, whose transaction failed.
func (l *uncompared) undo(n int) {
	if l == nil {
		return
	}
	for _, t := range l.translations[n:] {
		l.units -= len(t.units)
		delete(l.byID, t.row.ID)
	}
	l.translations, l.strings = l.translations[:n], nil
}

func (l *uncompared) len() int {
	if l == nil {
		return 0
	}
	return len(l.translations)
}

// addAll compares the units of collected translations and stores which of their
// checks fail. What that changes for others, flush stores.
func (n *comparison) addAll(ctx context.Context, l *uncompared) error {
	coming := make(map[int64]bool, len(l.translations))
	for _, t := range l.translations {
		coming[t.row.ID] = true
	}
	in := map[*scope][]*uncomparedTranslation{}
	for _, t := range l.translations {
		s, err := n.joinCollected(ctx, t, coming)
		if err != nil {
			return err
		}
		in[s] = append(in[s], t)
	}
	for _, s := range slices.SortedFunc(maps.Keys(in), func(a, b *scope) int { return cmp.Compare(a.ID, b.ID) }) {
		for list := in[s]; len(list) > 0; {
			some, units := 0, 0
			for some < len(list) && (some == 0 || units+len(list[some].units) <= l.bounds.together) {
				units += len(list[some].units)
				some++
			}
			if err := n.compareTogether(ctx, s, list[:some]); err != nil {
				return err
			}
			list = list[some:]
		}
	}
	return n.storeCollected(ctx, l)
}

// joinCollected stores a collected translation as checked and returns its scope.
func (n *comparison) joinCollected(ctx context.Context, t *uncomparedTranslation, coming map[int64]bool) (*scope, error) {
	s, err := n.findScope(ctx, t.comp.row.ProjectID, &t.row, t.rules)
	if err == nil {
		err = n.joinScope(ctx, s, t.row.ID, coming[s.Sole])
	}
	if err == nil {
		err = n.tx.SetFirstChecked(ctx, t.row.ID, t.rules, s.ID)
	}
	n.rules[t.row.ID] = t.rules
	return s, err
}

// compareTogether compares the units of some translations of a scope.
func (n *comparison) compareTogether(ctx context.Context, s *scope, list []*uncomparedTranslation) error {
	var units []*uncomparedUnit
	first := int32(len(s.changes)) + 1
	for _, t := range list {
		for i := range t.units {
			u := &t.units[i]
			order := first + 2*int32(len(units))
			units = append(units, u)
			member := t.member(u)
			switch {
			case s.Sole == 0:
				s.changes = append(s.changes, memberChange{ComparedUnit: member, order: order, runs: u.compare.has(runsInconsistent), fails: u.compare.has(failsInconsistent)})
			case u.compare.has(failsInconsistent): // the only translation of its scope
				n.judge(u, &verdict{unit: member.Unit, check: checks.Inconsistent})
			}
			if u.compare.has(byTarget) {
				member = member.ByTarget(t.strings.list[u.string].meaning)
				s.changes = append(s.changes, memberChange{ComparedUnit: member, order: order + 1, runs: u.compare.has(runsReused), fails: u.compare.has(failsReused)})
			}
		}
	}
	verdicts, err := s.apply(ctx, n.tx)
	for i := range verdicts {
		v := &verdicts[i]
		if v.order < first {
			n.passed = append(n.passed, *v)
		} else {
			n.judge(units[(v.order-first)/2], v)
		}
	}
	return err
}

// judge applies a verdict to a collected unit, or leaves it to flush if the unit has
// stored failures.
func (n *comparison) judge(u *uncomparedUnit, v *verdict) {
	if u.compare.decide(v); !u.compare.has(toStore) {
		n.passed = append(n.passed, *v)
	}
}

// member returns a unit as a member of the group of its source.
func (t *uncomparedTranslation) member(u *uncomparedUnit) store.ComparedUnit {
	return store.ComparedUnit{Key: t.strings.list[u.string].key, Value: u.value, Unit: t.comp.row.ID*catalog.UnitsPerComponent + int64(u.unit)}
}

// storeCollected stores which checks of collected units fail.
func (n *comparison) storeCollected(ctx context.Context, l *uncompared) error {
	for _, t := range l.translations {
		failing := t.failing
		unit := store.CheckUnit{Unit: catalog.Unit{TranslationID: t.row.ID}}
		for i := range t.units {
			u := &t.units[i]
			mask := u.compare.failing()
			if len(failing) > 0 && int(failing[0].unit) == i {
				mask, failing = mask.Or(failing[0].mask), failing[1:]
			}
			if !u.compare.has(toStore) || mask == (checks.Mask{}) {
				continue
			}
			of := &t.strings.list[u.string]
			unit.ID, unit.SourceID, unit.Words, unit.Chars, unit.Failing = t.member(u).Unit, of.unit, of.words, of.chars, checks.Mask{}
			if err := n.failures.setTarget(ctx, &unit, mask); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareLater has the units of several components compared in a transaction of
// their own, when compareCollected is called.
func (p *pull) compareLater(comps []*component) {
	apart := slices.ContainsFunc(comps, func(c *component) bool { return c.row.Head != comps[0].row.Head })
	if len(comps) > 1 && !apart {
		p.uncompared = p.s.newUncompared()
	}
}

// compareCollected compares the units of the collected translations, if there are
// many or no more come. Where that fails, recheckAll checks them again.
func (p *pull) compareCollected(ctx context.Context, last bool) {
	if err := p.compareAll(ctx, last); err != nil {
		p.s.log.Debug("strings were not compared", "branch", p.branch.Key, "error", err)
	}
}

func (p *pull) compareAll(ctx context.Context, last bool) error {
	l := p.uncompared
	if l == nil || !last && l.units < p.s.compared.units {
		return nil
	}
	if p.uncompared = nil; !last {
		p.uncompared = p.s.newUncompared()
	}
	if len(l.translations) == 0 {
		return nil
	}
	comps := make([]*component, len(l.translations))
	for i := range l.translations {
		comps[i] = l.translations[i].comp
	}
	slices.SortFunc(comps, func(a, b *component) int { return cmp.Compare(a.row.ID, b.row.ID) })
	comps = slices.Compact(comps)
	info := p.stepInfo(ctx, move{convoy: comps, from: comps[0].row.Head, to: comps[0].row.Head})
	info.Reread = false
	return p.transact(ctx, info, func(ctx context.Context, tx *store.StepTx) error {
		k := newCheckup(tx)
		if err := k.comparison.addAll(ctx, l); err != nil {
			return fmt.Errorf("check strings of one project: %w", err)
		}
		return k.run(ctx, nil)
	})
}
