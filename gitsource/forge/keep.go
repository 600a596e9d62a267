package forge

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
)

// Texts are sums of the title and the body that a request had when they were last written,
// as the forge shows them: what differs was written by somebody else. The zero value is of
// a request of which that is not known.
type Texts struct{ Title, Body string }

// textsOf returns the sums of a request.
func textsOf(r Request) Texts {
	sum := func(text string) string {
		all := sha256.Sum256([]byte(text))
		return fmt.Sprintf("%x", all[:8])
	}
	return Texts{sum(r.Title), sum(r.Body)}
}

// Keep makes sure that a branch has an open request with the texts of a draft, and
// returns it. number is the request that the branch had last, 0 if none is known. If
// that one was merged or closed, it is returned as it is, and none is opened: what that
// means is the caller's decision. Equal texts are not sent, and a title or body that
// somebody wrote since last stays; then its sum in the result is still that of last.
func Keep(ctx context.Context, f Forge, number int, last Texts, d Draft) (Request, Texts, error) {
	if number > 0 {
		r, err := f.Read(ctx, number)
		if err != nil || r.State != Open {
			return r, last, err
		}
		return refresh(ctx, f, r, last, d)
	}
	r, ok, err := f.Find(ctx, d.Head, d.Base)
	if err != nil {
		return Request{}, last, err
	}
	if !ok {
		if r, err = f.Open(ctx, d); !errors.Is(err, ErrExists) {
			return r, textsOf(r), err
		}
		// A call before was answered, and the answer lost.
		switch r, ok, err = f.Find(ctx, d.Head, d.Base); {
		case err != nil:
			return Request{}, last, err
		case !ok:
			return Request{}, last, fmt.Errorf("%w, but it does not show it", ErrExists)
		}
	}
	return refresh(ctx, f, r, last, d)
}

// refresh sets the texts of an open request, as far as it has those that were written last.
func refresh(ctx context.Context, f Forge, r Request, last Texts, d Draft) (Request, Texts, error) {
	now := textsOf(r)
	theirs := Texts{Title: now.Title, Body: now.Body}
	if last.Title == "" || last.Title == now.Title {
		r.Title, theirs.Title = title(d.Title), ""
	}
	if last.Body == "" || last.Body == now.Body {
		r.Body, theirs.Body = body(d.Body), ""
	}
	if textsOf(r) != now {
		var err error
		if r, err = f.Update(ctx, r.Number, r.Title, r.Body); err != nil {
			return r, last, err
		}
	}
	written := textsOf(r)
	if theirs.Title != "" {
		written.Title = last.Title
	}
	if theirs.Body != "" {
		written.Body = last.Body
	}
	return r, written, nil
}
