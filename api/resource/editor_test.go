package resource_test

import (
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// editor is a server that takes edits, with a component "app" that does, one,
// "closed", that does not, one, "silent", that takes no suggestions, and a glossary, "terms".
type editor struct {
	*catalogtest.Puller
	t      *testing.T
	srv    *httptest.Server
	pools  limit.Pools
	tokens map[string]string
	units  map[string]string // paths by component and source
	repo   *testrepos.Repo
	po     string // of all components

	operator operator
}

func newEditor(t *testing.T) *editor {
	t.Helper()
	repo := testrepos.Empty(t)
	po := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=3; plural=n==1 ? 0 : n>=2 && n<=4 ? 1 : 2;\\n\"\n\nmsgid \"Open\"\nmsgstr \"\"\n\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\nmsgstr[2] \"\"\n\n#, read-only\nmsgid \"Fixed\"\nmsgstr \"Pevné\"\n"
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po, "doc/cs.po": po, "quiet/cs.po": po, "terms/cs.po": po}})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{
		"app":    {Edits: catalog.Edits{Mode: catalog.PushDirect}, EnableSuggestions: true},
		"silent": {Edits: catalog.Edits{Mode: catalog.PushDirect}, Filemask: "quiet/*.po"},
		"closed": {Filemask: "doc/*.po"},
		"terms":  {Edits: catalog.Edits{Mode: catalog.PushDirect}, Filemask: "terms/*.po", IsGlossary: true},
	})
	w.Sync()
	e := &editor{Puller: w, t: t, repo: repo, po: po, tokens: map[string]string{}, units: map[string]string{}}
	for name, token := range map[string]catalog.Token{
		"read": {Scope: catalog.ScopeRead}, "write": {Scope: catalog.ScopeWrite, AuthorName: "Jana Nováková", AuthorEmail: "jana@example.org"},
		"german": {Scope: catalog.ScopeWrite, Languages: catalog.Names("de")}, "other": {Scope: catalog.ScopeWrite, Projects: catalog.Names("other")},
		"admin": {Scope: catalog.ScopeAdmin}, "far": {Scope: catalog.ScopeAdmin, Projects: catalog.Names("other")},
	} {
		token.Name, token.Created = name, time.Now()
		secret, err := w.DB.Access().CreateToken(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		e.tokens[name] = secret
	}
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		key := c.Slug + " " + tr.Language + " " + catalog.SplitForms(u.Source)[0]
		e.units[key] = "/api/units/" + json.Number(jsonText(t, u.ID)).String() + "/"
	})
	s := api.New(api.Options{DB: w.DB, Languages: w.Languages, Edits: w.Editor, Operations: &e.operator, CacheBytes: 1 << 20})
	e.srv, e.pools = httptest.NewServer(s), s.Pools()
	t.Cleanup(e.srv.Close)
	return e
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// send sends a request and returns status, body and headers.
func (e *editor) send(token, method, path, kind, body string, headers ...string) (int, string, http.Header) {
	e.t.Helper()
	req, err := http.NewRequestWithContext(e.t.Context(), method, e.srv.URL+path, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Token "+e.tokens[token])
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := e.srv.Client().Do(req)
	if err != nil {
		e.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return resp.StatusCode, string(data), resp.Header
}

// pool is one of those that clients share.
func (e *editor) pool(name string) *limit.Pool {
	return e.pools[slices.IndexFunc(e.pools, func(p *limit.Pool) bool { return p.Name == name })]
}

// client is how a token is named in pools.
func (e *editor) client(token string) string {
	e.t.Helper()
	var found catalog.Token
	err := e.DB.Read(e.t.Context(), func(ctx context.Context, snap *store.Snapshot) (err error) {
		found, _, _, err = snap.Access().Token(ctx, e.tokens[token])
		return err
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return limit.Token(found.ID)
}

const (
	asJSON = "application/json"
	asForm = "application/x-www-form-urlencoded"
)

// operator counts operations.
type operator struct {
	pushes, pulls int
	clones        int
	commits       []int // numbers of translations
	fails         error
	onPush        func()
	onMerge       func(component int64, number int, head string, by edit.Author) error
}

func (o *operator) Merge(_ context.Context, component int64, number int, head string, by edit.Author) (bool, error) {
	if o.onMerge == nil {
		return false, o.fails
	}
	return true, o.onMerge(component, number, head, by)
}

func (o *operator) Commit(_ context.Context, _ int64, translations []int64) (bool, error) {
	o.commits = append(o.commits, len(translations))
	return true, o.fails
}

func (o *operator) Push(context.Context, int64, *catalog.Token) (bool, error) {
	if o.pushes++; o.onPush != nil {
		o.onPush()
	}
	return true, o.fails
}

func (o *operator) Pull(context.Context, int64) (bool, error) {
	o.pulls++
	return false, nil
}

func (o *operator) Reclone(context.Context, int64) (bool, error) {
	o.clones++
	return true, o.fails
}

// form makes a multipart body.
func form(t *testing.T, file string, fields ...string) (kind, body string) {
	t.Helper()
	var b strings.Builder
	w := multipart.NewWriter(&b)
	if file != "" {
		part, err := w.CreateFormFile("file", "cs.po")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(part, file)
	}
	for i := 0; i < len(fields); i += 2 {
		_ = w.WriteField(fields[i], fields[i+1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.String()
}
