package flush

import (
	"context"
	"errors"
	"fmt"

	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// Target is where commits go.
type Target struct {
	// Repository is where to push; without an address to the one that is mirrored.
	Repository remote.Repository
	// Branch is pushed to.
	Branch string
	// Derived says that Branch is ours and wholly derived: it is replaced. At is where
	// we put it last; the zero hash says that there is none.
	Derived bool
	At      object.Hash
	// Before, if set, is called with what is about to be pushed. An error that wraps
	// ErrStale has it derived anew.
	Before func(ctx context.Context, result Result) error
}

// ErrStale: what was derived is not wanted any more, since edits were taken back meanwhile.
var ErrStale = errors.New("edits were taken back meanwhile")

// attempts is how often a push is tried when somebody else pushes meanwhile.
const attempts = 3

// Run fetches, derives and pushes, and does so again if the branch has moved meanwhile, or
// edits were taken back: three times. prepare returns the files with their pending edits at
// the mirror's head, and how commits are made of them: both may change with each fetch. If
// nothing is to be written, nothing is pushed. The Result is that of the last attempt, also
// with an error of the push, of which remote.ErrMoved says to try again later.
func Run(ctx context.Context, m *gitsource.Mirror, to Target, prepare func(context.Context, object.Head) ([]File, Options, error)) (Result, error) {
	var result Result
	var err error
	for range attempts {
		result, err = attempt(ctx, m, to, prepare)
		if again := errors.Is(err, ErrStale) || errors.Is(err, remote.ErrMoved) && !to.Derived; !again {
			break
		}
	}
	return result, err
}

func attempt(ctx context.Context, m *gitsource.Mirror, to Target, prepare func(context.Context, object.Head) ([]File, Options, error)) (Result, error) {
	if _, err := m.Fetch(ctx); err != nil {
		return Result{}, err
	}
	w, err := m.Writer(ctx)
	if err != nil {
		return Result{}, err
	}
	defer w.Close()
	list, o, err := prepare(ctx, w.Head())
	if err != nil {
		return Result{}, fmt.Errorf("flush: %w", err)
	}
	result, err := Derive(ctx, w, list, o)
	if err != nil || result.Head == result.Parent || to.Derived && result.Head == to.At {
		return result, err
	}
	if to.Before != nil {
		if err := to.Before(ctx, result); err != nil {
			return result, fmt.Errorf("flush: %w", err)
		}
	}
	push := remote.Push{Branch: to.Branch, Commit: result.Head, Replace: to.Derived, Expect: to.At}
	if !to.Derived {
		// An earlier commit would take ours, too: somebody went back to it. Another repository
		// may be behind, though.
		push.Expect = result.Parent
		if to.Repository.URL != "" {
			tip, err := m.Tip(ctx, to.Repository, to.Branch)
			if err != nil {
				return result, err
			}
			if tip != push.Expect {
				push.Expect = object.Hash{}
			}
		}
	}
	return result, w.Push(ctx, to.Repository, push)
}
