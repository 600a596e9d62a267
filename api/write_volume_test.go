package api

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// TestStoredVolume: a token that has stored its bytes of a day stores no more of any kind,
// another one does, and the next day it may again.
func TestStoredVolume(t *testing.T) {
	t.Parallel()
	repo := testrepos.Empty(t)
	source := strings.Repeat("o", 1500)
	po := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"" + source + "\"\nmsgstr \""
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po + "\"\n"}})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {Edits: catalog.Edits{Mode: catalog.PushDirect}, EnableSuggestions: true}})
	w.Sync()
	now := time.Now()
	s := New(Options{DB: w.DB, Languages: w.Languages, Edits: w.Editor, Now: func() time.Time { return now }})
	s.stored = limit.New(limit.Rate{Count: 10_000, Per: storedRate.Per}, s.now)
	secrets, unit := []string{}, ""
	for _, name := range []string{"one", "other"} {
		secret, err := w.DB.Access().CreateToken(t.Context(), catalog.Token{Name: name, Scope: catalog.ScopeWrite, Created: now})
		must(t, err)
		secrets = append(secrets, secret)
	}
	w.EachUnit(func(_ *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if tr.Language == "cs" {
			unit = fmt.Sprintf("/api/units/%d/", u.ID)
		}
	})
	token, texts := secrets[0], 0
	all := func(want int) { // a text counts with 500 bytes of its row, a file as it is
		t.Helper()
		for _, kind := range []string{"PATCH " + unit, "POST " + unit + "suggestions/", "POST /api/translations/demo/app/cs/file/"} {
			texts++
			text := fmt.Sprintf("%01500d", texts)
			body, typ := bytes.NewBufferString(`{"target": ["`+text+`"], "state": 20}`), "application/json"
			if strings.HasSuffix(kind, "/file/") {
				body.Reset()
				form := multipart.NewWriter(body)
				part, err := form.CreateFormFile("file", "cs.po")
				must(t, err)
				_, err = io.WriteString(part, po+text+"\"\n")
				must(t, err)
				must(t, form.Close())
				typ = form.FormDataContentType()
			}
			method, path, _ := strings.Cut(kind, " ")
			req, rec := httptest.NewRequestWithContext(t.Context(), method, path, body), httptest.NewRecorder()
			req.Header.Set("Content-Type", typ)
			req.Header.Set("Authorization", "Token "+token)
			s.ServeHTTP(rec, req)
			if got := rec.Code; want == 0 && got/100 != 2 || want != 0 && (got != want || rec.Header().Get("Retry-After") != fmt.Sprint(int(storedRate.Per/time.Second))) {
				t.Errorf("%s: %d %v %.300s, want status %d", kind, got, rec.Header(), rec.Body, want)
			}
		}
	}
	all(0)
	rest := 10_000 - 2*2000 - len(po) - len("\"\n") - 1500
	must(t, countStored(s.stored, 1, rest)) // all of a day's
	if countStored(s.stored, 1, 1) == nil {
		t.Error("less was counted than is stored")
	}
	all(http.StatusTooManyRequests)
	token = secrets[1]
	all(0)
	token, now = secrets[0], now.Add(storedRate.Per)
	all(0)
}
