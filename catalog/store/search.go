package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
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
)

// searches is what the searches of a database share.
type searches struct {
	folder    query.Folder
	results   *searchCache
	timeLimit time.Duration
	long      chan struct{} // holds a token for each long search that runs
	longFrom  int64         // units from which a search is long
	spanUnits int64         // ids, entries and units of layouts that one statement reads
}

func newSearches(readers int) *searches {
	return &searches{
		results: newSearchCache(), timeLimit: searchTime,
		long: make(chan struct{}, max(1, readers/2)), longFrom: longSearch, spanUnits: spanUnits,
	}
}

// SearchQuery selects live units of components.
type SearchQuery struct {
	// Components are the components to search, by id: those that the caller may
	// see.
	Components map[int64]*ComponentRow
	// TranslationID, if not 0, restricts the search to that translation.
	TranslationID int64
	// Expr is the condition on units; never nil.
	Expr query.Expr
}

// key is equal for equal queries.
func (q *SearchQuery) key() string {
	var b strings.Builder
	for _, id := range sqldb.SortedKeys(q.Components) {
		b.WriteString(strconv.FormatInt(id, 36))
		b.WriteByte(' ')
	}
	b.WriteByte('|')
	b.WriteString(strconv.FormatInt(q.TranslationID, 36))
	b.WriteByte('|')
	b.WriteString(q.Expr.String())
	return b.String()
}

// SearchResult is the result of a search. It belongs to its snapshot.
type SearchResult struct {
	snapshot   *Snapshot
	components []int64 // that were searched
	plan       *searchPlan
}

// Search searches units. A query that is repeated in the same generation, such as
// for the next page, is not run again (searchCache). The error is *ErrPrice,
// ErrTooSlow or ErrBusy if the search would delay others.
func (s *Snapshot) Search(ctx context.Context, q SearchQuery) (*SearchResult, error) {
	components := sqldb.SortedKeys(q.Components)
	defer s.s.About(components...).End()
	generation, err := s.Generation(ctx)
	if err != nil {
		return nil, err
	}
	key := strconv.FormatInt(generation, 10) + "|" + q.key()
	if plan := s.db.searches.results.get(key); plan != nil {
		return &SearchResult{s, components, plan}, nil
	}
	inTime, cancel := context.WithTimeout(ctx, s.db.searches.timeLimit)
	defer cancel()
	plan, err := s.search(inTime, &q)
	if err != nil && inTime.Err() != nil && ctx.Err() == nil {
		err = ErrTooSlow
	}
	if err != nil {
		return nil, s.s.Fail(ctx, "search units", err)
	}
	s.db.searches.results.put(key, plan)
	return &SearchResult{s, components, plan}, nil
}

func (s *Snapshot) search(ctx context.Context, q *SearchQuery) (*searchPlan, error) {
	all, units, err := s.searchScope(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := s.checkPrice(ctx, all, q.Expr); err != nil {
		return nil, err
	}
	long := units >= s.db.searches.longFrom
	if long {
		select {
		case s.db.searches.long <- struct{}{}:
			defer func() { <-s.db.searches.long }()
		default:
			return nil, ErrBusy
		}
	}
	plan := &searchPlan{}
	for i := range all {
		all[i].long = long
		if err := s.plan(ctx, plan, &all[i], q.Expr); err != nil {
			return nil, err
		}
	}
	return plan, s.countSpans(ctx, plan, long)
}

// Count is the number of units found.
func (f *SearchResult) Count() int64 { return f.plan.total }

// Page returns up to limit of the units by id, starting at offset, and their
// translations. Its cost does not depend on offset.
func (f *SearchResult) Page(ctx context.Context, offset int64, limit int) ([]catalog.Unit, map[int64]catalog.Translation, error) {
	defer f.snapshot.s.About(f.components...).End()
	units, owners, err := f.page(ctx, offset, limit)
	return units, owners, f.snapshot.db.fail(ctx, "read the units of a search", err)
}

func (f *SearchResult) page(ctx context.Context, offset int64, limit int) ([]catalog.Unit, map[int64]catalog.Translation, error) {
	s := f.snapshot
	ids, err := s.idsOf(ctx, f.plan, offset, limit)
	if err != nil || len(ids) == 0 {
		return nil, nil, err
	}
	units := make([]catalog.Unit, 0, len(ids))
	var r unitScan
	dest := r.dest()
	err = sqldb.Chunks(ids, func(chunk []any) error {
		return s.s.Query(ctx, `SELECT `+unitColumns+unitFrom+` WHERE u.id IN `+sqldb.List(1, len(chunk))+` ORDER BY u.id`, chunk, func(scan sqldb.Scan) error {
			err := scan(dest...)
			units = append(units, r.unit())
			return err
		})
	})
	if err != nil {
		return nil, nil, err
	}
	if err := s.fillNotes(ctx, units); err != nil {
		return nil, nil, err
	}
	owners := map[int64]catalog.Translation{}
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

// setPositions sets Position and Location of units, which are ascending by id;
// every block is decoded once.
func (s *Snapshot) setPositions(ctx context.Context, units []catalog.Unit) error {
	blocks := map[int64][]catalog.UnitPosition{} // by translation, the block used last
	for i := range units {
		u := &units[i]
		block := blocks[u.TranslationID]
		if n := len(block); n == 0 || block[n-1].ID < u.ID {
			var data []byte
			found, err := s.s.First(ctx, `SELECT data FROM layouts WHERE translation_id = $1 AND first_unit <= $2 ORDER BY first_unit DESC LIMIT 1`,
				[]any{u.TranslationID, u.ID}, &data)
			if err != nil {
				return err
			}
			if !found {
				continue
			}
			if block, err = s.db.codec.Block(data); err != nil {
				return err
			}
			blocks[u.TranslationID] = block
		}
		if p, ok := findInBlock(block, u.ID); ok {
			u.Position, u.Location = p.Position, p.Location
		}
	}
	return nil
}

// maxFoundBytes limits the memory of all cached plans, maxPlanBytes that of a plan
// to be cached.
const (
	maxFoundBytes = 16 << 20
	maxPlanBytes  = 4 << 20
)

// searchCache keeps the plans of the latest searches with their counts, since
// clients ask for one page after the other. Keys begin with the generation, so
// entries are never stale. The oldest is dropped first.
type searchCache struct {
	mu    sync.Mutex
	plans map[string]*searchPlan
	order []string // by age
	bytes int
}

func newSearchCache() *searchCache { return &searchCache{plans: map[string]*searchPlan{}} }

func (c *searchCache) get(key string) *searchPlan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.plans[key]
}

func (c *searchCache) put(key string, plan *searchPlan) {
	size := plan.size() + 2*len(key)
	if size > maxPlanBytes {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plans[key] != nil {
		return
	}
	c.plans[key] = plan
	c.order = append(c.order, key)
	c.bytes += size
	for c.bytes > maxFoundBytes {
		oldest := c.order[0]
		c.order = c.order[1:]
		c.bytes -= c.plans[oldest].size() + 2*len(oldest)
		delete(c.plans, oldest)
	}
}
