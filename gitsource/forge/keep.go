package forge

import (
	"context"
	"errors"
	"fmt"
)

// Keep makes sure that a branch has an open request with the texts of a draft, and
// returns it. number is the request that the branch had last, 0 if none is known. If
// that one was merged or closed, it is returned as it is, and none is opened: what that
// means is the caller's decision. Equal texts are not sent.
func Keep(ctx context.Context, f Forge, number int, d Draft) (Request, error) {
	if number > 0 {
		r, err := f.Read(ctx, number)
		if err != nil || r.State != Open {
			return r, err
		}
		return refresh(ctx, f, r, d)
	}
	r, ok, err := f.Find(ctx, d.Head, d.Base)
	if err != nil {
		return Request{}, err
	}
	if !ok {
		if r, err = f.Open(ctx, d); !errors.Is(err, ErrExists) {
			return r, err
		}
		// A call before was answered, and the answer lost.
		switch r, ok, err = f.Find(ctx, d.Head, d.Base); {
		case err != nil:
			return Request{}, err
		case !ok:
			return Request{}, fmt.Errorf("%w, but it does not show it", ErrExists)
		}
	}
	return refresh(ctx, f, r, d)
}

// refresh sets the texts of an open request, unless it has them.
func refresh(ctx context.Context, f Forge, r Request, d Draft) (Request, error) {
	if r.Title == title(d.Title) && r.Body == body(d.Body) {
		return r, nil
	}
	return f.Update(ctx, r.Number, d.Title, d.Body)
}
