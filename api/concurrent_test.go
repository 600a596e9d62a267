package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// TestWhileWriting reads while steps are written: a page's count fits its
// results, a poller with after_id sees every entry once and in order, and the
// settings change meanwhile.
func TestWhileWriting(t *testing.T) {
	t.Parallel()
	const steps, perStep = 25, 7
	w := catalogtest.NewWriter(t)
	w.ImportBig(1)
	s := serve(w, Options{})
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
		w.AddBigUnits(fmt.Sprintf("%040x", i+1), perStep)
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
