package ingest

import (
	"context"
	"maps"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

// comparison runs the checks that compare units of a project in one language:
// inconsistent and reused. Which units share a source or a target is looked up
// in check_compare_find.go only.
type comparison struct {
	tx *store.StepTx
	// whole is the translation of which all units are being compared, or 0.
	whole int64
	// rulesChanged has the translations that were compared with other rules
	// before the step.
	rulesChanged map[int64]bool
	// affected has the units elsewhere whose result may change, since a unit
	// that they are compared with did.
	affected map[int64]struct{}
	// peers and common keep what was loaded: translations by language, and the
	// id_hashes that two components share.
	peers  map[languageKey][]store.Peer
	common map[componentPair]map[int64]struct{}
}

// componentPair names a component and another one that it is compared with.
type componentPair struct{ own, other int64 }

func newComparison(tx *store.StepTx) comparison {
	return comparison{
		tx: tx, rulesChanged: map[int64]bool{}, affected: map[int64]struct{}{},
		peers: map[languageKey][]store.Peer{}, common: map[componentPair]map[int64]struct{}{},
	}
}

// comparedUnits are units of one translation that are compared with units of other
// translations.
type comparedUnits struct {
	project int64
	in      store.Peer
	units   []*store.CheckUnit
	masks   []checks.Mask            // parallel to units; the checks that fail are added
	changed bool                     // the step changed the units, so units that they are compared with are affected
	index   map[catalog.Identity]int // of units; made when it is needed
}

// peerOf converts a translation to the form that the store returns the translations
// of a project in.
func peerOf(t *catalog.Translation) store.Peer {
	return store.Peer{
		ID: t.ID, ComponentID: t.ComponentID, Language: t.Language,
		PluralNumber: t.PluralNumber, PluralFormula: t.PluralFormula, IsSource: t.IsSource, Checked: t.Checked,
	}
}

// run compares units, if any and if their translation is compared at all.
func (n *comparison) run(ctx context.Context, b *comparedUnits) error {
	if !hasRule(b.in.Checked, ruleCompared) || len(b.units) == 0 {
		return nil
	}
	peers, err := n.peersOf(ctx, b.project, b.in.Language)
	if err != nil {
		return err
	}
	if err := n.inconsistent(ctx, b, peers); err != nil {
		return err
	}
	alone := !slices.ContainsFunc(peers, func(p store.Peer) bool { return p.ID != b.in.ID && canCompare(&b.in, &p) })
	if n.whole == b.in.ID && !n.rulesChanged[b.in.ID] && alone {
		reusedWithin(b)
		return nil
	}
	return n.reused(ctx, b, peers)
}

// peersOf returns the translations of a project into a language whose units are
// compared.
func (n *comparison) peersOf(ctx context.Context, project int64, language string) ([]store.Peer, error) {
	key := languageKey{project, language}
	if list, ok := n.peers[key]; ok {
		return list, nil
	}
	list, err := n.tx.Peers(ctx, project, []string{language})
	list = slices.DeleteFunc(list, func(p store.Peer) bool { return !hasRule(p.Checked, ruleCompared) })
	n.peers[key] = list
	return list, err
}

// forgetPeers has the translations loaded again: the rules of one changed.
func (n *comparison) forgetPeers() { n.peers = map[languageKey][]store.Peer{} }

// canCompare reports whether the units of two translations into a language can
// be compared. Public ones are not compared with private ones, so that their
// checks reveal nothing.
func canCompare(a, b *store.Peer) bool {
	return hasRule(a.Checked, rulePrivate) == hasRule(b.Checked, rulePrivate) && a.PluralNumber == b.PluralNumber && a.PluralFormula == b.PluralFormula &&
		a.IsSource == b.IsSource && sourceLanguage(a.Checked) == sourceLanguage(b.Checked)
}

// affectsAll reports whether units of translations that are not comparable with
// b's are affected as well: before the rules of b's translation changed they may
// have been comparable.
func (n *comparison) affectsAll(b *comparedUnits) bool { return b.changed && n.rulesChanged[b.in.ID] }

// decides reports whether a check across units, which has a letter in rules,
// runs on a unit of a translation.
func decides(in *store.Peer, letter rune, u *store.CheckUnit, id checks.ID) bool {
	return hasRule(in.Checked, letter) && u.State != catalog.StateReadOnly && !u.Removed && !ignores(u.Flags, id)
}

func (k *checkup) compareAffected(ctx context.Context) error {
	groups := map[int64][]*store.CheckUnit{} // by translation
	if err := k.tx.UnitsByID(ctx, slices.Sorted(maps.Keys(k.comparison.affected)), func(u *store.CheckUnit) error {
		if !u.Removed {
			groups[u.TranslationID] = append(groups[u.TranslationID], u)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		project, in, err := k.tx.PeerByID(ctx, id)
		if err != nil {
			return err
		}
		if in.Checked == "" {
			continue // it is checked as a whole, later
		}
		b := &comparedUnits{project: project, in: in, units: groups[id], masks: make([]checks.Mask, len(groups[id]))}
		if err := k.comparison.run(ctx, b); err != nil {
			return err
		}
		for i, u := range b.units {
			mask := checks.Mask(u.Failing).Without(checks.Inconsistent).Without(checks.Reused)
			if err := k.failures.setTarget(ctx, u, mask.Or(b.masks[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// inconsistent runs the check inconsistent: another component translates the
// same source string in another way.
func (n *comparison) inconsistent(ctx context.Context, b *comparedUnits, peers []store.Peer) error {
	for i := range peers {
		peer := &peers[i]
		same := canCompare(&b.in, peer)
		if peer.ComponentID == b.in.ComponentID || !same && !n.affectsAll(b) {
			continue
		}
		if err := n.sameSource(ctx, b, peer, func(i int, v *store.CheckUnit) {
			if b.changed {
				n.affected[v.ID] = struct{}{}
			}
			u := b.units[i]
			if same && decides(&b.in, ruleInconsistent, u, checks.Inconsistent) && checks.IsInconsistent(sibling(&u.Unit), sibling(&v.Unit)) {
				b.masks[i] = b.masks[i].With(checks.Inconsistent)
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// sibling returns what the check inconsistent compares of a unit.
func sibling(u *catalog.Unit) checks.Sibling {
	return checks.Sibling{Source: u.Source, Context: u.Context, Target: catalog.TrimForms(u.Target), State: u.State}
}

// reused runs the check reused: units with different sources have the same
// target.
func (n *comparison) reused(ctx context.Context, b *comparedUnits, peers []store.Peer) error {
	var same map[int64]bool // translations that b's is compared with
	sources := sourcesOfTargets{}
	if err := n.sameTarget(ctx, b, func(v *store.CheckUnit) {
		if same == nil {
			same = make(map[int64]bool, len(peers))
			for i := range peers {
				same[peers[i].ID] = canCompare(&b.in, &peers[i])
			}
		}
		if b.changed && (same[v.TranslationID] || n.affectsAll(b)) {
			n.affected[v.ID] = struct{}{}
		}
		if same[v.TranslationID] {
			sources.add(v)
		}
	}); err != nil {
		return err
	}
	sources.markReused(b)
	return nil
}

// reusedWithin runs the check reused on all units of a translation that is
// compared with no other one.
func reusedWithin(b *comparedUnits) {
	sources := make(sourcesOfTargets, len(b.units))
	for _, u := range b.units {
		if u.TargetHash != 0 {
			sources.add(u)
		}
	}
	sources.markReused(b)
}

// sourcesOfTargets has, by target hash, the first source seen and whether there
// was another one.
type sourcesOfTargets map[int64]sourcesOfTarget

type sourcesOfTarget struct {
	first   string
	several bool
}

func (s sourcesOfTargets) add(u *store.CheckUnit) {
	t, ok := s[u.TargetHash]
	switch {
	case !ok:
		s[u.TargetHash] = sourcesOfTarget{first: u.Source}
	case !t.several && t.first != u.Source:
		t.several = true
		s[u.TargetHash] = t
	}
}

func (s sourcesOfTargets) markReused(b *comparedUnits) {
	for i, u := range b.units {
		if u.TargetHash != 0 && s[u.TargetHash].several && b.in.PluralNumber > 1 && decides(&b.in, ruleReused, u, checks.Reused) {
			b.masks[i] = b.masks[i].With(checks.Reused)
		}
	}
}
