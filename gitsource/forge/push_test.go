package forge

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestMayPush: the forge says who may push; the account is known by its id, whatever its name.
func TestMayPush(t *testing.T) {
	t.Parallel()
	const members, permission = "/api/v4/projects/group%2Fsub%2Fapp/members/all/7", "/repos/hello/app/collaborators/jana/permission"
	for _, test := range []struct {
		kind, path, answer string
		status             int
		want, fails        bool
	}{
		{"github", "/api/v3" + permission, `{"permission":"write","user":{"id":7}}`, 200, true, false},
		{"github", "/api/v3" + permission, `{"permission":"admin","user":{"id":7}}`, 200, true, false},
		{"github", "/api/v3" + permission, `{"permission":"read","user":{"id":7}}`, 200, false, false},
		{"github", "/api/v3" + permission, `{"permission":"write","user":{"id":8}}`, 200, false, false}, // the name is another's now
		{"github", "/api/v3" + permission, `{"permission":"write"}`, 200, false, false},
		{"github", "/api/v3" + permission, `{}`, 404, false, false},
		{"github", "/api/v3" + permission, `{}`, 403, false, true},
		{"github", "/api/v3" + permission, `{"permission":"write","user":{"id":7}}`, 500, false, true},
		{"gitea", "/api/v1" + permission, `{"permission":"owner","user":{"id":7}}`, 200, true, false},
		{"forgejo", "/api/v1" + permission, `{"permission":"none","user":{"id":7}}`, 200, false, false},
		{"gitlab", members, `{"id":7,"access_level":30,"state":"active"}`, 200, true, false},
		{"gitlab", members, `{"id":7,"access_level":20,"state":"active"}`, 200, false, false},
		{"gitlab", members, `{"id":7,"access_level":40,"state":"blocked"}`, 200, false, false},
		{"gitlab", members, `{"id":8,"access_level":40,"state":"active"}`, 200, false, false},
		{"gitlab", members, `{}`, 404, false, false},
	} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.EscapedPath() != test.path || r.Header.Get("Authorization")+r.Header.Get("PRIVATE-TOKEN") == "" {
				t.Errorf("%s: asked for %s", test.kind, r.URL.EscapedPath())
			}
			w.WriteHeader(test.status)
			_, _ = w.Write([]byte(test.answer))
		}))
		got, err := MayPush(t.Context(), options(test.kind, server), "jana", "7")
		server.Close()
		if got != test.want || (err != nil) != test.fails {
			t.Errorf("%s %s %d: %v %v", test.kind, test.answer, test.status, got, err)
		}
	}
}
