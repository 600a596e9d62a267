package history

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Commit is what one commit did in a list, or an event or an edit without one.
type Commit struct {
	// Change is its newest entry.
	catalog.Change
	// Entries is how many it has in the list, and Newer how many newer ones the list has.
	Entries, Newer int64
	// Parts are the translations whose strings it changed, the source language first and
	// then those with most entries.
	Parts []CommitPart
}

// CommitPart is what a commit did in a translation.
type CommitPart struct {
	Component, Language string // slug, code
	Source              bool   // the language is the source language
	Began, Gone         bool   // the commit added the file; it was removed since
	// Added, Updated and Removed count strings, and Translated those of a file that began which
	// have a text.
	Added, Updated, Removed, Translated int64

	delta int64
}

func (p *CommitPart) entries() int64 { return p.Added + p.Updated + p.Removed }

// rank orders parts.
func (p *CommitPart) rank() int64 {
	if p.Source {
		return math.MaxInt64
	}
	return p.entries()
}

const (
	// maxCommitDeltas is the number of deltas that Commits reads; what a commit has beyond them
	// is left out.
	maxCommitDeltas = 2000
	// maxCommitEvents bounds the events of a delta that are read.
	maxCommitEvents = 100
	// maxBegan bounds the strings of a file that began of which the texts are counted.
	maxBegan = 10_000
)

// commitDeltas reads a list backwards.
const commitDeltas = `SELECT d.id, d.first_change, d.project_id, d.component_id, d.n, d.added, d.updated, d.removed, d.commit_hash,
	COALESCE(m.slug, ''), COALESCE(t.language, ''), COALESCE(t.is_source, 0), COALESCE(t.removed, 0)
	FROM deltas d LEFT JOIN components m ON m.id = d.component_id LEFT JOIN translations t ON t.id = d.translation_id WHERE `

// Commits returns the last commits of a list, the newest first, up to the Limit of the query, of
// which only ids and Components count besides.
func (s *Reader) Commits(ctx context.Context, q Query) (list []*Commit, err error) {
	defer q.about(ctx, s.s).End()
	l := q.scope()
	defer s.s.Failed(ctx, &err, "read the newest commits of %s", l.name)
	type key struct {
		project int64
		commit  string
	}
	var at key
	var pieces []piece
	newer, deltas, of := int64(0), 0, map[int64]*Commit{} // by entry
	err = s.s.Query(ctx, commitDeltas+l.column+` = $1 ORDER BY `+l.first+` DESC`, []any{l.id}, func(scan sqldb.Scan) error {
		var first, component, n int64
		var k key
		var p CommitPart
		err := scan(&p.delta, &first, &k.project, &component, &n, &p.Added, &p.Updated, &p.Removed, &k.commit, &p.Component, &p.Language, &p.Source, &p.Gone)
		if deltas++; err != nil || deltas > maxCommitDeltas {
			return cmp.Or(err, sqldb.ErrEnough)
		}
		if q.Components != nil && !slices.Contains(q.Components, component) {
			return nil
		}
		if len(list) == 0 || k != at || k.commit == "" {
			if len(list) == q.Limit {
				return sqldb.ErrEnough
			}
			at, list = k, append(list, &Commit{Newer: newer})
		}
		c := list[len(list)-1]
		read := piece{delta: p.delta, lo: n - 1, hi: n - 1}
		events := p.entries() == 0
		if events && k.commit == "" && p.Language != "" { // edits
			p.Updated = n
		} else if events {
			read.lo = max(0, n-maxCommitEvents) // which may say that a file began
		}
		if c.Entries == 0 || events {
			pieces = append(pieces, read)
			for i := read.lo; i <= read.hi; i++ {
				of[first+i] = c
			}
		}
		if p.entries() > 0 {
			c.Parts = append(c.Parts, p)
		}
		c.Entries, newer = c.Entries+n, newer+n
		return nil
	})
	if err != nil {
		return nil, err
	}
	entries, err := s.read(ctx, &filter{all: true}, pieces)
	for i := range entries {
		e := &entries[i]
		c := of[e.ID]
		if c.ID < e.ID {
			c.Change = *e
		}
		for k := range c.Parts {
			if p := &c.Parts[k]; e.Action == catalog.ActionAddedLanguage && e.Component == p.Component && e.Event["language"] == p.Language {
				p.Began = true
			}
		}
	}
	for _, c := range list {
		for k := range c.Parts {
			if p := &c.Parts[k]; err == nil && p.Began && p.Added <= maxBegan {
				_, err = s.s.First(ctx, `SELECT COUNT(*) FROM changes WHERE delta_id = $1 AND action = $2 AND state >= $3`, []any{p.delta, catalog.ActionNewUnit, catalog.StateTranslated}, &p.Translated)
			}
		}
		slices.SortStableFunc(c.Parts, func(a, b CommitPart) int { return cmp.Compare(b.rank(), a.rank()) })
	}
	return list, err
}
