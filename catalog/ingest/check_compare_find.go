package ingest

import (
	"context"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// maxHashLookups is up to how many strings are looked up in each translation of
// a language. For more, the id_hashes that the components share are read first.
const maxHashLookups = 64

// sameSource finds the units of a peer that share source and context with a unit
// of b, and calls found with the index of b's unit for each.
func (n *comparison) sameSource(ctx context.Context, b *comparedUnits, peer *store.Peer, found func(i int, v *store.CheckUnit)) error {
	hashes, err := n.hashesIn(ctx, b, peer)
	if err != nil {
		return err
	}
	if b.index == nil {
		b.index = make(map[catalog.Identity]int, len(b.units))
		for i, u := range b.units {
			b.index[u.Identity] = i
		}
	}
	return n.tx.UnitsByHash(ctx, peer.ID, hashes, func(v *store.CheckUnit) error {
		if i, ok := b.index[v.Identity]; ok {
			found(i, v)
		}
		return nil
	})
}

// hashesIn returns the id_hashes of b's units that a peer's component may have.
func (n *comparison) hashesIn(ctx context.Context, b *comparedUnits, peer *store.Peer) ([]int64, error) {
	hashes := make([]int64, len(b.units))
	for i, u := range b.units {
		hashes[i] = u.Identity.Hash
	}
	if len(hashes) <= maxHashLookups {
		return hashes, nil
	}
	common, err := n.commonHashes(ctx, componentPair{b.in.ComponentID, peer.ComponentID})
	if err != nil || common == nil {
		return hashes, err
	}
	return slices.DeleteFunc(hashes, func(h int64) bool {
		_, ok := common[h]
		return !ok
	}), nil
}

// commonHashes returns the id_hashes of the source strings that two components
// share; nil if one of them has no source translation.
func (n *comparison) commonHashes(ctx context.Context, pair componentPair) (map[int64]struct{}, error) {
	if common, ok := n.common[pair]; ok {
		return common, nil
	}
	own, err := n.tx.SourceTranslation(ctx, pair.own)
	if err != nil {
		return nil, err
	}
	other, err := n.tx.SourceTranslation(ctx, pair.other)
	if err != nil || own == 0 || other == 0 {
		return nil, err
	}
	hashes, err := n.tx.CommonHashes(ctx, own, other)
	if err != nil {
		return nil, err
	}
	common := make(map[int64]struct{}, len(hashes))
	for _, h := range hashes {
		common[h] = struct{}{}
	}
	n.common[pair] = common
	return common, nil
}

// sameTarget finds the units that share a target with another unit in b's
// language, for every target of b that several units have, and calls found for
// each, b's own units included.
func (n *comparison) sameTarget(ctx context.Context, b *comparedUnits, found func(v *store.CheckUnit)) error {
	hashes := make([]int64, 0, len(b.units))
	for _, u := range b.units {
		if u.TargetHash != 0 {
			hashes = append(hashes, u.TargetHash)
		}
	}
	shared, err := n.tx.SharedTargetHashes(ctx, unique(hashes))
	if err != nil || len(shared) == 0 {
		return err
	}
	return n.tx.UnitsByTargetHash(ctx, shared, func(v *store.CheckUnit) error {
		found(v)
		return nil
	})
}

// affectTargets marks the units with given targets as affected: a unit that the
// step changed had one of them before.
func (n *comparison) affectTargets(ctx context.Context, targetHashes []int64) error {
	return n.tx.UnitsByTargetHash(ctx, targetHashes, func(u *store.CheckUnit) error {
		n.affected[u.ID] = struct{}{}
		return nil
	})
}
