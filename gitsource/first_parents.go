package gitsource

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/repoglot/repoglot/gitsource/object"
)

// Link is one commit of a first-parent chain.
type FirstParent struct {
	// Hash is the commit.
	Hash object.Hash
	// When is its committer time; zero where it has no readable one.
	When time.Time
}

// FirstParents walks the chain of first parents from a commit on, the newest
// first, to the first commit or to where a shallow source ends. After an error
// the walk ends.
func (r *Reader) FirstParents(ctx context.Context, from object.Hash) iter.Seq2[FirstParent, error] {
	return func(yield func(FirstParent, error) bool) {
		for at := from; ; {
			n, err := r.store.Node(at)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(FirstParent{}, fmt.Errorf("walk first parents of %s: %w", from, err))
				return
			}
			l := FirstParent{Hash: at}
			if n.When != noTime {
				l.When = time.Unix(n.When, 0).UTC()
			}
			if !yield(l, nil) || len(n.Parents) == 0 {
				return
			}
			at = n.Parents[0]
		}
	}
}

// noTime is node.when of a commit that has no readable time.
const noTime = -62135596800
