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
	// Before, if set, is called with the commit before it is pushed.
	Before func(ctx context.Context, commit object.Hash) error
}

// attempts is how often a push is tried when somebody else pushes meanwhile.
const attempts = 3

// Run fetches, derives and pushes, and does so again if the branch has moved meanwhile:
// three times. files returns the files with their pending edits at the mirror's head:
// where a file is may change with each fetch. If nothing is to be written, nothing is
// pushed. The Result is that of the last attempt, also with an error of the push, of
// which remote.ErrMoved says to try again later.
func Run(ctx context.Context, m *gitsource.Mirror, to Target, o Options, files func(context.Context, object.Head) ([]File, error)) (Result, error) {
	var result Result
	var err error
	for range attempts {
		if result, err = attempt(ctx, m, to, o, files); !errors.Is(err, remote.ErrMoved) || to.Derived {
			break
		}
	}
	return result, err
}

func attempt(ctx context.Context, m *gitsource.Mirror, to Target, o Options, files func(context.Context, object.Head) ([]File, error)) (Result, error) {
	if _, err := m.Fetch(ctx); err != nil {
		return Result{}, err
	}
	w, err := m.Writer(ctx)
	if err != nil {
		return Result{}, err
	}
	defer w.Close()
	list, err := files(ctx, w.Head())
	if err != nil {
		return Result{}, fmt.Errorf("flush: %w", err)
	}
	result, err := Derive(ctx, w, list, o)
	if err != nil || result.Head == result.Parent || to.Derived && result.Head == to.At {
		return result, err
	}
	if to.Before != nil {
		if err := to.Before(ctx, result.Head); err != nil {
			return result, fmt.Errorf("flush: %w", err)
		}
	}
	return result, w.Push(ctx, to.Repository, remote.Push{
		Branch: to.Branch, Commit: result.Head, Replace: to.Derived, Expect: to.At,
	})
}
