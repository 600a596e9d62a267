package forge

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/repoglot/repoglot/testrepos"
)

// TestKeep keeps one request for a branch on each forge.
func TestKeep(t *testing.T) {
	for kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			fake, f := serve(t, kind)
			writes := 0
			fake.Hook = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet {
					writes++
				}
				return false
			}
			var last Texts
			keep := func(number int, body string, wantNumber, wantWrites int, want State) {
				t.Helper()
				writes = 0
				var r Request
				var err error
				r, last, err = Keep(t.Context(), f, number, last, Draft{Head: "l10n", Base: "main", Title: "T", Body: body})
				if err != nil || r.Number != wantNumber || writes != wantWrites || r.State != want {
					t.Fatalf("%+v, %v, %d writes; want %d, %s, %d writes", r, err, writes, wantNumber, want, wantWrites)
				}
			}
			keep(0, "a", 1, 1, Open) // opened
			keep(0, "a", 1, 0, Open) // found, nothing to do
			keep(0, "b", 1, 1, Open) // found, updated
			keep(1, "b", 1, 0, Open)
			keep(1, "c", 1, 1, Open)
			fake.End(1, "merged")
			keep(1, "d", 1, 0, Merged) // as it is
			keep(0, "d", 2, 1, Open)
			fake.End(2, "closed")
			keep(2, "e", 2, 0, Closed)
			if n := len(fake.Requests()); n != 2 {
				t.Errorf("%d requests, want 2", n)
			}
			if _, _, err := Keep(t.Context(), f, 9, last, Draft{}); !errors.Is(err, ErrNotFound) {
				t.Errorf("a request that is not there: %v", err)
			}
		})
	}
}

// blind finds nothing the first times.
type blind struct {
	Forge
	times int
}

// Find says that there is none, and later the truth.
func (b *blind) Find(ctx context.Context, head, base string) (Request, bool, error) {
	if b.times--; b.times >= 0 {
		return Request{}, false, nil
	}
	return b.Forge.Find(ctx, head, base)
}

// TestKeepExisting opens a request that the forge has already.
func TestKeepExisting(t *testing.T) {
	fake, f := serve(t, "github")
	fake.Add(testrepos.ForgeRequest{State: "open", Head: "l10n", Base: "main", Title: "old"})
	d := Draft{Head: "l10n", Base: "main", Title: "new"}
	if r, _, err := Keep(t.Context(), &blind{f, 1}, 0, Texts{}, d); err != nil || r.Number != 1 || r.Title != "new" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, _, err := Keep(t.Context(), &blind{f, 2}, 0, Texts{}, d); !errors.Is(err, ErrExists) {
		t.Errorf("hidden: %v", err)
	}
}

// TestKeepTheirTexts: a title or a body that somebody gave a request stays, and ours goes on
// to be kept in the other one.
func TestKeepTheirTexts(t *testing.T) {
	for kind := range kinds() {
		t.Run(kind, func(t *testing.T) {
			_, f := serve(t, kind)
			var last Texts
			keep := func(number int, title, body, wantTitle, wantBody string) {
				t.Helper()
				var err error
				if _, last, err = Keep(t.Context(), f, number, last, Draft{Head: "l10n", Base: "main", Title: title, Body: body}); err != nil {
					t.Fatal(err)
				}
				if r, err := f.Read(t.Context(), 1); err != nil || r.Title != wantTitle || r.Body != wantBody {
					t.Fatalf("%q, %q, %v; want %q, %q", r.Title, r.Body, err, wantTitle, wantBody)
				}
			}
			edit := func(title, body string) {
				t.Helper()
				if _, err := f.Update(t.Context(), Request{Number: 1, Title: title, Body: body}); err != nil {
					t.Fatal(err)
				}
			}
			keep(0, "T", "a", "T", "a")
			edit("feat: theirs", "a")
			keep(1, "T 2", "b", "feat: theirs", "b")
			keep(1, "T 3", "c", "feat: theirs", "c")
			edit("feat: theirs", "Their words")
			keep(1, "T 4", "d", "feat: theirs", "Their words")
			edit("T", "c") // ours of before again
			keep(1, "T 5", "e", "T 5", "e")
		})
	}
}
