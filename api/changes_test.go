package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/repoglot/repoglot/catalog/store"
)

func idsOf(l envelope) []int {
	ids := make([]int, 0, len(l.Results))
	for _, r := range l.Results {
		id, _ := r["id"].(float64)
		ids = append(ids, int(id))
	}
	return ids
}

// TestChangeOrder: order, ordering and after_id, and that links keep them
// (docs/compatibility.md#order-and-after_id).
func TestChangeOrder(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	const path = "/api/translations/demo/app/cs/changes/"
	all := idsOf(getList(t, s, path+"?page_size=1000"))
	if len(all) != 47 || !slices.IsSorted(all) {
		t.Fatalf("entries %v", all)
	}
	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	after := all[40]
	for _, tc := range []struct {
		query string
		want  []int
		count int64
		next  string
	}{
		{"?ordering=id&page_size=3", all[:3], 47, "format=api&ordering=id&page=2&page_size=3"},
		{"?ordering=-id&page_size=3", reversed[:3], 47, "format=api&ordering=-id&page=2&page_size=3"},
		{"?ordering=-id&page_size=3&page=2", reversed[3:6], 47, "format=api&ordering=-id&page=3&page_size=3"},
		{"?ordering=&page_size=1", all[:1], 47, "format=api&ordering=&page=2&page_size=1"},
		{fmt.Sprintf("?after_id=%d", after), all[41:], 6, ""},
		{fmt.Sprintf("?after_id=%d&page_size=2", after), all[41:43], 6, fmt.Sprintf("after_id=%d&format=api&page=2&page_size=2", after)},
		{fmt.Sprintf("?after_id=%d&page_size=2&page=3", after), all[45:], 6, ""},
		{fmt.Sprintf("?after_id=%d&ordering=-id&page_size=4", after), reversed[:4], 6, fmt.Sprintf("after_id=%d&format=api&ordering=-id&page=2&page_size=4", after)},
		{fmt.Sprintf("?after_id=%d&ordering=-id&page_size=4&page=2", after), reversed[4:6], 6, ""},
		{"?after_id=0&page_size=2", all[:2], 47, "after_id=0&format=api&page=2&page_size=2"},
		{"?after_id=-5&page_size=2", all[:2], 47, "after_id=-5&format=api&page=2&page_size=2"},
		{fmt.Sprintf("?after_id=%d", all[46]), []int{}, 0, ""},
		{"?after_id=9223372036854775807", []int{}, 0, ""},
	} {
		l := getList(t, s, path+tc.query)
		want := "null"
		if tc.next != "" {
			want = "http://l10n.example.org" + path + "?" + tc.next
		}
		if !slices.Equal(idsOf(l), tc.want) || l.Count != tc.count || text(l.Next) != want {
			t.Errorf("%s: count %d, ids %v (want %v)\nnext %s\nwant %s", tc.query, l.Count, idsOf(l), tc.want, text(l.Next), want)
		}
	}
	for query, want := range map[string]string{
		"?after_id=x":                    `{"after_id":["A valid integer is required."]}`,
		"?after_id=":                     `{"after_id":["A valid integer is required."]}`,
		"?after_id=1.5":                  `{"after_id":["A valid integer is required."]}`,
		"?after_id=99999999999999999999": `{"after_id":["A valid integer is required."]}`,
		"?ordering=name":                 `{"ordering":["Select a valid choice: id or -id."]}`,
	} {
		for _, list := range []string{path, "/api/changes/", "/api/projects/demo/changes/"} {
			wantAnswer(t, s, 400, want, list+query)
		}
	}
}

// TestMergedChanges compares the merged lists (some components are hidden) with
// the visible components' own lists.
func TestMergedChanges(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	w.Import("demo/docs", repoDocs, "Jane", sourceFile(numberedUnits(5)))
	s := serve(w, Options{})
	want := append(idsOf(getList(t, s, "/api/components/demo/app/changes/?page_size=1000")),
		idsOf(getList(t, s, "/api/components/demo/docs/changes/?page_size=1000"))...)
	slices.Sort(want)
	reversed := slices.Clone(want)
	slices.Reverse(reversed)
	for _, path := range []string{"/api/changes/", "/api/projects/demo/changes/"} {
		for _, size := range []int{1, 4, 1000} {
			for _, from := range []int{0, 1, 98, len(want)} {
				after := 0
				if from > 0 {
					after = want[from-1]
				}
				left := want[from:]
				page := fmt.Sprintf("%s?after_id=%d&page_size=%d", path, after, size)
				checkPages(t, s, page, left, size)
				checkPages(t, s, page+"&ordering=-id", reversed[:len(left)], size)
			}
		}
	}
}

// checkPages reads the first, second and last page of a list.
func checkPages(t *testing.T, s *Server, target string, want []int, size int) {
	t.Helper()
	pages := max(1, (len(want)+size-1)/size)
	for _, page := range []int{1, min(2, pages), pages} {
		l := sendList(t, s, fmt.Sprintf("%s&page=%d", target, page))
		part := want[min((page-1)*size, len(want)):min(page*size, len(want))]
		if l.Count != int64(len(want)) || !slices.Equal(idsOf(l), part) {
			t.Fatalf("%s page %d: count %d, %v, want %d, %v", target, page, l.Count, idsOf(l), len(want), part)
		}
	}
}

// TestChangesOfGoneTranslation: while the file of a translation is gone, its
// entries contain no URL that answers 404, and name the language.
func TestChangesOfGoneTranslation(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := serve(w, Options{})
	look := func() (urls []string) {
		for _, path := range []string{"/api/components/demo/app/changes/", "/api/projects/demo/changes/", "/api/changes/"} {
			n := 0
			for _, c := range getList(t, s, path+"?page_size=1000").Results {
				if c["target"] != "Öffnen" {
					continue
				}
				n++
				u, _ := c["translation"].(string)
				urls = append(urls, fmt.Sprint(u, " ", c["details"].(map[string]any)["language"]))
				if u != "" {
					get(t, s, strings.TrimPrefix(u, "http://l10n.example.org"))
				}
				if again := get(t, s, strings.TrimPrefix(c["url"].(string), "http://l10n.example.org")); !strings.Contains(again, fmt.Sprintf(`"translation":%s`, quoted(u))) {
					t.Errorf("the entry itself differs: %s", again)
				}
				get(t, s, strings.TrimPrefix(c["unit"].(string), "http://l10n.example.org"))
			}
			if n != 1 {
				t.Errorf("%s has %d entries of the German string", path, n)
			}
		}
		return urls
	}
	const gone = " de"
	if got := look(); !slices.Equal(got, []string{gone, gone, gone}) {
		t.Errorf("gone: %q", got)
	}
	id := w.IDs["demo/app"]
	w.Step(id, repoApp, "main", head1, func(ctx context.Context, tx *store.StepTx) error {
		all, err := tx.Translations(ctx, id)
		if err != nil {
			return err
		}
		german := translationOf(all, "de")
		german.Removed = false
		return tx.PutTranslation(ctx, german)
	})
	const back = "http://l10n.example.org/api/translations/demo/app/de/?format=api <nil>"
	if got := look(); !slices.Equal(got, []string{back, back, back}) {
		t.Errorf("back: %q", got)
	}
}

// quoted is a JSON string, or null for "".
func quoted(s string) string {
	if s == "" {
		return "null"
	}
	return `"` + s + `"`
}

// TestWhileWriting reads while steps are written: a page's count fits its
// results, a poller with after_id sees every entry once and in order, and the
// settings change meanwhile.
func TestWhileWriting(t *testing.T) {
	t.Parallel()
	const steps, perStep = 25, 7
	w := bigWorld(t, 1)
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
	go func() { seen <- poll(t, s, "/api/components/big/big/changes/?", 3+steps*perStep) }()
	for i := range steps {
		addBigUnits(w, fmt.Sprintf("%040x", i+1), perStep)
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

// poll asks for what is new until it has seen n entries. list is the path of a
// list with the beginning of a query.
func poll(t *testing.T, s *Server, list string, n int) []int {
	var seen []int
	for last := 0; len(seen) < n; {
		_, rec := send(s, http.MethodGet, fmt.Sprintf("%spage_size=5&after_id=%d", list, last))
		var l envelope
		if err := json.Unmarshal(rec.Body.Bytes(), &l); err != nil || rec.Code != http.StatusOK || int(l.Count) < len(l.Results) {
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
