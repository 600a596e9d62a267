package checkup

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/compared"
)

// comparison runs the checks that compare units of a project in one language:
// inconsistent and reused. Units are compared within a scope: the translations of
// one language that have the same plural rule and source language and are all
// public or all private. The store keeps the groups of a scope, units with the
// same source and units with the same target. A step changes who is a member of
// which group, and only where that changes who fails are other members read.
//
// put, leave and drop collect the changes; flush stores them and what fails now.
type comparison struct {
	tx       *store.StepTx
	failures *failures
	hasher   catalog.Hasher
	scopes   map[scopeKey]*scope
	byID     map[int64]*scope
	rules    map[int64]string // of translations, by id: Translation.Checked
	pending  int              // changes to flush
	passed   []verdict        // that wait for flush
	kept     Kept             // units whose verdicts wait until AddUncompared has stored them
	together int              // changes to flush at a time
}

// scopeKey names a scope.
type scopeKey struct {
	project int64
	rule    string
}

// MaxPending is up to how many changes of groups are collected: 40 bytes each. The
// more, the fewer look-ups for the groups of a project's new components.
const MaxPending = 1 << 18

// checkOf returns the check that a group decides.
func checkOf(c *compared.Member) checks.ID {
	if c.SameTarget() {
		return checks.Reused
	}
	return checks.Inconsistent
}

// decides reports whether a check that compares units runs on a unit of a
// translation with given rules.
func decides(rules string, u *catalog.Unit, id checks.ID) bool {
	letter := ruleInconsistent
	if id == checks.Reused {
		letter = ruleReused
	}
	return hasRule(rules, letter) && u.State != catalog.StateReadOnly && !u.Removed && !checks.Ignores(u.Flags, id)
}

// scopeFor returns the scope in which the units of a translation with given rules
// are compared, nil if they are not.
func (n *comparison) scopeFor(ctx context.Context, project int64, t *catalog.Translation, rules string) (*scope, error) {
	if !hasRule(rules, ruleCompared) || IsUncompared(rules) {
		return nil, nil
	}
	s, err := n.findScope(ctx, project, t, rules)
	if err != nil {
		return nil, err
	}
	return s, n.joinScope(ctx, s, t.ID)
}

// findScope returns the scope of a translation. Public translations are not
// compared with private ones, so that their checks reveal nothing.
func (n *comparison) findScope(ctx context.Context, project int64, t *catalog.Translation, rules string) (*scope, error) {
	key := scopeKey{project, fmt.Sprintf("%s:%t:%s:%d:%s", t.Language, hasRule(rules, rulePrivate), sourceLanguage(rules), t.PluralNumber, t.PluralFormula)}
	s := n.scopes[key]
	if s == nil {
		stored, made, err := n.tx.FindScope(ctx, project, key.rule, t.PluralNumber, t.ID)
		if err != nil {
			return nil, err
		}
		s = n.scope(stored)
		s.fresh = made
		n.scopes[key] = s
	}
	return s, nil
}

func (n *comparison) scope(stored compared.Scope) *scope {
	s := n.byID[stored.ID]
	if s == nil {
		s = &scope{Scope: stored}
		n.byID[stored.ID] = s
	}
	return s
}

// joinScope prepares a scope for a translation: if another one was its sole
// translation, its units are grouped by source now.
func (n *comparison) joinScope(ctx context.Context, s *scope, translation int64) error {
	sole := s.Sole
	if sole == 0 || sole == translation {
		return nil
	}
	if err := n.share(ctx, s); err != nil {
		return err
	}
	rules, err := n.rulesOf(ctx, sole)
	if err != nil {
		return err
	}
	return n.tx.ComparedOf(ctx, sole, func(u *catalog.Unit) {
		n.change(s, newMember(compared.BySource(&n.hasher, u), rules, u))
	})
}

// share has a scope group units by source from now on.
func (n *comparison) share(ctx context.Context, s *scope) error {
	s.Sole = 0
	return n.tx.ShareScope(ctx, s.ID)
}

// rulesOf returns the rules with which a translation was checked; "" if it was not
// checked, or is gone.
func (n *comparison) rulesOf(ctx context.Context, translation int64) (string, error) {
	if rules, ok := n.rules[translation]; ok {
		return rules, nil
	}
	peer, err := n.tx.PeerByID(ctx, translation)
	n.rules[translation] = peer.Checked
	return peer.Checked, err
}

// put compares live units of a translation from now on; s is nil if they are not
// compared. It adds to masks, which has the results of other checks, the stored
// results of these checks that hold until flush changes them.
func (n *comparison) put(s *scope, rules string, units []*catalog.Unit, masks []checks.Mask) {
	if s == nil {
		return
	}
	for i, u := range units {
		masks[i] = masks[i].Or(n.putUnit(s, rules, u))
	}
}

// putUnit is put for one unit. It returns the stored results of these checks.
func (n *comparison) putUnit(s *scope, rules string, u *catalog.Unit) (failing checks.Mask) {
	for c := range s.Members(&n.hasher, u) {
		m := newMember(c, rules, u)
		n.change(s, m)
		if m.fails {
			failing = failing.With(checkOf(&c))
		}
	}
	return failing
}

// newMember adds a unit to a group.
func newMember(c compared.Member, rules string, u *catalog.Unit) memberChange {
	check := checkOf(&c)
	runs := decides(rules, u, check)
	return memberChange{Member: c, runs: runs, fails: runs && checks.Mask(u.Failing).Has(check)}
}

// leave removes units of a translation from the groups of its scope.
func (n *comparison) leave(ctx context.Context, stored compared.Scope, translation int64, units []*catalog.Unit) error {
	if stored.ID == 0 {
		return nil
	}
	s := n.scope(stored)
	if s.Sole == translation {
		if err := n.share(ctx, s); err != nil {
			return err
		}
	}
	for _, u := range units {
		for c := range s.Members(&n.hasher, u) {
			n.drop(s, c)
		}
	}
	return nil
}

// change collects a change of a group.
func (n *comparison) change(s *scope, m memberChange) {
	m.order = int32(len(s.changes))
	s.changes = append(s.changes, m)
	n.pending++
}

func (n *comparison) drop(s *scope, c compared.Member) {
	n.change(s, memberChange{Member: c, gone: true})
}

// flushLarge flushes if many changes are collected. It must not be called while
// units are in memory, since it may change which of their checks fail.
func (n *comparison) flushLarge(ctx context.Context) error {
	if n.pending < n.together {
		return nil
	}
	return n.flush(ctx)
}

// flush stores the collected changes, and for all units which of these checks fail
// now.
func (n *comparison) flush(ctx context.Context) error {
	verdicts := n.passed
	n.passed = nil
	for _, id := range slices.Sorted(maps.Keys(n.byID)) {
		s := n.byID[id]
		found, err := s.apply(ctx, n.tx)
		if err != nil {
			return err
		}
		verdicts = append(verdicts, found...)
	}
	n.pending = 0
	verdicts = slices.DeleteFunc(verdicts, func(v verdict) bool {
		wait := n.kept[v.unit/catalog.UnitsPerComponent] != nil
		if wait {
			n.passed = append(n.passed, v)
		}
		return wait
	})
	slices.SortStableFunc(verdicts, func(a, b verdict) int { // the last of a check counts
		return cmp.Or(cmp.Compare(a.unit, b.unit), cmp.Compare(a.check, b.check))
	})
	for len(verdicts) > 0 {
		size := min(len(verdicts), verdictsAtATime)
		if err := n.store(ctx, verdicts[:size]); err != nil {
			return err
		}
		verdicts = verdicts[size:]
	}
	return nil
}

// verdictsAtATime is for how many verdicts units are read at a time.
const verdictsAtATime = 4096

// store stores verdicts, which are sorted by unit.
func (n *comparison) store(ctx context.Context, verdicts []verdict) error {
	units, err := n.verdictUnits(ctx, slices.Compact(catalog.Each(verdicts, func(v *verdict) int64 { return v.unit })))
	if err != nil {
		return err
	}
	for _, u := range units {
		for len(verdicts) > 0 && verdicts[0].unit < u.ID {
			verdicts = verdicts[1:]
		}
		rules, err := n.rulesOf(ctx, u.TranslationID)
		if err != nil {
			return err
		}
		if rules == "" || u.Removed {
			continue // the step checks it later
		}
		mask := checks.Mask(u.Failing)
		for ; len(verdicts) > 0 && verdicts[0].unit == u.ID; verdicts = verdicts[1:] {
			v := &verdicts[0]
			mask = mask.Set(v.check, v.fails && decides(rules, u, v.check))
		}
		if err := n.failures.set(ctx, u, mask); err != nil {
			return err
		}
	}
	return n.failures.store(ctx)
}

// verdictUnits reads units, by id. Only a report of new failures needs texts.
func (n *comparison) verdictUnits(ctx context.Context, ids []int64) ([]*catalog.Unit, error) {
	read := n.tx.VerdictUnits
	if n.failures.diff != nil {
		read = n.tx.UnitsByID
	}
	units, err := read(ctx, ids)
	slices.SortFunc(units, func(a, b *catalog.Unit) int { return cmp.Compare(a.ID, b.ID) })
	return units, err
}

// scope is a store.Scope with changes of its groups that are to be stored.
type scope struct {
	compared.Scope
	changes []memberChange
	fresh   bool // the store has no group of it yet
}

// memberChange adds a unit to a group, or removes it.
type memberChange struct {
	compared.Member
	kept  *keptUnit // has the verdict, if the unit is kept
	order int32     // later changes of a member win
	gone  bool      // removed
	runs  bool      // the check of the group runs on the unit
	fails bool      // the check is stored as failing
}

// verdict says whether a check of a unit fails.
type verdict struct {
	unit  int64
	check checks.ID
	fails bool
}

// changesAtATime is how many changes are applied at a time, with all of their last group.
const changesAtATime = 4096

// apply stores the changes of the groups and returns what is to be stored of the
// members: of those that were added, and of others whose result changed.
func (s *scope) apply(ctx context.Context, tx *store.StepTx) (verdicts []verdict, err error) {
	slices.SortFunc(s.changes, func(a, b memberChange) int { return cmp.Or(a.Compare(&b.Member), cmp.Compare(b.order, a.order)) })
	rest := slices.CompactFunc(s.changes, func(a, b memberChange) bool { return a.Member == b.Member }) // the last of each
	for len(rest) > 0 {
		n := min(len(rest), changesAtATime)
		for n < len(rest) && rest[n].Key == rest[n-1].Key {
			n++
		}
		part := groupChanges{scope: s, tx: tx, changes: rest[:n]}
		if err = part.write(ctx); err == nil {
			err = part.judge(ctx)
		}
		if err != nil {
			return nil, err
		}
		verdicts, rest = append(verdicts, part.verdicts...), rest[n:]
	}
	s.changes, s.fresh = nil, s.fresh && len(s.changes) == 0
	return verdicts, nil
}

// groupChanges are the changes of some groups of a scope, sorted by group, value and unit.
type groupChanges struct {
	scope         *scope
	tx            *store.StepTx
	changes       []memberChange
	keys          []int64 // of the groups
	before, after map[int64]compared.GroupValues
	verdicts      []verdict
}

// write stores the changes. The values of a group are read again if it lost a member.
func (g *groupChanges) write(ctx context.Context) (err error) {
	var lost []int64
	for i := range g.changes {
		g.keys = append(g.keys, g.changes[i].Key)
	}
	g.keys, g.before = slices.Compact(g.keys), map[int64]compared.GroupValues{}
	if !g.scope.fresh {
		if g.before, err = g.tx.GroupValues(ctx, g.scope.ID, g.keys); err != nil {
			return err
		}
	}
	g.after = maps.Clone(g.before)
	for i := range g.changes {
		c := &g.changes[i]
		if !c.gone {
			values := g.after[c.Key]
			values.Add(c.Value)
			g.after[c.Key] = values
			continue
		}
		lost = append(lost, c.Key)
		if err := g.tx.DropMember(ctx, g.scope.ID, &c.Member); err != nil {
			return err
		}
	}
	err = g.tx.AddMembers(ctx, g.scope.ID, func(yield func(*compared.Member) bool) {
		for i := range g.changes {
			if c := &g.changes[i]; !c.gone && !yield(&c.Member) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	lost = slices.Compact(lost)
	values, err := g.tx.GroupValues(ctx, g.scope.ID, lost)
	for _, key := range lost {
		g.after[key] = values[key]
	}
	return err
}

// judge decides about the added members, and finds the others whose result changed.
func (g *groupChanges) judge(ctx context.Context) error {
	for i := range g.changes {
		c := &g.changes[i]
		fails := c.runs && memberFails(g.after[c.Key], c.Value)
		switch {
		case c.kept != nil:
			c.kept.of(&c.Member).fails = fails
		case !c.gone && fails != c.fails:
			g.verdicts = append(g.verdicts, verdict{c.Unit, checkOf(&c.Member), fails})
		}
	}
	keys := slices.DeleteFunc(g.keys, func(key int64) bool { return !othersChange(g.before[key], g.after[key]) })
	return g.tx.GroupMembers(ctx, g.scope.ID, keys, func(c compared.Member) {
		_, added := slices.BinarySearchFunc(g.changes, c, func(m memberChange, c compared.Member) int { return m.Compare(&c) })
		if fails := memberFails(g.after[c.Key], c.Value); !added && fails != memberFails(g.before[c.Key], c.Value) {
			g.verdicts = append(g.verdicts, verdict{c.Unit, checkOf(&c), fails})
		}
	})
}

// memberFails reports whether a member with a value fails in a group: whether
// another member has another value, and one of the two is translated.
func memberFails(g compared.GroupValues, value int64) bool {
	if value < 0 {
		return g.Translated.Some && !g.Translated.Only(^value)
	}
	return !g.Translated.Only(value) || !g.Untranslated.Only(^value)
}

// othersChange reports whether the result of a member that is in a group before
// and after a change may differ.
func othersChange(before, after compared.GroupValues) bool {
	if before.Translated.Some && after.Translated.Some && severalValues(before) != severalValues(after) {
		return true
	}
	if !before.Untranslated.Some || !after.Untranslated.Some {
		return false
	}
	a, b := before.Translated, after.Translated
	if a.Some && b.Some && a.Min != a.Max && b.Min != b.Max {
		return false // all untranslated members fail
	}
	return a != b
}

// severalValues reports whether not all members of a group with a translated one
// have the same target or source.
func severalValues(g compared.GroupValues) bool {
	return !g.Translated.Only(g.Translated.Min) || !g.Untranslated.Only(^g.Translated.Min)
}
