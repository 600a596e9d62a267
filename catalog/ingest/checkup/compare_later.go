package checkup

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// The units of several components that are checked one after the other (Step.Later) are
// compared in the end, scope by scope: so the rows of a scope's groups are stored once, in their
// order, instead of looked up for each component. Until then the rules of their
// translations are stored as uncompared, so that after a crash the next pull compares them.

// uncomparedRules are the rules of a translation that was checked with some rules, but not
// compared yet (store.UncomparedSuffix).
func uncomparedRules(rules string) string { return rules + store.UncomparedSuffix }

// IsUncompared reports whether a translation that was checked with some rules is not
// compared yet.
func IsUncompared(rules string) bool { return strings.HasSuffix(rules, store.UncomparedSuffix) }

// scopedTranslation is a translation with the scope that its units are compared in.
type scopedTranslation struct {
	row   catalog.Translation
	rules string
	scope *scope
}

// AddUncompared adds the units of the uncompared translations of components to those that
// Run compares.
func (k *Step) AddUncompared(ctx context.Context, comps []*Component) error {
	if err := k.comparison.addUncompared(ctx, comps); err != nil {
		return fmt.Errorf("check strings of one project: %w", err)
	}
	return nil
}

func (n *comparison) addUncompared(ctx context.Context, comps []*Component) error {
	var list []scopedTranslation
	for _, c := range comps {
		rows, err := n.tx.Translations(ctx, c.ID)
		if err != nil {
			return err
		}
		for i := range rows {
			rules := Rules(c, &rows[i])
			if rows[i].Removed || rows[i].Checked != uncomparedRules(rules) {
				continue
			}
			s, err := n.findScope(ctx, c.ProjectID, &rows[i], rules)
			if err != nil {
				return err
			}
			list = append(list, scopedTranslation{rows[i], rules, s})
		}
	}
	slices.SortStableFunc(list, func(a, b scopedTranslation) int { return cmp.Compare(a.scope.ID, b.scope.ID) })
	for i := range list {
		if err := n.addTranslation(ctx, &list[i]); err != nil {
			return err
		}
		if err := n.flushLarge(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (n *comparison) addTranslation(ctx context.Context, t *scopedTranslation) error {
	if err := n.joinScope(ctx, t.scope, t.row.ID); err != nil {
		return err
	}
	n.rules[t.row.ID] = t.rules
	if err := n.tx.SetChecked(ctx, t.row.ID, t.rules, t.scope.ID); err != nil {
		return err
	}
	return n.tx.ComparedOf(ctx, t.row.ID, func(u *store.CheckUnit) { n.putUnit(t.scope, t.rules, u) })
}
