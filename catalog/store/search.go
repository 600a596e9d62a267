package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/kept"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/terms"
)

// Errors of a search, besides the errors of every read.
var (
	// ErrTooSlow says that a search exceeded its time limit: it must be narrowed.
	ErrTooSlow = errors.New("the search takes too long")
	// ErrBusy says that too many long searches are running: try again.
	ErrBusy = errors.New("too many searches are running")
)

const (
	// searchTime is the time limit of one search.
	searchTime = 10 * time.Second
	// longSearch is the number of units from which a search is long. At most half
	// of the snapshots may be used by long searches, so that other answers never
	// wait for them.
	longSearch = 200_000
	// maxFoundBytes limits the memory of all plans that are kept, maxPlanBytes that of one.
	maxFoundBytes = 16 << 20
	maxPlanBytes  = 4 << 20
	// maxSearchBytes limits the sets of one search; a set for a million strings takes 190 kB.
	maxSearchBytes = 64 << 20
	// spanUnits is the number of entries that one statement reads, pieceBlocks that of blocks:
	// a few milliseconds of work.
	spanUnits   = 1 << 14
	pieceBlocks = 64
)

// searches is what the searches of a database share.
type searches struct {
	folder      query.Folder
	results     *kept.By[string, *searchPlan] // clients ask for one page after the other
	missing     *kept.By[int64, *searchPlan]  // of all strings that a translation's file lacks
	timeLimit   time.Duration
	long        chan struct{} // holds a token for each long search that runs
	longFrom    int64         // units from which a search is long
	spanUnits   int64         // entries that one statement reads
	pieceBlocks int64         // blocks that one reads
	filled      sync.Map      // components known to lack no block
}

func newSearches(readers int) *searches {
	return &searches{
		results: kept.New[string, *searchPlan](maxFoundBytes), missing: kept.New[int64, *searchPlan](maxFoundBytes), timeLimit: searchTime,
		long: make(chan struct{}, max(1, readers/2)), longFrom: longSearch, spanUnits: spanUnits, pieceBlocks: pieceBlocks,
	}
}

// SearchQuery selects live units of components.
type SearchQuery struct {
	// Components are the components to search, by id: those that the caller may
	// see.
	Components map[int64]*ComponentRow
	// TranslationID, if not 0, restricts the search to that translation.
	TranslationID int64
	// Missing searches the strings of the template that the file of that translation lacks
	// in its place: the units that are found are source units.
	Missing bool
	// Expr is the condition on units; never nil.
	Expr query.Expr
}

// SearchResult is the result of a search. It belongs to its snapshot.
type SearchResult struct {
	snapshot   *Snapshot
	components []int64 // that were searched
	plan       *searchPlan
}

// Search searches units. A query that is repeated in the same generation, such as
// for the next page, is not run again. The error is *ErrPrice,
// ErrTooSlow or ErrBusy if the search would delay others.
func (s *Snapshot) Search(ctx context.Context, q SearchQuery) (*SearchResult, error) {
	components := sqldb.SortedKeys(q.Components)
	defer s.s.About(components...).End()
	generation, err := s.Generation(ctx)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%d %d %t %#v", components, q.TranslationID, q.Missing, q.Expr)
	if plan, ok := s.db.searches.results.Get(key, generation); ok {
		return &SearchResult{s, components, plan}, nil
	}
	search := s.search
	if q.Missing {
		search = s.planMissing
	}
	var plan *searchPlan
	err = s.inTime(ctx, func(ctx context.Context) (err error) {
		plan, err = search(ctx, &q)
		return err
	})
	if err != nil {
		return nil, s.s.Fail(ctx, "search units", err)
	}
	if size := plan.size() + len(key); size <= maxPlanBytes {
		s.db.searches.results.Put(key, generation, plan, size)
	}
	return &SearchResult{s, components, plan}, nil
}

// inTime searches within the time limit; else the error is ErrTooSlow.
func (s *Snapshot) inTime(ctx context.Context, search func(context.Context) error) error {
	inTime, cancel := context.WithTimeout(ctx, s.db.searches.timeLimit)
	defer cancel()
	err := search(inTime)
	if err != nil && inTime.Err() != nil && ctx.Err() == nil {
		return ErrTooSlow
	}
	return err
}

func (s *Snapshot) search(ctx context.Context, q *SearchQuery) (*searchPlan, error) {
	all, units, err := s.searchScope(ctx, q)
	if err != nil {
		return nil, err
	}
	price, err := s.searchPrice(all, q.Expr)
	if err != nil {
		return nil, err
	}
	long, end, err := s.mayRun(ctx, price, units)
	if err != nil {
		return nil, err
	}
	defer end()
	for i := range all {
		all[i].long = long && 2*all[i].units > units // one at a time, which others help with
	}
	err = s.runShared(ctx, len(all), long, func(s *Snapshot, each func(func(int) error) error) error {
		return each(func(i int) (err error) {
			all[i].expr, err = s.resolved(ctx, &all[i])
			return err
		})
	})
	if err == nil {
		err = s.findSources(ctx, all, long)
	}
	var list []*blockSearch
	for i := range all {
		if c := &all[i]; err == nil && c.expr != query.None && c.translations > 0 {
			var b *blockSearch
			b, err = s.newBlockSearch(c, terms.Live{}, c.place(), c.expr)
			list = append(list, b)
		}
	}
	if err == nil {
		err = s.runBlocks(ctx, list, long)
	}
	plan := &searchPlan{}
	for _, b := range list {
		plan.add(&b.found)
	}
	return plan, err
}

// mayRun reports whether a search is long. The error is *ErrPrice or ErrBusy if it must not run;
// else end is to be called when it has.
func (s *Snapshot) mayRun(ctx context.Context, price, units int64) (long bool, end func(), err error) {
	most := int64(MaxSearchPrice)
	if n, ok := ctx.Value(priceKey{}).(int64); ok {
		most = min(most, n)
	}
	if price > most {
		return false, nil, &ErrPrice{price, most}
	}
	if units < s.db.searches.longFrom {
		return false, func() {}, nil
	}
	select {
	case s.db.searches.long <- struct{}{}:
		return true, func() { <-s.db.searches.long }, nil
	default:
		return true, nil, ErrBusy
	}
}

// searchPlan is what a search found, by component.
type searchPlan struct {
	sets  []*idset.Set
	total int64
}

func (p *searchPlan) add(set *idset.Set) {
	if n := set.Len(); n > 0 {
		p.sets, p.total = append(p.sets, set), p.total+n
	}
}

// size is the approximate size of a plan in bytes.
func (p *searchPlan) size() (n int) {
	for _, set := range p.sets {
		n += 64 + set.Size()
	}
	return n
}

// page returns up to limit ids, starting at offset.
func (p *searchPlan) page(offset int64, limit int) (ids []int64) {
	for _, set := range p.sets {
		set.Each(max(offset, 0), int64(limit-len(ids)), func(id int64) { ids = append(ids, id) })
		offset -= set.Len()
	}
	return ids
}

// Count is the number of units found.
func (f *SearchResult) Count() int64 { return f.plan.total }

// Page returns up to limit of the units by id, starting at offset, and their
// translations. Its cost hardly depends on offset.
func (f *SearchResult) Page(ctx context.Context, offset int64, limit int) (units []catalog.Unit, owners map[int64]catalog.Translation, err error) {
	s := f.snapshot
	defer s.s.About(f.components...).End()
	defer s.s.Failed(ctx, &err, "read the units of a search")
	ids := f.plan.page(offset, limit)
	if len(ids) == 0 {
		return nil, nil, nil
	}
	if units, err = rows.UnitsIn(ctx, s.s, ids, ` WHERE u.id IN $ids ORDER BY u.id`); err != nil {
		return nil, nil, err
	}
	if err := s.fillNotes(ctx, units); err != nil {
		return nil, nil, err
	}
	owners = map[int64]catalog.Translation{}
	for i := range units {
		id := units[i].TranslationID
		if _, ok := owners[id]; ok {
			continue
		}
		t, found, err := translationByID(ctx, s.s, id)
		if err == nil && !found {
			err = fmt.Errorf("translation %d is missing: restore a backup, or move the database away and import anew", id)
		}
		if err != nil {
			return nil, nil, err
		}
		owners[id] = t
	}
	return units, owners, s.setPositions(ctx, units)
}

// maxSearchers is the number of snapshots that one search uses.
const maxSearchers = 4

// runShared divides n pieces of work. It runs work on this snapshot and, if a
// search is long, on free sessions that see the same. Each work function
// passes each a function, which is called for the numbers of pieces that no other
// has taken.
func (s *Snapshot) runShared(ctx context.Context, n int, long bool, work func(s *Snapshot, each func(func(int) error) error) error) error {
	var next atomic.Int64
	var failed atomic.Bool
	each := func(do func(int) error) error {
		for i := next.Add(1) - 1; i < int64(n) && !failed.Load(); i = next.Add(1) - 1 {
			if err := do(int(i)); err != nil {
				failed.Store(true)
				return err
			}
		}
		return nil
	}
	helpers := 0
	if long {
		helpers = max(min(maxSearchers, runtime.GOMAXPROCS(0), n)-1, 0)
	}
	var generation int64
	if helpers > 0 {
		var err error
		if generation, err = s.Generation(ctx); err != nil {
			return err
		}
	}
	errs := make([]error, helpers+1)
	var wg sync.WaitGroup
	for i := range len(errs) - 1 {
		wg.Go(func() {
			errs[i+1] = recovering(func() error {
				return s.db.runOnFree(ctx, generation, func(s *Snapshot) error { return work(s, each) })
			})
		})
	}
	errs[0] = recovering(func() error { return work(s, each) })
	wg.Wait()
	return errors.Join(errs...)
}

// runOnFree runs work on a free session that sees the same generation, if there is one.
func (db *DB) runOnFree(ctx context.Context, generation int64, work func(*Snapshot) error) error {
	return db.pools.Readers.TryTransact(ctx, func(session *sqldb.Session) error {
		s := &Snapshot{db: db, s: session}
		if now, err := s.Generation(ctx); err != nil || now != generation {
			return err
		}
		return work(s)
	})
}

// collect collects ids of a component, in n pieces of work.
func (s *Snapshot) collect(ctx context.Context, c *searchComponent, n int, piece func(s *Snapshot, i int, found *idset.Set) error) (*idset.Set, error) {
	all := &idset.Set{}
	var mu sync.Mutex
	err := s.runShared(ctx, n, c.long, func(s *Snapshot, each func(func(int) error) error) error {
		found := &idset.Set{}
		err := each(func(i int) error { return piece(s, i, found) })
		mu.Lock()
		defer mu.Unlock()
		all.Merge(found)
		return err
	})
	return all, err
}

// recovering turns a panic into an error, for code that no caller can recover
// from.
func recovering(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return fn()
}
