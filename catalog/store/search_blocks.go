package store

import (
	"context"
	"database/sql"
	"runtime"
	"sync"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/blocks"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

// blockSearch is the search of one component. As a term it is the set of source units that it
// finds.
type blockSearch struct {
	search      *blocks.Search
	first, last int64 // block of the component's
	mu          sync.Mutex
	found       idset.Set // guarded by mu while the search runs
}

// newBlockSearch prepares a search of what else than e an expression says.
func (s *Snapshot) newBlockSearch(c *searchComponent, list ...query.Expr) (*blockSearch, error) {
	search, err := blocks.Compile(query.And(list), &s.db.searches.folder)
	first := c.ID * catalog.UnitsPerComponent
	b := &blockSearch{search: search, first: blocks.Number(first), last: blocks.Number(first + c.lastUnit)}
	return b, err
}

func (b *blockSearch) put(first int64, units *idset.Bits) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.found.Put(first, units)
}

// runBlocks runs searches of components, by pieces of blocks.
func (s *Snapshot) runBlocks(ctx context.Context, list []*blockSearch, long bool) error {
	type piece struct {
		*blockSearch
		from, to int64
	}
	var pieces []piece
	bytes := int64(0)
	for _, b := range list {
		bytes += (b.last - b.first + 1) * idset.BlockUnits / 8
		for at := b.first; at <= b.last; at += s.db.searches.pieceBlocks {
			pieces = append(pieces, piece{b, at, min(at+s.db.searches.pieceBlocks, b.last+1)})
		}
	}
	if bytes > maxSearchBytes {
		return ErrTooSlow
	}
	return s.runShared(ctx, len(pieces), long, func(s *Snapshot, each func(func(int) error) error) error {
		search, of := (*blocks.Search)(nil), (*blockSearch)(nil)
		return each(func(i int) error {
			p := &pieces[i]
			if of != p.blockSearch {
				search, of = p.search.Copy(), p.blockSearch
			}
			return s.searchPiece(ctx, search, p.from, p.to, of.put)
		})
	})
}

// searchPiece puts what a search finds in blocks into found. Each column is read of those
// blocks that are not decided by the columns before.
func (s *Snapshot) searchPiece(ctx context.Context, search *blocks.Search, from, to int64, found func(first int64, units *idset.Bits)) error {
	list := make([]*blocks.Block, to-from)
	for i := range list {
		list[i] = search.Begin(from + int64(i))
	}
	for kind := range blocks.Kinds {
		open := map[int64]*blocks.Block{}
		for _, b := range list {
			if f := search.Result(b); f.Sure != f.Maybe {
				open[blocks.Key(kind, b.Number)] = b
			}
		}
		if len(open) == 0 || !search.Needs(kind) {
			continue
		}
		err := s.s.QueryIn(ctx, blocks.Stored, nil, sqldb.SortedKeys(open), func(scan sqldb.Scan) error {
			var key int64
			var data []byte
			if err := scan(&key, &data); err != nil {
				return err
			}
			b := open[key]
			delete(open, key)
			return search.Load(b, kind, data)
		})
		for _, b := range open {
			if err == nil && (kind == blocks.Place || kind == blocks.Checks) {
				err = s.withoutBlock(ctx, search, kind, b)
			} else if err == nil && !b.Built {
				err = search.Load(b, kind, nil)
			}
		}
		if err != nil {
			return err
		}
		runtime.Gosched() // the scheduler itself would let it run for 10 ms
	}
	for _, b := range list {
		f := search.Result(b)
		if f.Sure != f.Maybe {
			if err := s.testTexts(ctx, search, b, &f); err != nil {
				return err
			}
		}
		found(b.Number*idset.BlockUnits, &f.Sure)
	}
	return nil
}

// withoutBlock searches the columns of a block that are not stored.
func (s *Snapshot) withoutBlock(ctx context.Context, search *blocks.Search, of blocks.Kind, b *blocks.Block) error {
	columns, err := blocks.Read(ctx, s.s, &s.db.searches.folder, of, b.Number)
	b.Built = b.Built || of == blocks.Place
	for kind, data := range columns {
		if kind := blocks.Kind(kind); err == nil && search.Needs(kind) && (kind == blocks.Checks) == (of == blocks.Checks) {
			err = search.Load(b, kind, data)
		}
	}
	return err
}

// fewTexts is the number of units of a block up to which they are read one by one.
const fewTexts = 32

// testTexts reads the texts of the units of a block that its columns could not decide.
func (s *Snapshot) testTexts(ctx context.Context, search *blocks.Search, b *blocks.Block, f *blocks.Found) error {
	var ids []int64
	var id int64
	var columns [blocks.Kinds]sql.NullString
	var texts [blocks.Kinds]string
	open, dest, statement := f.Sure.Not(), []any{&id}, `SELECT id`
	open.And(&f.Maybe)
	open.Each(func(i int) { ids = append(ids, b.Number*idset.BlockUnits+int64(i)) })
	for kind := blocks.Target; kind < blocks.Kinds; kind++ {
		if search.Tests(kind) {
			dest, statement = append(dest, &columns[kind]), statement+`, `+string(kind.Column())
		}
	}
	test := func(scan sqldb.Scan) error {
		if err := scan(dest...); err != nil || !open.Has(int(id%idset.BlockUnits)) {
			return err
		}
		for kind := range columns {
			texts[kind] = columns[kind].String
		}
		search.Test(b, id, &texts)
		return nil
	}
	var err error
	if statement += ` FROM units WHERE id `; len(ids) <= fewTexts {
		err = s.s.QueryIn(ctx, statement+`IN $ids`, nil, ids, test)
	} else {
		err = s.s.Query(ctx, statement+`BETWEEN $1 AND $2`, []any{ids[0], ids[len(ids)-1]}, test)
	}
	*f = search.Result(b)
	return err
}

// findSources replaces terms about source units by the sets of those that are found.
func (s *Snapshot) findSources(ctx context.Context, all []searchComponent, long bool) error {
	var list []*blockSearch
	for i := range all {
		c := &all[i]
		var err error
		c.expr, err = terms.Simplify(c.expr, func(term query.Expr) (query.Expr, error) {
			of, ok := term.(terms.OfSource)
			if !ok {
				return term, nil
			}
			b, err := s.newBlockSearch(c, terms.Source{}, of.X)
			list = append(list, b)
			return b, err
		})
		if err != nil {
			return err
		}
	}
	if err := s.runBlocks(ctx, list, long); err != nil {
		return err
	}
	for i := range all {
		c := &all[i]
		c.expr, _ = terms.Simplify(c.expr, func(term query.Expr) (query.Expr, error) { // without an error
			b, ok := term.(*blockSearch)
			if !ok {
				return term, nil
			}
			return terms.In(&b.found, true), nil
		})
	}
	return nil
}
