package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// tableSum is a sum over rows that does not depend on their order.
type tableSum struct {
	rows int64
	sum  uint64
}

func (t *tableSum) add(id catalog.Identity, source int64, data []byte) {
	h := fnv.New64a()
	var b []byte
	for _, n := range []int64{id.Hash, id.Key, source} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	h.Write(b)
	h.Write(data)
	t.rows++
	t.sum += h.Sum64()
}

// sharedVerifier recounts what components of a project share.
type sharedVerifier struct {
	occurrences, strings tableSum
	repeats              map[repeatsKey]catalog.Stats
	current              catalog.Identity
	units                []sharedUnits // of the current string
	sources              []int64       // of the current string
}

// shared compares the counts of strings that components of a project share with
// its units.
func (v *verifier) shared(ctx context.Context, p *verifyScope) error {
	if err := v.counted(ctx, p); err != nil {
		return err
	}
	var want sharedVerifier
	if err := want.count(ctx, v.s, p.id); err != nil {
		return err
	}
	var occurrences, strings tableSum
	err := v.s.Query(ctx, `SELECT id_hash, id_key, source_id FROM occurrences WHERE project_id = $1`, []any{p.id}, func(scan sqldb.Scan) error {
		var id catalog.Identity
		var source int64
		err := scan(&id.Hash, &id.Key, &source)
		occurrences.add(id, source, nil)
		return err
	})
	if err != nil {
		return err
	}
	err = v.s.Query(ctx, `SELECT id_hash, id_key, data FROM shared_strings WHERE project_id = $1`, []any{p.id}, func(scan sqldb.Scan) error {
		var id catalog.Identity
		var data sql.RawBytes
		err := scan(&id.Hash, &id.Key, &data)
		strings.add(id, 0, data)
		return err
	})
	if err != nil {
		return err
	}
	v.compareTables(p, "source strings by which shared ones are found", occurrences, want.occurrences)
	v.compareTables(p, "counts of shared strings", strings, want.strings)
	return v.repeats(ctx, p, want.repeats)
}

func (v *verifier) compareTables(p *verifyScope, what string, stored, counted tableSum) {
	v.compare(p, what, stored.rows, counted.rows)
	if stored.rows == counted.rows && stored.sum != counted.sum {
		v.differ(p, what, "checksum "+strconv.FormatUint(stored.sum, 16), strconv.FormatUint(counted.sum, 16))
	}
}

// counted compares which components count with which should.
func (v *verifier) counted(ctx context.Context, p *verifyScope) error {
	differing, err := countedOtherwise(ctx, v.s, `c.project_id = $1`, p.id)
	for _, c := range differing {
		v.compare(p, "counted of component "+strconv.FormatInt(c.id, 10), c.counted, c.want)
	}
	return err
}

// repeats compares what is counted more than once.
func (v *verifier) repeats(ctx context.Context, p *verifyScope, want map[repeatsKey]catalog.Stats) error {
	stored := map[repeatsKey]catalog.Stats{}
	err := v.s.Query(ctx, `SELECT language, private, `+countList(fileCounts, "%s")+` FROM repeats WHERE project_id = $1`, []any{p.id}, func(scan sqldb.Scan) error {
		var k repeatsKey
		var sum catalog.Stats
		err := scan(append([]any{&k.language, &k.private}, scanCounts(fileCounts, &sum)...)...)
		stored[k] = sum
		if _, ok := want[k]; !ok {
			want[k] = catalog.Stats{}
		}
		return err
	})
	for _, k := range slices.SortedFunc(maps.Keys(want), repeatsKey.compare) {
		a, b := stored[k], want[k]
		for i, name := range countColumns(fileCounts, "%s") {
			v.compare(p, "repeats of "+k.language+" "+name+", private "+strconv.FormatInt(k.private, 10), *countsOf(fileCounts, &a)[i], *countsOf(fileCounts, &b)[i])
		}
	}
	return err
}

// count counts the units of the counted components of a project.
func (w *sharedVerifier) count(ctx context.Context, s *sqldb.Session, project int64) error {
	w.repeats = map[repeatsKey]catalog.Stats{}
	err := s.Query(ctx, `SELECT u.id_hash, u.id_key, u.id, u.source_id, t.language, u.state, COALESCE(s.words, 0), COALESCE(s.chars, 0), c.counted
		FROM components c JOIN translations t ON t.component_id = c.id JOIN units u ON u.translation_id = t.id LEFT JOIN units s ON s.id = u.source_id
		WHERE c.project_id = $1 AND c.counted <> 0 AND t.removed = 0 AND u.removed = 0 ORDER BY u.id_hash, u.id_key`, []any{project}, func(scan sqldb.Scan) error {
		var unit, source, state, counted int64
		u := sharedUnits{n: 1}
		err := scan(&u.identity.Hash, &u.identity.Key, &unit, &source, &u.language, &state, &u.words, &u.chars, &counted)
		u.state, u.private = catalog.State(state), counted == countedPrivate
		if u.identity != w.current {
			w.end()
			w.current = u.identity
		}
		w.units = append(w.units, u)
		if unit == source {
			w.sources = append(w.sources, unit)
		}
		return err
	})
	w.end()
	return err
}

// end adds the current string.
func (w *sharedVerifier) end() {
	for _, source := range w.sources {
		w.occurrences.add(w.current, source, nil)
	}
	if len(w.sources) > 1 {
		var all sharedString
		for i := range w.units {
			all.add(&w.units[i])
		}
		w.strings.add(w.current, 0, all.encode())
		for i := range all {
			for private := range int64(2) {
				k := repeatsKey{all[i].language, private}
				sum := w.repeats[k]
				sum.Add(all[i].repeats(private == 1))
				w.repeats[k] = sum
			}
		}
	}
	w.units, w.sources = w.units[:0], w.sources[:0]
}
