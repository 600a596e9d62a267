package ingest

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

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
