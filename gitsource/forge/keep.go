package forge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
)

// Texts are sums of the title and the body that a request had when they were last written,
// as the forge shows them, and its base: what differs was written by somebody else. The zero
// value is of a request of which that is not known.
type Texts struct{ Title, Body, Base string }

// textsOf returns those of a request.
func textsOf(r Request) Texts {
	sum := func(text string) string {
		all := sha256.Sum256([]byte(text))
		return fmt.Sprintf("%x", all[:8])
	}
	return Texts{sum(r.Title), sum(r.Body), r.Base}
}

// Keep makes sure that a branch has an open request with the texts of a draft, and
// returns it. number is the request that the branch had last, 0 if none is known. If
// that one was merged or closed, it is returned as it is, and none is opened: what that
// means is the caller's decision. Equal texts are not sent, and a title, body or base that
// somebody wrote since last stays; then the result still has what last has of it.
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

// refresh sets the texts and the base of an open request, as far as it has those that were
// written last.
func refresh(ctx context.Context, f Forge, r Request, last Texts, d Draft) (Request, Texts, error) {
	now, want := textsOf(r), Request{Number: r.Number, Title: r.Title, Body: r.Body}
	ours := func(last *string, now string) bool {
		if *last != "" && *last != now {
			return false
		}
		*last = ""
		return true
	}
	if ours(&last.Title, now.Title) {
		want.Title = title(d.Title)
	}
	if ours(&last.Body, now.Body) {
		want.Body = body(d.Body)
	}
	if now.Base == d.Base {
		last.Base = now.Base // whoever did it: a forge does where a branch is renamed
	}
	if ours(&last.Base, now.Base) && d.Base != r.Base {
		want.Base = d.Base
	}
	if want.Title != r.Title || want.Body != r.Body || want.Base != "" {
		var err error
		if r, err = f.Update(ctx, want); err != nil {
			return r, last, err
		}
	}
	now = textsOf(r)
	return r, Texts{cmp.Or(last.Title, now.Title), cmp.Or(last.Body, now.Body), cmp.Or(last.Base, now.Base)}, nil
}
