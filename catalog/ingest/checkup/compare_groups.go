package checkup

import (
	"cmp"
	"context"
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

// groupsAtATime is how many groups are read at a time.
const groupsAtATime = 2048

// apply stores the changes of the groups and returns what is to be stored of the
// members: of those that were added, and of others whose result changed.
func (s *scope) apply(ctx context.Context, tx *store.StepTx) (verdicts []verdict, err error) {
	if len(s.changes) == 0 {
		return nil, nil
	}
	slices.SortFunc(s.changes, func(a, b memberChange) int { return cmp.Or(a.Compare(&b.Member), cmp.Compare(b.order, a.order)) })
	rest := slices.CompactFunc(s.changes, func(a, b memberChange) bool { return a.Member == b.Member }) // the last of each
	for len(rest) > 0 {
		part := groupChanges{scope: s, tx: tx}
		rest = part.take(rest)
		if err := part.apply(ctx); err != nil {
			return nil, err
		}
		verdicts = append(verdicts, part.verdicts...)
	}
	s.changes, s.fresh = nil, false
	return verdicts, nil
}

// groupChanges are the changes of some groups of a scope.
type groupChanges struct {
	scope    *scope
	tx       *store.StepTx
	groups   []changedGroup
	verdicts []verdict
}

// changedGroup is a group with its changes, sorted by value and unit.
type changedGroup struct {
	key           int64
	changes       []memberChange
	before, after compared.GroupValues
	shrinks       bool // a member is removed
}

// take takes the changes of up to groupsAtATime groups and returns the rest.
func (g *groupChanges) take(changes []memberChange) (rest []memberChange) {
	for len(changes) > 0 && len(g.groups) < groupsAtATime {
		n := 1
		for n < len(changes) && changes[n].Key == changes[0].Key {
			n++
		}
		g.groups = append(g.groups, changedGroup{key: changes[0].Key, changes: changes[:n]})
		changes = changes[n:]
	}
	return changes
}

func (g *groupChanges) apply(ctx context.Context) error {
	for _, part := range []func(context.Context) error{g.readBefore, g.write, g.readAfter, g.judgeOthers} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	g.judgeAdded()
	return nil
}

// read reads the values of groups, to where into says; nil: those of a group are not needed.
func (g *groupChanges) read(ctx context.Context, into func(*changedGroup) *compared.GroupValues) error {
	var keys []int64
	for i := range g.groups {
		if into(&g.groups[i]) != nil {
			keys = append(keys, g.groups[i].key)
		}
	}
	values, err := g.tx.GroupValues(ctx, g.scope.ID, keys)
	for i := range g.groups {
		if to := into(&g.groups[i]); to != nil {
			*to = values[g.groups[i].key]
		}
	}
	return err
}

func (g *groupChanges) readBefore(ctx context.Context) error {
	if g.scope.fresh {
		return nil
	}
	return g.read(ctx, func(group *changedGroup) *compared.GroupValues { return &group.before })
}

// write stores the changes.
func (g *groupChanges) write(ctx context.Context) error {
	for i := range g.groups {
		group := &g.groups[i]
		group.after = group.before
		for j := range group.changes {
			c := &group.changes[j]
			if !c.gone {
				group.after.Add(c.Value)
				continue
			}
			group.shrinks = true
			if err := g.tx.DropMember(ctx, g.scope.ID, &c.Member); err != nil {
				return err
			}
		}
	}
	return g.tx.AddMembers(ctx, g.scope.ID, func(yield func(*compared.Member) bool) {
		for i := range g.groups {
			for j := range g.groups[i].changes {
				if c := &g.groups[i].changes[j]; !c.gone && !yield(&c.Member) {
					return
				}
			}
		}
	})
}

// readAfter reads the values of groups from which members were removed.
func (g *groupChanges) readAfter(ctx context.Context) error {
	return g.read(ctx, func(group *changedGroup) *compared.GroupValues {
		if !group.shrinks {
			return nil
		}
		return &group.after
	})
}

// judgeOthers finds the members that were not changed themselves but whose result
// changed.
func (g *groupChanges) judgeOthers(ctx context.Context) error {
	var keys []int64
	at := map[int64]*changedGroup{}
	for i := range g.groups {
		if group := &g.groups[i]; othersChange(&group.before, &group.after) {
			keys = append(keys, group.key)
			at[group.key] = group
		}
	}
	return g.tx.GroupMembers(ctx, g.scope.ID, keys, func(c compared.Member) {
		group := at[c.Key]
		_, added := slices.BinarySearchFunc(group.changes, c, func(m memberChange, c compared.Member) int { return m.Compare(&c) })
		if fails := memberFails(&group.after, c.Value); !added && fails != memberFails(&group.before, c.Value) {
			g.verdicts = append(g.verdicts, verdict{c.Unit, checkOf(&c), fails})
		}
	})
}

// judgeAdded decides about the added members.
func (g *groupChanges) judgeAdded() {
	for i := range g.groups {
		group := &g.groups[i]
		for j := range group.changes {
			c := &group.changes[j]
			fails := c.runs && memberFails(&group.after, c.Value)
			switch {
			case c.kept != nil:
				c.kept.of(&c.Member).fails = fails
			case !c.gone && fails != c.fails:
				g.verdicts = append(g.verdicts, verdict{c.Unit, checkOf(&c.Member), fails})
			}
		}
	}
}

// memberFails reports whether a member with a value fails in a group: whether
// another member has another value, and one of the two is translated.
func memberFails(g *compared.GroupValues, value int64) bool {
	if value < 0 {
		return g.Translated.Some && !onlyHas(&g.Translated, ^value)
	}
	return !onlyHas(&g.Translated, value) || !onlyHas(&g.Untranslated, ^value)
}

// onlyHas reports whether a range has no value but one.
func onlyHas(r *compared.ValueRange, value int64) bool {
	return !r.Some || r.Min == value && r.Max == value
}

// othersChange reports whether the result of a member that is in a group before
// and after a change may differ.
func othersChange(before, after *compared.GroupValues) bool {
	if before.Translated.Some && after.Translated.Some && severalValues(before) != severalValues(after) {
		return true
	}
	if !before.Untranslated.Some || !after.Untranslated.Some {
		return false
	}
	a, b := &before.Translated, &after.Translated
	if a.Some && b.Some && a.Min != a.Max && b.Min != b.Max {
		return false // all untranslated members fail
	}
	return *a != *b
}

// severalValues reports whether not all members of a group with a translated one
// have the same target or source.
func severalValues(g *compared.GroupValues) bool {
	return !onlyHas(&g.Translated, g.Translated.Min) || !onlyHas(&g.Untranslated, ^g.Translated.Min)
}
