package catalog_test

import (
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

func TestUsername(t *testing.T) {
	for name, want := range map[string]string{
		"Jana Nováková":    "jana-novakova",
		"  ":               "author",
		"山田太郎":             "山田太郎",
		"A.  B. (bot) <x>": "a-b-bot-x",
		"Đorđe":            "đorđe",
	} {
		if got := catalog.Username(name); got != want {
			t.Errorf("Username(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestTokenSees: what is private in which projects a token shows.
func TestTokenSees(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		token        catalog.Token
		a, empty, ab bool
		all          bool
	}{
		{token: catalog.Token{}},
		{token: catalog.Token{Projects: "a"}},
		{catalog.Token{ID: 1}, true, true, true, true},
		{catalog.Token{ID: 1, Projects: catalog.Names("b", "a")}, true, false, false, false},
		{catalog.Token{ID: 1, Projects: catalog.Names("ab")}, false, false, true, false},
	} {
		if c.token.Sees("a") != c.a || c.token.Sees("") != c.empty || c.token.Sees("ab") != c.ab || c.token.SeesAll() != c.all {
			t.Errorf("%+v", c.token)
		}
	}
}
