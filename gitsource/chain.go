package gitsource

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Link is one commit of a first-parent chain.
type Link struct {
	// Hash is the commit.
	Hash Hash
	// When is its committer time; zero where it has no readable one.
	When time.Time
}

// FirstParents walks the chain of first parents from a commit on, the newest
// first, to the first commit or to where a shallow source ends. After an error
// the walk ends.
func (r *Reader) FirstParents(ctx context.Context, from Hash) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		for at := from; ; {
			n, err := r.node(at)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(Link{}, fmt.Errorf("walk first parents of %s: %w", from, err))
				return
			}
			l := Link{Hash: at}
			if n.when != noTime {
				l.When = time.Unix(n.when, 0).UTC()
			}
			if !yield(l, nil) || len(n.parents) == 0 {
				return
			}
			at = n.parents[0]
		}
	}
}

// noTime is node.when of a commit that has no readable time.
const noTime = -62135596800
