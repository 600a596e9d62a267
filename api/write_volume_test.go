package api

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog/edit"
)

// stores counts what was stored.
type stores struct {
	resource.Edits
	n int
}

func (s *stores) Edit(context.Context, int64, int64, edit.Author, []edit.Request) (int, error) {
	s.n++
	return 1, nil
}

func (s *stores) Upload(context.Context, int64, int64, edit.Author, []byte, edit.UploadOptions) (edit.Counts, error) {
	s.n++
	return edit.Counts{}, nil
}

func (s *stores) Suggest(context.Context, int64, int64, edit.Author, edit.Request) (int64, error) {
	s.n++
	return 1, nil
}

// TestStoredVolume: a token that has stored its bytes of a day stores no more of any kind,
// another one does, and the next day it may again.
func TestStoredVolume(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	stored := limit.New(limit.Rate{Count: 10_000, Per: storedRate.Per}, func() time.Time { return now })
	token, to := int64(1), &stores{}
	e := resource.EditsInTurn(to, func(_ context.Context, bytes int) (func(), error) {
		return func() {}, countStored(stored, token, bytes)
	})
	text := []edit.Request{{Target: []string{string(make([]byte, 700)), string(make([]byte, 800))}}} // 2,000 bytes with its row
	kinds := []func() error{
		func() error { _, err := e.Edit(t.Context(), 1, 1, edit.Author{}, text); return err },
		func() error {
			_, err := e.Upload(t.Context(), 1, 1, edit.Author{}, make([]byte, 2000), edit.UploadOptions{})
			return err
		},
		func() error { _, err := e.Suggest(t.Context(), 1, 1, edit.Author{}, text[0]); return err },
	}
	all := func(want int) {
		t.Helper()
		for i, kind := range kinds {
			err, p := kind(), (*rest.Problem)(nil)
			if errors.As(err, &p); want == 0 && err != nil || want != 0 && (p == nil || p.Status != want || p.RetryAfter != int(storedRate.Per/time.Second)) {
				t.Errorf("kind %d: %v, want status %d", i, err, want)
			}
		}
	}
	all(0)
	if err := countStored(stored, token, 4000); err != nil {
		t.Fatal(err) // all of a day's
	}
	all(http.StatusTooManyRequests)
	token = 2
	all(0)
	token, now = 1, now.Add(storedRate.Per)
	all(0)
	if to.n != 9 {
		t.Errorf("%d were stored, want 9", to.n)
	}
}
