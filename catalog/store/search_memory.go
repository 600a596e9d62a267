package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
	"github.com/repoglot/repoglot/poparse/msgmerge"
)

const (
	// LeastSimilar is the similarity from which Memory finds a source.
	LeastSimilar = 0.75
	// maxSources is the number of sources of a string, different from each other, whose texts are
	// looked at, maxSaid that of strings with one of them, maxSimilar that of all that are
	// measured.
	maxSources = 40
	maxSaid    = 64
	maxSimilar = 20_000
	// maxRead is the number of bytes of sources, and of the past texts of a string, that are read.
	maxRead = 16 << 20
)

// MemoryQuery asks for texts of sources that are similar to some strings.
type MemoryQuery struct {
	// Components are those to look in, by id: those that the caller may see.
	Components map[int64]*ComponentRow
	// Project, if not "", is the slug of the only project to look in.
	Project string
	// SourceLanguage and Language are codes of languages, in any case.
	SourceLanguage, Language string
	// Strings are compared with sources, by the first form of each.
	Strings []string
	// Most is the number of matches for a string at most.
	Most int
}

// Remembered is a text in the memory: of a string that a file has, or had.
type Remembered struct {
	// Component and UnitID say of which string it is.
	Component *ComponentRow
	UnitID    int64
	// Source and Target have their forms joined. They are the string's now, if At is "".
	Source, Context, Target string
	// Similarity is gettext's measure (fstrcmp) of the first forms, up to 1.
	Similarity float64
	// At is the last commit that had the text, "" if the file has it.
	At string
	// Time is when the text came, or went if At is not "".
	Time time.Time
	// Pending says that an edit has the text, which waits to be pushed.
	Pending bool

	delta int64 // that took it away; 0: none
}

// pastText is a text that an entry took away, and the one that it brought.
type pastText struct {
	Remembered
	n      int64 // in the delta
	state  catalog.State
	next   string
	edited bool
}

// These read by indexes, and no text of more than 4,000 characters; of the newest 5,000 entries of some
// hundred strings, which are found without their texts, those whose text a file had: none of suggestions
// and of edits that were taken back.
var (
	sourcesOfMemory = `SELECT id, source, context FROM units WHERE id IN $ids AND length(source) <= 4000`
	unitsOfMemory   = `SELECT id, source_id, target, state, removed, created, (SELECT COUNT(*) FROM edits e WHERE e.unit_id = units.id AND e.status = 'pending') FROM units WHERE translation_id = $1 AND source_id IN $ids AND length(target) <= 4000`
	entriesOfMemory = fmt.Sprintf(`SELECT c.unit_id, c.delta_id, c.n, c.old_target, c.old_state, d.at, CASE WHEN length(c.target) <= 4000 THEN c.target ELSE '' END, CASE WHEN d.commit_hash = '' THEN 1 ELSE 0 END FROM
		(SELECT delta_id, n FROM changes WHERE unit_id IN $ids ORDER BY delta_id DESC, n DESC LIMIT 5000) k JOIN changes c ON c.delta_id = k.delta_id AND c.n = k.n JOIN deltas d ON d.id = c.delta_id
		WHERE length(c.old_target) <= 4000 AND c.action NOT IN (%d, %d) AND (c.action NOT IN (%d, %d) OR d.commit_hash <> '')`, catalog.ActionSuggestion, catalog.ActionSuggestionDelete, catalog.ActionStringRepoUpdate, catalog.ActionStringRemove)
	arrivedInMemory = `SELECT unit_id, target FROM edits WHERE status = 'flushed' AND length(target) <= 4000 AND unit_id IN $ids`
	commitBefore    = `SELECT p.commit_hash FROM deltas d JOIN deltas p ON p.component_id = d.component_id AND p.id < d.id AND p.commit_hash <> d.commit_hash AND p.commit_hash <> '' WHERE d.id = $1 ORDER BY p.id DESC LIMIT 1`
)

// Memory finds texts of similar sources, for each of the strings the best first: the most
// similar, those that files have before those that they had, and the newest. Only what the
// components say is ranked. Its errors are those of Search.
func (s *Snapshot) Memory(ctx context.Context, q MemoryQuery) (found [][]Remembered, err error) {
	defer s.s.About(sqldb.SortedKeys(q.Components)...).End()
	defer s.s.Failed(ctx, &err, "look into the memory")
	err = s.inTime(ctx, func(ctx context.Context) (err error) {
		found, err = s.memory(ctx, q)
		return err
	})
	return found, err
}

func (s *Snapshot) memory(ctx context.Context, q MemoryQuery) (found [][]Remembered, err error) {
	all, translations, err := s.memoryScope(ctx, &q)
	if err != nil {
		return nil, err
	}
	var similar query.Or
	var patterns []*msgmerge.Pattern
	for _, text := range q.Strings {
		patterns = append(patterns, msgmerge.NewPattern(text))
		similar = append(similar, terms.Similar{To: msgmerge.NewPattern(s.db.searches.folder.String(text)), Least: LeastSimilar})
	}
	var price, units int64
	for i := range all { // strings that were removed are compared, too
		strs := max(all[i].units/all[i].translations, all[i].lastUnit/(all[i].translations+int64(len(all[i].other)))) + 1
		units, price = units+strs, price+strs*(terms.PriceOfRow+terms.Price(similar))
	}
	long, end, err := s.mayRun(ctx, price, units)
	if err != nil {
		return nil, err
	}
	defer end()
	var list []*blockSearch
	for i := range all {
		b, err := s.newBlockSearch(&all[i], terms.Source{}, similar)
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	if err := s.runBlocks(ctx, list, long); err != nil {
		return nil, err
	}
	var ids []int64
	for _, b := range list {
		b.found.Each(0, int64(maxSimilar-len(ids)), func(id int64) { ids = append(ids, id) })
	}
	texts := map[string][]similarUnit{}
	left := textRoom(maxRead)
	err = s.s.QueryIn(ctx, sourcesOfMemory, nil, ids, func(scan sqldb.Scan) error {
		var u similarUnit
		var source string
		if err := scan(&u.id, &source, &u.context); err != nil {
			return err
		}
		texts[source] = append(texts[source], u)
		return left.take(source, u.context)
	})
	if err != nil {
		return nil, err
	}
	for i := range q.Strings {
		matches, err := s.remembered(ctx, &q, translations, patterns[i], texts)
		if err != nil {
			return nil, err
		}
		found = append(found, matches)
	}
	return found, nil
}

// textRoom is how many bytes of texts may still be read.
type textRoom int64

func (r *textRoom) take(texts ...string) error {
	for _, text := range texts {
		*r -= textRoom(len(text))
	}
	if *r < 0 {
		return sqldb.ErrEnough
	}
	return nil
}

// similarUnit is a source unit whose source is similar to a string.
type similarUnit struct {
	id      int64
	context string
}

// memoryScope returns the components that may have texts, and their translations of the
// language, those that were removed, too.
func (s *Snapshot) memoryScope(ctx context.Context, q *MemoryQuery) (all []searchComponent, translations map[int64][]int64, err error) {
	of := map[int64]*ComponentRow{}
	for id, c := range q.Components {
		if strings.EqualFold(c.Settings.SourceLanguage, q.SourceLanguage) && (q.Project == "" || q.Project == c.Project.Slug) {
			of[id] = c
		}
	}
	translations = map[int64][]int64{}
	err = s.s.QueryIn(ctx, `SELECT id, component_id FROM translations WHERE component_id IN $ids AND lower(language) = $1 AND is_source = 0`, []any{strings.ToLower(q.Language)},
		sqldb.SortedKeys(of), sqldb.Cols2(func(id, component int64) { translations[component] = append(translations[component], id) }))
	for id := range of {
		if translations[id] == nil {
			delete(of, id)
		}
	}
	if err == nil {
		all, _, err = s.searchScope(ctx, &SearchQuery{Components: of, Expr: query.All})
	}
	return all, translations, err
}

// remembered ranks what is said of the sources that are similar to one string.
func (s *Snapshot) remembered(ctx context.Context, q *MemoryQuery, translations map[int64][]int64, to *msgmerge.Pattern, texts map[string][]similarUnit) ([]Remembered, error) {
	var sources []Remembered
	for text := range texts {
		if w := to.Similarity(catalog.FirstForm(text), LeastSimilar); w >= LeastSimilar {
			sources = append(sources, Remembered{Source: text, Similarity: w})
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(sources, func(a, b Remembered) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.Source, b.Source))
	})
	of := map[int64]*Remembered{} // by source unit
	in := map[int64][]int64{}     // source units by component
	for i := range sources[:min(len(sources), maxSources)] {
		units := texts[sources[i].Source]
		for _, u := range units[:min(len(units), maxSaid)] {
			component := u.id / catalog.UnitsPerComponent
			of[u.id], in[component] = &Remembered{Source: sources[i].Source, Context: u.context, Similarity: sources[i].Similarity}, append(in[component], u.id)
		}
	}
	var list []Remembered
	now := map[int64]int{} // where the text of a unit is in list
	var units []int64
	took := map[int64]*Remembered{}
	gone, doubtful := map[int64]int{}, map[int64][]int{} // in list by unit: the last text that went; texts that edits had
	for _, component := range sqldb.SortedKeys(in) {
		for _, translation := range translations[component] {
			err := s.s.QueryIn(ctx, unitsOfMemory, []any{translation}, in[component], func(scan sqldb.Scan) error {
				var m Remembered
				var source int64
				var state catalog.State
				var removed bool
				var pending int64
				if err := scan(&m.UnitID, &source, &m.Target, &state, &removed, &m.Time, &pending); err != nil {
					return err
				}
				m.Pending, m.Component, m.Source, m.Context, m.Similarity = pending > 0, q.Components[component], of[source].Source, of[source].Context, of[source].Similarity
				units, took[m.UnitID] = append(units, m.UnitID), &m
				if state.Translated() && !removed {
					now[m.UnitID] = len(list)
					list = append(list, m)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	left := textRoom(maxRead)
	var past []pastText
	err := s.s.QueryIn(ctx, entriesOfMemory, nil, units, func(scan sqldb.Scan) error {
		var e pastText
		err := scan(&e.UnitID, &e.delta, &e.n, &e.Target, &e.state, &e.Time, &e.next, &e.edited)
		past = append(past, e)
		return cmp.Or(err, left.take(e.Target, e.next))
	})
	slices.SortFunc(past, func(a, b pastText) int { return cmp.Or(cmp.Compare(b.delta, a.delta), cmp.Compare(b.n, a.n)) })
	for i := range past {
		e := &past[i]
		m := e.Remembered
		if i, ok := gone[m.UnitID]; ok && e.edited && e.next == list[i].Target {
			doubtful[m.UnitID] = append(doubtful[m.UnitID], i)
		}
		delete(gone, m.UnitID)
		if i, ok := now[m.UnitID]; ok && m.Target != list[i].Target {
			list[i].Time = m.Time
			delete(now, m.UnitID)
		}
		if of := took[m.UnitID]; e.state.Translated() {
			m.Component, m.Source, m.Context, m.Similarity = of.Component, of.Source, of.Context, of.Similarity
			gone[m.UnitID] = len(list)
			list = append(list, m)
		}
	}
	arrived := map[Remembered]bool{}
	if err == nil {
		err = s.s.QueryIn(ctx, arrivedInMemory, nil, sqldb.SortedKeys(doubtful), sqldb.Cols2(func(unit int64, target string) { arrived[Remembered{UnitID: unit, Target: target}] = true }))
	}
	if err != nil {
		return nil, err
	}
	for unit, at := range doubtful { // edits that were replaced before a file had them
		for _, i := range at {
			if !arrived[Remembered{UnitID: unit, Target: list[i].Target}] {
				list[i].Target = ""
			}
		}
	}
	list = best(list, q.Most)
	for i := range list {
		if m := &list[i]; m.delta != 0 {
			if _, err := s.s.First(ctx, commitBefore, []any{m.delta}, &m.At); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// best returns the best texts, each text of a source once.
func best(list []Remembered, most int) []Remembered {
	slices.SortStableFunc(list, func(a, b Remembered) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(min(a.delta, 1), min(b.delta, 1)), b.Time.Compare(a.Time))
	})
	seen := map[[2]string]bool{}
	list = slices.DeleteFunc(list, func(m Remembered) bool {
		key := [2]string{m.Source, m.Target}
		had := seen[key] || catalog.EmptyForms(m.Target)
		seen[key] = true
		return had
	})
	return slices.Clone(list[:min(len(list), most)]) // and none of the other texts
}
