package store

import (
	"database/sql/driver"
	"fmt"
	"maps"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// The SQL functions of a search. Their first argument is the number of a
// predicate. search_text returns whether the predicate holds for the other
// arguments, search_id whether the second one is in the set.
const (
	textFunction = "search_text"
	idFunction   = "search_id"
)

func (p *predicates) of(args []driver.Value) (*predicate, error) {
	if len(args) > 1 {
		if n, ok := args[0].(int64); ok {
			if m := p.inUse.Load(); m != nil && (*m)[n] != nil {
				return (*m)[n], nil
			}
		}
	}
	return nil, fmt.Errorf("no search has the predicate %v", args)
}

// yieldRows is the number of texts after which a search lets others run: the scheduler
// itself would let it run for 10 ms each time, as long as ten small answers take.
const yieldRows = 512

// matchText must not panic: SQLite would stay in the middle of a row, with its
// locks held.
func (p *predicates) matchText(args []driver.Value) (result driver.Value, err error) {
	is, err := p.of(args)
	if err != nil || is.row == nil {
		return nil, err
	}
	if p.calls.Add(1)%yieldRows == 0 {
		runtime.Gosched()
	}
	err = recovering(func() error {
		result = sqldb.Smallint(is.row(args))
		return nil
	})
	return result, err
}

func (p *predicates) matchID(args []driver.Value) (driver.Value, error) {
	is, err := p.of(args)
	if err != nil || is.ids == nil {
		return nil, err
	}
	id, _ := args[1].(int64)
	return sqldb.Smallint(is.ids.has(id)), nil
}

// functions are the functions of SQL.
func (p *predicates) functions() []sqldb.Function {
	return []sqldb.Function{{Name: textFunction, Args: -1, Call: p.matchText}, {Name: idFunction, Args: 2, Call: p.matchID}}
}

// predicate is a test that SQL cannot express: of texts, or of an id.
type predicate struct {
	row func(args []driver.Value) bool // the first is the predicate's number
	ids *idSet
}

// predicates are the predicates of the running searches, by number. A lookup, one
// per row, takes no lock.
type predicates struct {
	calls  atomic.Uint64 // of matchText
	mu     sync.Mutex
	last   int64
	inUse  atomic.Pointer[map[int64]*predicate]
	folder query.Folder
}

// register numbers predicates, ascending from first, until release is called.
func (p *predicates) register(list []predicate) (first int64, release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	first = p.last + 1
	p.last += int64(len(list))
	next := p.copied()
	for i := range list {
		next[first+int64(i)] = &list[i]
	}
	p.inUse.Store(&next)
	return first, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		next := p.copied()
		for i := range list {
			delete(next, first+int64(i))
		}
		p.inUse.Store(&next)
	}
}

func (p *predicates) copied() map[int64]*predicate {
	if m := p.inUse.Load(); m != nil {
		return maps.Clone(*m)
	}
	return map[int64]*predicate{}
}
