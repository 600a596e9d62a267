package forge

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/testrepos"
)

// TestKeepComment: one comment of the token's user is written, updated, and left alone if it is the
// same; comments of others stay, also if they begin with the marker and the token may change them.
func TestKeepComment(t *testing.T) {
	const marker = "<!-- x -->"
	for kind := range kinds() {
		fake := &testrepos.Forge{Kind: kind, Repository: kinds()[kind], Token: secret}
		for range 7 {
			fake.Add(testrepos.ForgeRequest{State: "open"})
		}
		for range 130 {
			fake.Say(testrepos.ForgeComment{Request: 7, Author: testrepos.ForgeBot, Body: "other " + marker})
		}
		fake.Say(testrepos.ForgeComment{Request: 7, Author: "somebody", Body: marker + "\nlook here"}, testrepos.ForgeComment{Request: 7, Body: marker + "\nlook here"},
			testrepos.ForgeComment{Request: 6, Author: testrepos.ForgeBot, Body: marker + "\nof another request"})
		before := fake.Comments()
		writes := 0
		fake.Hook = func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodGet && r.URL.Path != "/api/graphql" {
				writes++
			}
			return false
		}
		server := httptest.NewTLSServer(fake)
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
		list := fake.Comments()
		if writes != 4 || len(list) != len(before)+1 || len(list[len(before)].Body) > MaxBody+len("…") {
			t.Errorf("%s: %d writes, %d comments", kind, writes, len(list))
		}
		for i := range before {
			if list[i] != before[i] {
				t.Errorf("%s: a comment that is not ours is %+v", kind, list[i])
			}
		}
		if problems := fake.Problems(); len(problems) > 0 {
			t.Errorf("%s: what was sent: %q", kind, problems)
		}
		if _, err := KeepComment(t.Context(), o, 8, marker, "x", false); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: no such request: %v", kind, err)
		}
		fake.Hook = func(w http.ResponseWriter, _ *http.Request) bool { // GraphQL tells errors with 200
			_, _ = w.Write([]byte(`{"errors":[{"message":"no"}],"data":{"viewer":null}}`))
			return true
		}
		if _, err := KeepComment(t.Context(), o, 7, marker, "x", false); !errors.Is(err, ErrAccess) {
			t.Errorf("%s: it is not known whose the token is: %v", kind, err)
		}
		fake.Hook, o.Token = nil, "wrong"
		if _, err := KeepComment(t.Context(), o, 7, marker, "x", false); !errors.Is(err, ErrAccess) {
			t.Errorf("%s: %v", kind, err)
		}
		server.Close()
	}
}
