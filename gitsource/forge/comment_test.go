package forge

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// comments is the part of a forge that has the comments at request 7. Those of ids below own
// are of somebody else, which only an admin may change.
type comments struct {
	kind string
	own  int64
	list []comment
	sent []string
}

func (c *comments) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	below, one, update, auth := "/api/v3/repos/hello/app", "/issues/comments/", http.MethodPatch, r.Header.Get("Authorization") == "Bearer "+secret
	list := below + "/issues/7/comments"
	switch c.kind {
	case "gitlab":
		list, update, auth = "/api/v4/projects/group%2Fsub%2Fapp/merge_requests/7/notes", http.MethodPut, r.Header.Get("PRIVATE-TOKEN") == secret
		below, one = list, "/"
	case "gitea", "forgejo":
		below, auth = "/api/v1/repos/hello/app", r.Header.Get("Authorization") == "token "+secret
		list = below + "/issues/7/comments"
	}
	path := r.URL.EscapedPath()
	var in struct{ Body string }
	_ = json.NewDecoder(r.Body).Decode(&in)
	id, err := strconv.ParseInt(strings.TrimPrefix(path, below+one), 10, 64)
	switch {
	case !auth:
		w.WriteHeader(http.StatusUnauthorized)
	case path == list && r.Method == http.MethodGet:
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		all := c.list
		if c.kind != "gitea" && c.kind != "forgejo" { // which have one page
			all = all[min(len(all), 100*(page-1)):min(len(all), 100*page)]
		}
		_ = json.NewEncoder(w).Encode(append([]comment{}, all...))
	case path == list && r.Method == http.MethodPost:
		c.sent = append(c.sent, "new")
		c.list = append(c.list, comment{ID: int64(len(c.list) + 1), Body: in.Body})
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(c.list[len(c.list)-1])
	case err == nil && r.Method == update && id < c.own:
		w.WriteHeader(http.StatusForbidden)
	case err == nil && r.Method == update:
		c.sent = append(c.sent, fmt.Sprint(id))
		c.list[id-1].Body = in.Body
		_ = json.NewEncoder(w).Encode(c.list[id-1])
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// TestKeepComment: one comment is written, updated, and left alone if it is the same.
func TestKeepComment(t *testing.T) {
	const marker = "<!-- x -->"
	for kind := range kinds() {
		c := &comments{kind: kind, own: 131}
		for i := range 130 {
			c.list = append(c.list, comment{ID: int64(i + 1), Body: "other " + marker})
		}
		c.list[3].Body, c.list[5] = marker+"\nnot ours", comment{ID: 6, Body: marker, System: true}
		server := httptest.NewTLSServer(c)
		o := options(kind, server)
		for _, test := range []struct {
			text, done string
			only       bool
		}{
			{"first", "", true},
			{"first", "written", false},
			{"first", "kept", false},
			{"second `x` <b> \"", "updated", false},
			{"none", "updated", true},
			{"none", "kept", true},
			{strings.Repeat("x", 2*MaxBody), "updated", false},
		} {
			if done, err := KeepComment(t.Context(), o, 7, marker, test.text, test.only); err != nil || done != test.done {
				t.Errorf("%s: %.20s: %q, %v, want %q", kind, test.text, done, err, test.done)
			}
		}
		if got := strings.Join(c.sent, " "); got != "new 131 131 131" || len(c.list) != 131 || len(c.list[130].Body) > MaxBody+len("…") {
			t.Errorf("%s: %s, %d bytes", kind, got, len(c.list[130].Body))
		}
		if _, err := KeepComment(t.Context(), o, 8, marker, "x", false); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: no such request: %v", kind, err)
		}
		o.Token = "wrong"
		if _, err := KeepComment(t.Context(), o, 7, marker, "x", false); !errors.Is(err, ErrAccess) {
			t.Errorf("%s: %v", kind, err)
		}
		server.Close()
	}
}
