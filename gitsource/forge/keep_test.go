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
			keep := func(number int, body string, wantNumber, wantWrites int, want State) {
				t.Helper()
				writes = 0
				r, err := Keep(t.Context(), f, number, Draft{Head: "l10n", Base: "main", Title: "T", Body: body})
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
			if _, err := Keep(t.Context(), f, 9, Draft{}); !errors.Is(err, ErrNotFound) {
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
	if r, err := Keep(t.Context(), &blind{f, 1}, 0, d); err != nil || r.Number != 1 || r.Title != "new" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Keep(t.Context(), &blind{f, 2}, 0, d); !errors.Is(err, ErrExists) {
		t.Errorf("hidden: %v", err)
	}
}
