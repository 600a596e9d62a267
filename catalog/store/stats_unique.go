package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/repoglot/repoglot/catalog"
)

// uniqueCache keeps the results of UniqueStats. Keys are hashes of the counted
// translations and their generations, so entries are never stale. It is safe for
// concurrent use.
type uniqueCache struct {
	mu    sync.Mutex
	stats map[uniqueKey]catalog.Stats
}

type uniqueKey [16]byte

// maxUniqueStats limits the number of results, of about 200 bytes each.
const maxUniqueStats = 20_000

func newUniqueCache() *uniqueCache { return &uniqueCache{stats: map[uniqueKey]catalog.Stats{}} }

func (u *uniqueCache) get(key uniqueKey) (s catalog.Stats, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s, ok = u.stats[key]
	return s, ok
}

func (u *uniqueCache) put(key uniqueKey, s catalog.Stats) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.stats) >= maxUniqueStats {
		clear(u.stats)
	}
	u.stats[key] = s
}

func newUniqueKey(numbers []int64) uniqueKey {
	h := sha256.New()
	var b [8]byte
	for _, n := range numbers {
		binary.LittleEndian.PutUint64(b[:], uint64(n))
		h.Write(b[:])
	}
	return uniqueKey(h.Sum(nil)[:16])
}

// uniqueTranslation is what UniqueStats needs of a translation.
type uniqueTranslation struct {
	id, generation int64
	stats          catalog.Stats
}

// UniqueStats returns the statistics of components, with strings of one language
// that have the same source and context counted once. Such strings have the state
// of the best of them: read-only or translated before fuzzy before empty. Failing,
// Suggestions and Comments are 0. A language that only one component has costs
// nothing; for other languages the identities are read, and again only when one of
// the translations changed.
func (s *Snapshot) UniqueStats(ctx context.Context, components []int64) (catalog.Stats, error) {
	stats, err := s.unique(ctx, components)
	return stats, s.db.fail(ctx, "count strings once", err)
}

func (s *Snapshot) unique(ctx context.Context, components []int64) (all catalog.Stats, err error) {
	generation, err := s.Generation(ctx)
	if err != nil {
		return all, err
	}
	key := newUniqueKey(append([]int64{0, generation}, components...))
	if all, ok := s.db.caches.uniques.get(key); ok {
		return all, nil
	}
	languages := map[string][]uniqueTranslation{}
	err = chunks(components, func(chunk []any) error {
		return s.s.query(ctx, `SELECT id, language, generation, total, total_words, total_chars, translated, translated_words, translated_chars,
			fuzzy, fuzzy_words, fuzzy_chars, readonly, readonly_words, readonly_chars, 0, 0, 0
			FROM translations WHERE component_id IN `+list(1, len(chunk))+` AND removed = 0`, chunk, func(scan scan) error {
			var t uniqueTranslation
			var language string
			dest := []any{&t.id, &language, &t.generation}
			for _, n := range counts(&t.stats) {
				dest = append(dest, n)
			}
			err := scan(dest...)
			languages[language] = append(languages[language], t)
			return err
		})
	})
	if err != nil {
		return all, err
	}
	for _, translations := range languages {
		stats, err := s.uniqueIn(ctx, translations)
		if err != nil {
			return all, err
		}
		all.Add(stats)
	}
	s.db.caches.uniques.put(key, all)
	return all, nil
}

// uniqueIn counts the strings of translations of one language.
func (s *Snapshot) uniqueIn(ctx context.Context, translations []uniqueTranslation) (all catalog.Stats, err error) {
	if len(translations) == 1 {
		return translations[0].stats, nil
	}
	slices.SortFunc(translations, func(a, b uniqueTranslation) int { return cmp.Compare(a.id, b.id) })
	numbers := make([]int64, 0, 2*len(translations)+1)
	numbers = append(numbers, 1)
	for _, t := range translations {
		numbers = append(numbers, t.id, t.generation)
	}
	key := newUniqueKey(numbers)
	if all, ok := s.db.caches.uniques.get(key); ok {
		return all, nil
	}
	repeated, err := s.repeated(ctx, translations)
	if err != nil {
		return all, err
	}
	for _, t := range translations {
		all.Add(t.stats)
	}
	if err := s.countOnce(ctx, translations, repeated, &all); err != nil {
		return all, err
	}
	s.db.caches.uniques.put(key, all)
	return all, nil
}

// identified is a unit with the identity of its string.
type identified struct {
	identity catalog.Identity
	unit     int64
}

// repeated lists the live units whose string occurs more than once in the
// translations, units of one string together. It reads an index, not the rows.
func (s *Snapshot) repeated(ctx context.Context, translations []uniqueTranslation) ([]identified, error) {
	var all []identified
	err := chunks(idsOf(translations), func(chunk []any) error {
		return s.s.query(ctx, `SELECT id_hash, id_key, id FROM units WHERE removed = 0 AND translation_id IN `+list(1, len(chunk)), chunk, func(scan scan) error {
			var u identified
			err := scan(&u.identity.Hash, &u.identity.Key, &u.unit)
			all = append(all, u)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b identified) int {
		return cmp.Or(cmp.Compare(a.identity.Hash, b.identity.Hash), cmp.Compare(a.identity.Key, b.identity.Key), cmp.Compare(a.unit, b.unit))
	})
	kept := all[:0]
	for i := range all {
		before := i > 0 && all[i-1].identity == all[i].identity
		after := i+1 < len(all) && all[i+1].identity == all[i].identity
		if before || after {
			kept = append(kept, all[i])
		}
	}
	return kept, nil
}

// countOnce subtracts all units of each string except one from the statistics.
func (s *Snapshot) countOnce(ctx context.Context, translations []uniqueTranslation, repeated []identified, all *catalog.Stats) error {
	units, err := s.unitsToCount(ctx, translations, repeated)
	if err != nil {
		return err
	}
	for i := 0; i < len(repeated); {
		best, end := units[repeated[i].unit], i
		for ; end < len(repeated) && repeated[end].identity == repeated[i].identity; end++ {
			u := units[repeated[end].unit]
			var one catalog.Stats
			one.AddUnit(&u)
			all.Subtract(one)
			if u.State > best.State {
				best = u
			}
		}
		all.AddUnit(&best)
		i = end
	}
	return nil
}

// unitsToCount reads state, words and characters of units: a few by their ids,
// otherwise all units of the translations, since the number of statements must not
// grow with the number of components.
func (s *Snapshot) unitsToCount(ctx context.Context, translations []uniqueTranslation, repeated []identified) (map[int64]catalog.Unit, error) {
	units := make(map[int64]catalog.Unit, len(repeated))
	ids := make([]int64, len(repeated))
	for i, u := range repeated {
		ids[i] = u.unit
		units[u.unit] = catalog.Unit{}
	}
	where := `u.id`
	if len(ids) > 256 {
		where, ids = `u.removed = 0 AND u.translation_id`, idsOf(translations)
	}
	return units, chunks(ids, func(chunk []any) error {
		return s.s.query(ctx, `SELECT u.id, u.state, COALESCE(s.words, 0), COALESCE(s.chars, 0) FROM units u LEFT JOIN units s ON s.id = u.source_id
			WHERE `+where+` IN `+list(1, len(chunk)), chunk, func(scan scan) error {
			var id, state, words, chars int64
			err := scan(&id, &state, &words, &chars)
			if _, wanted := units[id]; wanted {
				units[id] = catalog.Unit{State: catalog.State(state), Words: int(words), Chars: int(chars)}
			}
			return err
		})
	})
}

func idsOf(translations []uniqueTranslation) []int64 {
	ids := make([]int64, len(translations))
	for i := range translations {
		ids[i] = translations[i].id
	}
	return ids
}
