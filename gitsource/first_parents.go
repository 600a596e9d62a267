package gitsource

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/repoglot/repoglot/gitsource/object"
)

// FirstParent is one commit of a chain of first parents.
type FirstParent struct {
	// Hash is the commit.
	Hash object.Hash
	// When is the committer's time; zero if the commit has no readable time.
	When time.Time
}

// FirstParents walks the chain of first parents from a commit to the first commit,
// or to the end of a shallow source's history, the newest first. It ends after an
// error.
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

// noTime is object.Node.When of a commit without a readable time.
const noTime = -62135596800
