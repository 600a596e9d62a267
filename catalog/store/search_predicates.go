package store

import (
	"database/sql/driver"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/repoglot/repoglot/catalog/query"
)

// predicate is a test that SQL cannot express: of texts, or of an id.
type predicate struct {
	row func(args []driver.Value) bool // the first is the predicate's number
	ids *idSet
}

// predicates are the predicates of the running searches, by number. A lookup, one
// per row, takes no lock.
type predicates struct {
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
