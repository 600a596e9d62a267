package api

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// TestRefusedTokensAreLogged: a line for each refused token, up to some in a minute, with
// the client and without the token.
func TestRefusedTokensAreLogged(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var log bytes.Buffer
	s := bare(w, Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Now: func() time.Time { return now }})
	good := w.Token("t", catalog.ScopeRead)
	long := strings.Repeat("x", 3000)
	for range 3 * maxRefusals {
		if rec := ask(s, http.MethodGet, "/api/projects/"+long+"/", "Authorization", "Token rgt_SECRETSECRET"); rec.Code != 401 {
			t.Fatalf("%d", rec.Code)
		}
	}
	if rec := ask(s, http.MethodGet, "/api/projects/", "Authorization", "Token "+good); rec.Code != 200 {
		t.Fatalf("%d", rec.Code)
	}
	if n := strings.Count(log.String(), "token refused"); n != maxRefusals || strings.Contains(log.String(), "SECRET") || strings.Contains(log.String(), good) || log.Len() > 500*maxRefusals {
		t.Errorf("%d lines, %d bytes: %.500s", n, log.Len(), log.String())
	}
	now = now.Add(time.Minute)
	ask(s, http.MethodGet, "/api/", "Authorization", "Token x")
	if !strings.Contains(log.String(), `msg="more tokens, sign-ins and suggestions were refused" count=40`) || !strings.Contains(log.String(), "client=192.0.2.1") {
		t.Errorf("%s", log.String()[len(log.String())-500:])
	}
}
