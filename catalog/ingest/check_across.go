package ingest

import (
	"context"
	"maps"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/store"
)

// The checks that compare the units of a project look for their neighbours in
// two ways: by the hash of what is translated, in the translations of the same
// language, and by Echo, the hash of the translation.

// peersOf are the translations of a project that are compared with those of a
// language.
func (k *checkup) peersOf(ctx context.Context, project int64, language string) (peers, error) {
	key := peerKey{project, language}
	if list, ok := k.peers[key]; ok {
		return list, nil
	}
	list, err := k.tx.Peers(ctx, project, []string{language})
	list = slices.DeleteFunc(list, func(p store.Peer) bool { return !concerned(p.Checked, compared) })
	k.peers[key] = list
	return list, err
}

// alike reports whether the strings of two translations of a language can be
// compared: what a public string fails must not tell of private ones.
func alike(a, b *store.Peer) bool {
	return concerned(a.Checked, secret) == concerned(b.Checked, secret) && a.PluralNumber == b.PluralNumber && a.PluralFormula == b.PluralFormula && a.IsSource == b.IsSource && sourceOf(a.Checked) == sourceOf(b.Checked)
}

// across adds to masks, parallel to units of one translation, the checks that
// compare them with others. collect says that they changed: the others are
// looked at later.
func (k *checkup) across(ctx context.Context, project int64, here *store.Peer, units []*store.CheckUnit, masks []checks.Mask, collect bool) error {
	if !concerned(here.Checked, compared) || len(units) == 0 {
		return nil
	}
	all, err := k.peersOf(ctx, project, here.Language)
	if err != nil {
		return err
	}
	if err := k.inconsistent(ctx, project, here, all, units, masks, collect); err != nil {
		return err
	}
	if k.whole[here.ID] && !k.turned[here.ID] && !slices.ContainsFunc(all, func(p store.Peer) bool { return p.ID != here.ID && alike(here, &p) }) {
		reusedAmong(here, units, masks)
		return nil
	}
	return k.reused(ctx, here, all, units, masks, collect)
}

// reusedAmong decides about reused where nothing but units, all of a
// translation, is compared.
func reusedAmong(here *store.Peer, units []*store.CheckUnit, masks []checks.Mask) {
	sources := make(map[int64]sourceSet, len(units))
	for _, u := range units {
		if u.TargetHash != 0 {
			sources[u.TargetHash] = sources[u.TargetHash].with(u.Source)
		}
	}
	markReused(here, sources, units, masks)
}

func sibling(u *catalog.Unit) checks.Sibling {
	return checks.Sibling{Source: u.Source, Context: u.Context, Target: catalog.TrimForms(u.Target), State: u.State}
}

// parted reports whether translations that one is not compared with are looked
// at again all the same: another plural rule may have parted them just now.
func (k *checkup) parted(here *store.Peer, collect bool) bool { return collect && k.turned[here.ID] }

// judges reports whether a check across units runs on one of them.
func judges(here *store.Peer, letter rune, u *store.CheckUnit, id checks.ID) bool {
	return concerned(here.Checked, letter) && u.State != catalog.StateReadOnly && !u.Removed && !ignores(u.Flags, id)
}

func (k *checkup) inconsistent(ctx context.Context, project int64, here *store.Peer, all peers, units []*store.CheckUnit, masks []checks.Mask, collect bool) error {
	at := make(map[catalog.Identity]int, len(units))
	for i, u := range units {
		at[u.Identity] = i
	}
	for i := range all {
		peer := &all[i]
		same := alike(here, peer)
		if peer.ComponentID == here.ComponentID || !same && !k.parted(here, collect) {
			continue
		}
		hashes, err := k.common(ctx, project, here, peer, units)
		if err != nil {
			return err
		}
		if err := k.tx.UnitsByHash(ctx, peer.ID, hashes, func(v *store.CheckUnit) error {
			i, ok := at[v.Identity]
			if !ok {
				return nil
			}
			u := units[i]
			if collect {
				k.outside[v.ID] = struct{}{}
			}
			if same && judges(here, ofInconsistent, u, checks.Inconsistent) && checks.IsInconsistent(sibling(&u.Unit), sibling(&v.Unit)) {
				masks[i] = masks[i].With(checks.Inconsistent)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// fewHashes is up to how many strings are looked for in each translation of a
// language; with more, one finds out first what the components have in common.
const fewHashes = 64

// common returns those id_hashes of units that a peer's component may have.
func (k *checkup) common(ctx context.Context, project int64, here, peer *store.Peer, units []*store.CheckUnit) ([]int64, error) {
	hashes := make([]int64, len(units))
	for i, u := range units {
		hashes[i] = u.Identity.Hash
	}
	if len(hashes) <= fewHashes {
		return hashes, nil
	}
	shared, err := k.sharing(ctx, project, here, peer)
	if err != nil || shared == nil {
		return hashes, err
	}
	return slices.DeleteFunc(hashes, func(h int64) bool {
		_, ok := shared[h]
		return !ok
	}), nil
}

// sharing is what two components have in common, by their source strings; nil
// if those of the peer were not checked yet, or have gone.
func (k *checkup) sharing(ctx context.Context, project int64, here, peer *store.Peer) (sharing, error) {
	key := [2]int64{here.ComponentID, peer.ComponentID}
	if s, ok := k.shared[key]; ok {
		return s, nil
	}
	own, err := k.tx.SourceTranslation(ctx, here.ComponentID)
	if err != nil {
		return nil, err
	}
	theirs, err := k.tx.SourceTranslation(ctx, peer.ComponentID)
	if err != nil || own == 0 || theirs == 0 {
		return nil, err
	}
	hashes, err := k.tx.CommonHashes(ctx, own, theirs)
	if err != nil {
		return nil, err
	}
	s := make(sharing, len(hashes))
	for _, h := range hashes {
		s[h] = struct{}{}
	}
	k.shared[key] = s
	return s, nil
}

func (k *checkup) reused(ctx context.Context, here *store.Peer, all peers, units []*store.CheckUnit, masks []checks.Mask, collect bool) error {
	asked := make([]int64, 0, len(units))
	for _, u := range units {
		if u.TargetHash != 0 {
			asked = append(asked, u.TargetHash)
		}
	}
	several, err := k.tx.SharedTargetHashes(ctx, unique(asked))
	if err != nil || len(several) == 0 {
		return err
	}
	alikes := make(map[int64]bool, len(all))
	for i := range all {
		alikes[all[i].ID] = alike(here, &all[i])
	}
	sources := make(map[int64]sourceSet, len(several))
	if err := k.tx.UnitsByTargetHash(ctx, several, func(v *store.CheckUnit) error {
		same := alikes[v.TranslationID]
		if collect && (same || k.parted(here, collect)) {
			k.outside[v.ID] = struct{}{}
		}
		if !same {
			return nil
		}
		sources[v.TargetHash] = sources[v.TargetHash].with(v.Source)
		return nil
	}); err != nil {
		return err
	}
	markReused(here, sources, units, masks)
	return nil
}

func markReused(here *store.Peer, sources map[int64]sourceSet, units []*store.CheckUnit, masks []checks.Mask) {
	for i, u := range units {
		if u.TargetHash != 0 && sources[u.TargetHash].several && here.PluralNumber > 1 && judges(here, ofReused, u, checks.Reused) {
			masks[i] = masks[i].With(checks.Reused)
		}
	}
}

// sourceSet knows whether strings have more than one source.
type sourceSet struct {
	first   string
	some    bool
	several bool
}

func (s sourceSet) with(source string) sourceSet {
	if !s.some {
		return sourceSet{first: source, some: true}
	}
	s.several = s.several || s.first != source
	return s
}

// neighbours looks again at units of which neighbours changed.
func (k *checkup) neighbours(ctx context.Context) error {
	ids := slices.Sorted(maps.Keys(k.outside))
	groups := map[int64][]*store.CheckUnit{}
	if err := k.tx.UnitsByID(ctx, ids, func(u *store.CheckUnit) error {
		if !u.Removed {
			groups[u.TranslationID] = append(groups[u.TranslationID], u)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		project, here, err := k.tx.PeerByID(ctx, id)
		if err != nil {
			return err
		}
		if here.Checked == "" {
			continue // it is checked as a whole, later
		}
		units := groups[id]
		masks := make([]checks.Mask, len(units))
		if err := k.across(ctx, project, &here, units, masks, false); err != nil {
			return err
		}
		for i, u := range units {
			mask := checks.Mask(u.Failing).Without(checks.Inconsistent).Without(checks.Reused)
			if err := k.put(ctx, u, mask.Or(masks[i])); err != nil {
				return err
			}
		}
	}
	return nil
}
