package catalog

import (
	"testing"

	"pgregory.net/rapid"
)

// TestRoles: a role is of whom the configuration names by a name that is bound to the
// account, or by its subject, at this provider, and nobody else's.
func TestRoles(t *testing.T) {
	t.Parallel()
	book := RoleBook{
		Admins:      []string{"gh:boss"},
		Translators: map[string][]string{"cs": {"gh:Jana", "gh:#7"}, "*": {"lab:jana"}},
		Projects:    map[string]ProjectRoles{"secret": {Readers: []string{"gh:reader"}, Translators: map[string][]string{"de": {"gh:jana"}}}},
	}
	jana := Account{Provider: "gh", Subject: "1", Name: "jana", Names: "jana"}
	for _, test := range []struct {
		name              string
		account           Account
		scope             Scope
		project, language string
		private, want     bool
	}{
		{"her language", jana, ScopeWrite, "app", "cs", false, true},
		{"another language", jana, ScopeWrite, "app", "de", false, false},
		{"anybody suggests", jana, ScopeSuggest, "app", "de", false, true},
		{"her language in private", jana, ScopeWrite, "secret", "de", true, true},
		{"the public role in private", jana, ScopeWrite, "secret", "cs", true, false},
		{"a private project of others", jana, ScopeRead, "other", "", true, false},
		{"no admin", jana, ScopeAdmin, "app", "", false, false},
		{"by subject", Account{Provider: "gh", Subject: "7", Name: "x"}, ScopeWrite, "app", "cs", false, true},
		{"the same name at another provider", Account{Provider: "lab", Subject: "1", Name: "jana", Names: "jana"}, ScopeWrite, "app", "cs", false, true},
		{"at a third one", Account{Provider: "tea", Subject: "1", Name: "jana", Names: "jana"}, ScopeWrite, "app", "cs", false, false},
		{"a name taken from somebody", Account{Provider: "gh", Subject: "9", Name: "jana"}, ScopeWrite, "app", "cs", false, false},
		{"a renamed account", Account{Provider: "gh", Subject: "1", Name: "eva", Names: "eva jana"}, ScopeWrite, "app", "cs", false, true},
		{"a subject as a name", Account{Provider: "gh", Subject: "1", Name: "#7", Names: "#7"}, ScopeWrite, "app", "cs", false, false},
		{"a reader suggests in private", Account{Provider: "gh", Subject: "5", Names: "reader"}, ScopeSuggest, "secret", "cs", true, false},
		{"admin of all", Account{Provider: "gh", Subject: "2", Names: "boss"}, ScopeAdmin, "secret", "", true, true},
	} {
		a := test.account
		a.ID, a.Roles = 1, book.Of(&a)
		token := Token{ID: -1, Scope: ScopeAdmin, Account: &a}
		if got := token.May(test.scope, test.project, test.private, test.language); got != test.want {
			t.Errorf("%s: May = %v, want %v; roles %+v", test.name, got, test.want, a.Roles)
		}
	}
}

// TestPersonalToken: a personal token never may more than its account, nor than its scope.
func TestPersonalToken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scope, slug := rapid.SampledFrom(Scopes()), rapid.SampledFrom([]string{"app", "secret"})
		languages := rapid.SampledFrom([]NameList{"", "cs", "cs de"})
		role := rapid.Custom(func(t *rapid.T) Role {
			return Role{rapid.SampledFrom([]string{"", "app", "secret", AllProjects}).Draw(t, "project"), scope.Draw(t, "role"), languages.Draw(t, "languages")}
		})
		a := Account{ID: 1, Roles: rapid.SliceOfN(role, 0, 3).Draw(t, "roles")}
		session, personal := Token{ID: -1, Scope: ScopeAdmin, Account: &a}, Token{ID: 1, Scope: scope.Draw(t, "token"), Account: &a}
		s, project, private, language := scope.Draw(t, "scope"), slug.Draw(t, "project"), rapid.Bool().Draw(t, "private"), rapid.SampledFrom([]string{"", "cs", "de"}).Draw(t, "language")
		if personal.May(s, project, private, language) && (!session.May(s, project, private, language) || !personal.Scope.Permits(s)) {
			t.Fatalf("a token of scope %s may %s in %s", personal.Scope, s, project)
		}
		if session.May(s, project, true, language) && !session.Sees(project) {
			t.Fatalf("it may %s in private parts of %s, which it does not see", s, project)
		}
	})
}
