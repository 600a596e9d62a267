package resource_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// TestRequestsOfOthers reads the requests that no longer merge, as each client may, and merges
// one whose head was shown.
func TestRequestsOfOthers(t *testing.T) {
	e := newEditor(t)
	const path = "/api/components/demo/app/requests/"
	var id int64
	e.EachComponent(func(_ context.Context, _ *store.Snapshot, c *store.ComponentRow) error {
		if c.Slug == "app" {
			id = c.ID
		}
		return nil
	})
	shows := func(list ...catalog.Incoming) {
		t.Helper()
		err := e.DB.NoteIncomings(t.Context(), []int64{id}, func(int64, catalog.Incomings) catalog.Incomings {
			return catalog.Incomings{List: list, Problem: "its forge cannot be asked", Failed: "https://user:secret@host says no"}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func(token string) string {
		t.Helper()
		status, answer, _ := e.send(token, "GET", path, "", "")
		if status != 200 {
			t.Fatalf("%d %s", status, answer)
		}
		return answer
	}
	if got := read(""); got != `{"results":[],"problem":"","detail":""}` {
		t.Errorf("without any: %s", got)
	}
	good := catalog.Incoming{Number: 7, Title: "Czech <b>", URL: "https://example.org/7", Head: "abc", Into: "def", Strings: 132, Editable: true, Failed: "words of a remote"}
	shows(good, catalog.Incoming{Number: 8, Head: "x", Strings: 3, Conflicts: 1, Editable: true})
	if got := read(""); !strings.Contains(got, `"number":7`) || !strings.Contains(got, `"strings":132,"conflicts":0,"problem":"","detail":"","editable":true,"mergeable":true,"wished":false`) || strings.Contains(got, "says no") || strings.Contains(got, "words") {
		t.Errorf("as everybody: %s", got)
	}
	if got := read("write"); !strings.Contains(got, "says no") || !strings.Contains(got, "words of a remote") || strings.Contains(got, "secret") {
		t.Errorf("as a translator: %s", got)
	}
	if got := read("other"); strings.Contains(got, "words") {
		t.Errorf("of another project: %s", got)
	}
	merge := func(token string, number int, head string, status int, want string) {
		t.Helper()
		if got, answer, _ := e.send(token, "POST", path, asJSON, fmt.Sprintf(`{"number": %d, "head": %q}`, number, head)); got != status || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s, want %d with %s", token, got, answer, status, want)
		}
	}
	merge("write", 7, "abc", 403, "scope admin")
	merge("far", 7, "abc", 403, "for other projects")
	merge("", 7, "abc", 401, "")
	merge("admin", 7, "abc", 200, "Another process")
	var did []string
	e.operator.onMerge = func(component int64, number int, head string, by edit.Author) error {
		did = append(did, fmt.Sprint(component == id, " ", number, " ", head, " ", by.Name))
		return e.DB.WishMerge(t.Context(), component, number, head, catalog.MergeWish{Name: by.Name, At: time.Unix(1, 0)})
	}
	merge("admin", 7, "old", 409, "has changed since")
	merge("admin", 8, "x", 409, "cannot be merged")
	merge("admin", 7, "abc", 200, "when the forge can be asked again")
	if got := read(""); !strings.Contains(got, `"wished":true`) {
		t.Errorf("wished: %s", got)
	}
	shows(good) // the wish stays, since it was not tried
	if got := read(""); !strings.Contains(got, `"wished":true`) {
		t.Errorf("still wished: %s", got)
	}
	tried := good
	tried.Failed, tried.Tried = "branch has moved", time.Unix(1, 0)
	shows(tried)
	if got := read(""); !strings.Contains(got, `"wished":false`) {
		t.Errorf("tried: %s", got)
	}
	e.operator.onMerge = func(int64, int, string, edit.Author) error { shows(tried); return nil }
	merge("admin", 7, "abc", 200, `{"result":false,"detail":"branch has moved"}`)
	e.operator.onMerge = func(int64, int, string, edit.Author) error { shows(); return nil }
	merge("admin", 7, "abc", 200, `{"result":true}`)
	e.operator.onMerge = func(int64, int, string, edit.Author) error { return errors.New("no disk") }
	merge("admin", 7, "abc", 200, `"detail":"no disk"`)
	if status, answer, _ := e.send("admin", "POST", "/api/components/demo/closed/requests/", asJSON, `{"number": 1, "head": "a"}`); status != 403 {
		t.Errorf("of a component that takes no edits: %d %s", status, answer)
	}
	if len(did) != 3 || did[2] != "true 7 abc admin" {
		t.Errorf("asked for %q", did)
	}
}
