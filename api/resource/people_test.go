package resource_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/api/signin"
	"github.com/repoglot/repoglot/catalog"
)

var providers = []*signin.Provider{signin.New(signin.Options{ID: "gh", Kind: "github"})}

// token makes a token.
func (e *editor) token(t catalog.Token) {
	e.t.Helper()
	t.Created = time.Now()
	secret, err := e.DB.Access().CreateToken(e.t.Context(), t)
	if err != nil {
		e.t.Fatal(err)
	}
	e.tokens[t.Name] = secret
}

// TestScopeSuggest: a token of scope suggest suggests texts, one by one and from a file, and
// everything else is refused as to a token that only reads.
func TestScopeSuggest(t *testing.T) {
	e := newEditor(t)
	e.token(catalog.Token{Name: "guest", Scope: catalog.ScopeSuggest})
	e.token(catalog.Token{Name: "guest 2", Scope: catalog.ScopeSuggest})
	e.token(catalog.Token{Name: "guest of other", Scope: catalog.ScopeSuggest, Projects: "other"})
	unit, file := e.units["app cs Open"], "/api/translations/demo/app/cs/file/"
	for _, tt := range []struct {
		name, token, method, path, body string
		status                          int
		want                            string
	}{
		{"suggests", "guest", "POST", unit + "suggestions/", `{"target": ["Otevřít"]}`, 201, `"author_name":"guest"`},
		{"of another project", "guest of other", "POST", unit + "suggestions/", `{"target": ["x"]}`, 403, "the token is for other projects"},
		{"turned off", "guest", "POST", e.units["silent cs Open"] + "suggestions/", `{"target": ["x"]}`, 403, "suggestions are turned off"},
		{"closed", "guest", "POST", e.units["closed cs Open"] + "suggestions/", `{"target": ["x"]}`, 403, "This cannot be changed"},
		{"read-only string", "guest", "POST", e.units["app cs Fixed"] + "suggestions/", `{"target": ["x"]}`, 403, "The string is read-only."},
		{"edits", "guest", "PATCH", unit, `{"target": ["x"], "state": 20}`, 403, "needs a token of scope write"},
		{"accepts", "guest", "POST", "/api/suggestions/1/accept/", ``, 403, "needs a token of scope write"},
		{"takes back another's", "guest 2", "POST", "/api/suggestions/1/reject/", `{}`, 404, ""},
		{"takes back its own", "guest", "POST", "/api/suggestions/1/reject/", `{}`, 200, `"result":true`},
		{"rejects in another project", "guest of other", "POST", "/api/suggestions/1/reject/", `{}`, 403, "needs a token of scope write"},
		{"adds a language", "guest", "POST", "/api/components/demo/app/translations/", `{"language_code": "de"}`, 403, "needs a token of scope write"},
		{"adds a string", "guest", "POST", "/api/translations/demo/terms/cs/units/", `{"source": "a", "target": "b"}`, 403, "needs a token of scope write"},
		{"locks", "guest", "POST", "/api/components/demo/app/lock/", `{"lock": true}`, 403, "needs a token of scope write"},
		{"discards", "guest", "DELETE", "/api/edits/1/", ``, 403, "needs a token of scope write"},
	} {
		if status, answer, _ := e.send(tt.token, tt.method, tt.path, asJSON, tt.body); status != tt.status || !strings.Contains(answer, tt.want) {
			t.Errorf("%s: %d %s, want %d with %s", tt.name, status, answer, tt.status, tt.want)
		}
	}
	data := strings.Replace(e.po, "msgid \"Open\"\nmsgstr \"\"", "msgid \"Open\"\nmsgstr \"Otevři\"", 1)
	for _, tt := range []struct {
		token, method string
		status        int
		want          string
	}{
		{"guest", "translate", 403, "needs a token of scope write"},
		{"guest", "replace", 403, "needs a token of scope write"},
		{"read", "suggest", 403, "needs a token of scope write"},
		{"guest", "suggest", 200, `"accepted":1`},
	} {
		kind, body := form(t, data, "method", tt.method)
		if status, answer, _ := e.send(tt.token, "POST", file, kind, body); status != tt.status || !strings.Contains(answer, tt.want) {
			t.Errorf("%s uploads with method %s: %d %s, want %d with %s", tt.token, tt.method, status, answer, tt.status, tt.want)
		}
	}
	if _, answer, _ := e.send("", "GET", unit, "", ""); !strings.Contains(answer, `"target":[""]`) || !strings.Contains(answer, `"has_suggestion":true`) {
		t.Errorf("the string is %s", answer)
	}
	e.Verify()
}

// TestRights: whatever roles an account has and whatever scope its personal token, each request
// that writes is refused exactly if Token.May says no. What is permitted has a body that is wrong,
// so that nothing changes.
func TestRights(t *testing.T) {
	e := newEditor(t)
	unit := e.units["app cs Open"]
	e.send("write", "POST", unit+"suggestions/", asJSON, `{"target": ["Otevřít"]}`)
	requests := []struct {
		scope        catalog.Scope
		language     string
		method, path string
		body         string
	}{
		{catalog.ScopeSuggest, "cs", "POST", unit + "suggestions/", `{}`},
		{catalog.ScopeSuggest, "cs", "POST", "/api/translations/demo/app/cs/file/", `{}`},
		{catalog.ScopeWrite, "cs", "PATCH", unit, `{}`},
		{catalog.ScopeWrite, "cs", "PUT", unit, `{}`},
		{catalog.ScopeWrite, "cs", "POST", "/api/suggestions/1/accept/", `{"approve": true}`},
		{catalog.ScopeSuggest, "cs", "POST", "/api/suggestions/1/reject/", `[`},
		{catalog.ScopeWrite, "cs", "POST", "/api/translations/demo/terms/cs/units/", `{}`},
		{catalog.ScopeWrite, "", "POST", "/api/components/demo/app/translations/", `{}`},
		{catalog.ScopeAdmin, "", "POST", "/api/components/demo/app/lock/", `{}`},
		{catalog.ScopeAdmin, "", "POST", "/api/projects/demo/lock/", `{}`},
		{catalog.ScopeAdmin, "", "POST", "/api/components/demo/app/requests/", `{}`},
		{catalog.ScopeAdmin, "", "POST", "/api/components/demo/app/repository/", `{}`},
		{catalog.ScopeAdmin, "", "POST", "/api/projects/demo/repository/", `{}`},
		{catalog.ScopeAdmin, "cs", "POST", "/api/translations/demo/app/cs/repository/", `{}`},
	}
	a := catalog.Account{Provider: "gh", Subject: "1", Name: "jana"}
	if _, _, err := e.DB.Access().SignIn(t.Context(), &a, time.Hour); err != nil {
		t.Fatal(err)
	}
	tokens := map[catalog.Scope]string{}
	for _, scope := range catalog.Scopes() {
		secret, err := e.DB.Access().CreatePersonal(t.Context(), &a, catalog.Token{Name: string(scope), Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		tokens[scope] = secret
	}
	server := e.srv.Config.Handler.(*api.Server)
	jana := []string{"gh:jana"}
	rapid.Check(t, func(rt *rapid.T) {
		of := func(what string) []string {
			if rapid.Bool().Draw(rt, what) {
				return jana
			}
			return nil
		}
		translators := func(where string) map[string][]string {
			return map[string][]string{rapid.SampledFrom([]string{"cs", "de", "*"}).Draw(rt, where+" language"): of(where + " translator")}
		}
		book := catalog.RoleBook{Translators: translators("server"), Projects: map[string]catalog.ProjectRoles{}}
		if rapid.IntRange(0, 5).Draw(rt, "admin of all") == 0 {
			book.Admins = jana
		}
		for _, slug := range []string{"demo", "other"} {
			book.Projects[slug] = catalog.ProjectRoles{Admins: of(slug + " admin"), Readers: of(slug + " reader"), Translators: translators(slug)}
		}
		server.Update(api.Settings{SignIn: providers, Roles: book})
		scope := rapid.SampledFrom(catalog.Scopes()).Draw(rt, "token")
		now := a
		now.Roles = book.Of(&a)
		token := catalog.Token{ID: 1, Scope: scope, Account: &now}
		e.tokens["personal"] = tokens[scope]
		for _, q := range requests {
			status, answer, _ := e.send("personal", q.method, q.path, asJSON, q.body)
			if may := token.May(q.scope, "demo", false, q.language); (status == 403) == may || status == 401 || status >= 500 || status < 300 {
				rt.Fatalf("%s %s with a token of scope %s and the roles %+v: %d %s, May is %v", q.method, q.path, scope, now.Roles, status, answer, may)
			}
		}
	})
	e.Verify()
}
