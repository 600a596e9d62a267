package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// TestWhileWriting reads while steps are written: a page's count fits its
// results, a poller with after_id sees every entry once and in order, and the
// settings change meanwhile.
func TestWhileWriting(t *testing.T) {
	t.Parallel()
	const steps, perStep = 25, 7
	w := openWorld(t)
	w.bigWorld(1)
	s := w.serve(Options{})
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for _, read := range []func(){
		func() { pageFits(t, s, "/api/translations/big/big/cs/units/?page_size=10000") },
		func() { pageFits(t, s, "/api/changes/?page_size=1000") },
		func() { s.Update(Settings{BaseURL: "https://two.example"}) },
	} {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					read()
				}
			}
		})
	}
	seen := make(chan []int)
	go func() { seen <- poll(t, s, "/api/components/big/big/changes/", 3+steps*perStep) }()
	for i := range steps {
		w.addUnits(fmt.Sprintf("%040x", i+1), perStep)
	}
	for i, id := range <-seen {
		if id != i+1 {
			t.Fatalf("entry %d where %d was due", id, i+1)
		}
	}
	close(stop)
	readers.Wait()
}

func pageFits(t *testing.T, s *Server, target string) {
	_, rec := send(s, http.MethodGet, target)
	var l envelope
	if err := json.Unmarshal(rec.Body.Bytes(), &l); err != nil || rec.Code != http.StatusOK || int(l.Count) != len(l.Results) {
		t.Errorf("%s: %d, count %d, %d results", target, rec.Code, l.Count, len(l.Results))
	}
}

// poll asks for what is new until it has seen n entries.
func poll(t *testing.T, s *Server, path string, n int) []int {
	var seen []int
	for last := 0; len(seen) < n; {
		_, rec := send(s, http.MethodGet, fmt.Sprintf("%s?page_size=5&after_id=%d", path, last))
		var l envelope
		if err := json.Unmarshal(rec.Body.Bytes(), &l); err != nil || rec.Code != http.StatusOK {
			t.Errorf("%d %s: %v", rec.Code, rec.Body, err)
			return seen
		}
		for _, id := range idsOf(l) {
			seen = append(seen, id)
			last = id
		}
	}
	return seen
}

// addUnits is a step that adds n units to the Czech translation of big/big.
func (w *world) addUnits(head string, n int) {
	w.tb.Helper()
	id := w.ids["big/big"]
	w.step(id, repoBig, "main", head, func(ctx context.Context, tx *store.StepTx) error {
		all, err := tx.Translations(ctx, id)
		if err != nil {
			return err
		}
		t := translationOf(all, "cs")
		placed, err := tx.Layout(ctx, t.ID)
		if err != nil {
			return err
		}
		var h catalog.Hasher
		added := make([]store.FingerprintedUnit, n)
		for i := range added {
			u := &catalog.Unit{TranslationID: t.ID, SourceID: id*catalog.UnitsPerComponent + 1, Target: "x", State: 20, Priority: 100, Created: at}
			u.Identity = h.Identity(head, fmt.Sprint(i))
			t.Stats.AddUnit(u)
			added[i] = store.FingerprintedUnit{Unit: u, Text: 1, Meta: 1}
		}
		if err := tx.AddUnits(ctx, added); err != nil {
			return err
		}
		units := make([]catalog.Unit, n)
		for i := range added {
			units[i] = *added[i].Unit
			placed = append(placed, catalog.UnitPosition{ID: units[i].ID, Position: len(placed) + 1})
		}
		if err := tx.PutLayout(ctx, t.ID, placed); err != nil {
			return err
		}
		if err := tx.PutTranslation(ctx, t); err != nil {
			return err
		}
		return addEntries(ctx, tx, id, t, "Jane", catalog.ActionNewUnit, units)
	})
}
