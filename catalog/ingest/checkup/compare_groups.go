package checkup

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/compared"
)

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
