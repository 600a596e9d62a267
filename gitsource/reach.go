package gitsource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
)

// Histories knows which commits a commit reaches. Each history is walked once, and from then
// on only what comes to its branch; the ids of those that were asked for last are kept, so an
// answer takes as long for a commit that the mirror has elsewhere, or lacks, as for one that
// is reached. It is safe for concurrent use; make it with NewHistories and close it.
type Histories struct {
	ctx   context.Context
	end   context.CancelFunc
	walks singleflight.Group
	one   chan struct{} // has one token while a walk runs
	most  int           // ids that are kept

	mu    sync.Mutex
	kept  map[object.Hash]*history // by tip
	ids   int                      // in all of kept
	asked int64                    // counts questions
}

// history is what a tip of a branch reaches.
type history struct {
	branch string
	tip    object.Hash
	ids    []object.Hash // sorted
	last   int64         // when it was asked for
}

const (
	maxHistory = 3_000_000 // 60 MB: twice Linux
	walkTime   = 10 * time.Minute
)

// ErrWalking says that a history is being walked: ask again in a while.
var ErrWalking = errors.New("the history of the branch is being read")

// NewHistories makes Histories that know nothing yet.
func NewHistories() *Histories {
	h := &Histories{most: maxHistory, one: make(chan struct{}, 1), kept: map[object.Hash]*history{}}
	h.ctx, h.end = context.WithCancel(context.Background())
	return h
}

// Close ends walks, and waits until none runs.
func (h *Histories) Close() {
	h.end()
	h.one <- struct{}{}
	<-h.one
}

// Opener opens a mirror for reading, as [Mirror.Reader] does.
type Opener func(context.Context) (*Reader, error)

// Reach reports whether the tip of a branch, which any text names, reaches all of some
// commits. Whoever asks first for a history that is not known begins a walk, which goes on
// when ctx ends: the error wraps ErrWalking then. Other errors are those of the mirror:
// object.ErrUnknownCommit if it lacks the tip, object.ErrTooLarge for 3 million commits.
func (h *Histories) Reach(ctx context.Context, open Opener, branch string, tip object.Hash, some ...object.Hash) (bool, error) {
	of := h.known(branch, tip)
	if of.tip != tip {
		select {
		case walked := <-h.walks.DoChan(tip.String(), func() (any, error) { return h.walk(open, branch, tip) }):
			if walked.Err != nil {
				return false, walked.Err
			}
			of = walked.Val.(*history)
		case <-ctx.Done():
			return false, fmt.Errorf("%w: %w", ErrWalking, ctx.Err())
		}
	}
	all := true
	for _, id := range some {
		all = has(of.ids, id) && all
	}
	return all, nil
}

func has(ids []object.Hash, id object.Hash) bool {
	_, found := slices.BinarySearchFunc(ids, id, object.Hash.Compare)
	return found
}

// known returns the history of a tip, or of the branch that was asked for last.
func (h *Histories) known(branch string, tip object.Hash) *history {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked++
	if of := h.kept[tip]; of != nil {
		of.last = h.asked
		return of
	}
	old := &history{}
	for _, k := range h.kept {
		if k.branch == branch && k.last > old.last {
			old = k
		}
	}
	return old
}

// walk walks a history and keeps it.
func (h *Histories) walk(open Opener, branch string, tip object.Hash) (*history, error) {
	ctx, cancel := context.WithTimeout(h.ctx, walkTime)
	defer cancel()
	select {
	case h.one <- struct{}{}:
		defer func() { <-h.one }()
	case <-ctx.Done():
		return nil, ErrWalking
	}
	old := h.known(branch, tip)
	if old.tip == tip { // since
		return old, nil
	}
	ids, err := h.ancestors(ctx, open, tip, old)
	if ctx.Err() != nil {
		err = ErrWalking
	}
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept[tip] = &history{branch, tip, ids, h.asked}
	h.ids += len(ids)
	for _, k := range h.kept { // one more is kept: components that cannot be read stay behind others
		if k.branch == branch && k.tip != tip && k != old {
			h.forget(k)
		}
	}
	for h.ids > h.most {
		h.forget(slices.MinFunc(slices.Collect(maps.Values(h.kept)), func(a, b *history) int { return cmp.Compare(a.last, b.last) }))
	}
	return &history{tip: tip, ids: ids}, nil
}

func (h *Histories) forget(k *history) {
	delete(h.kept, k.tip)
	h.ids -= len(k.ids)
}

// ancestors lists a commit and all that it reaches, sorted, from the tip of a known history on.
func (h *Histories) ancestors(ctx context.Context, open Opener, tip object.Hash, old *history) ([]object.Hash, error) {
	r, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	fresh, joined := map[object.Hash]struct{}{tip: {}}, old.ids == nil
	for todo := []object.Hash{tip}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n, err := r.store.Node(at)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && len(fresh) > h.most {
			err = fmt.Errorf("more than %d commits: %w", h.most, object.ErrTooLarge)
		}
		if err != nil {
			return nil, fmt.Errorf("read the history of %s: %w", tip, err)
		}
		for _, parent := range n.Parents {
			joined = joined || parent == old.tip
			if _, met := fresh[parent]; !met && !has(old.ids, parent) {
				fresh[parent] = struct{}{}
				todo = append(todo, parent)
			}
		}
	}
	if !joined { // the branch was rewritten
		return h.ancestors(ctx, open, tip, &history{})
	}
	ids := slices.AppendSeq(slices.Clone(old.ids), maps.Keys(fresh))
	slices.SortFunc(ids, object.Hash.Compare)
	return ids, nil
}

// Changed lists the files of match that differ between two commits, sorted by path.
func (r *Reader) Changed(ctx context.Context, from, to object.Hash, match filemask.Matcher) ([]Change, error) {
	old, err := r.store.Node(from)
	if err != nil {
		return nil, fmt.Errorf("compare %s: %w", from, err)
	}
	cur, err := r.store.Node(to)
	if err != nil {
		return nil, fmt.Errorf("compare %s: %w", to, err)
	}
	return r.changes(ctx, old.Tree, cur.Tree, match)
}
