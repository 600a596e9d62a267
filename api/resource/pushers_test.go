package resource_test

import (
	"context"
	"testing"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// pusher says that an account may push to component 1, as soon as the forge was asked.
type pusher struct {
	asked *int
	known *bool
}

func (pusher) RolesOf(a *catalog.Account) ([]catalog.Role, bool) { return a.Roles, true }

func (p pusher) Pushes(_ *catalog.Account, c *store.ComponentRow) (bool, func(context.Context)) {
	*p.asked++
	if !*p.known {
		return false, func(context.Context) { *p.known = true }
	}
	return c.ID == 1, nil
}

// TestPushersEdit: whom the forge lets push may edit what it sees, as far as its token may, and may
// not administer; it is asked only of accounts whose roles do not permit it.
func TestPushersEdit(t *testing.T) {
	t.Parallel()
	reader := []catalog.Role{{Project: "p", Scope: catalog.ScopeRead}}
	for name, test := range map[string]struct {
		scope     catalog.Scope
		roles     []catalog.Role
		component int64
		private   bool
		may       bool
		asked     int
	}{
		"may push":                 {catalog.ScopeAdmin, nil, 1, false, true, 1},
		"may not":                  {catalog.ScopeAdmin, nil, 2, false, false, 1},
		"a token that suggests":    {catalog.ScopeSuggest, nil, 1, false, false, 0},
		"hidden":                   {catalog.ScopeAdmin, nil, 1, true, false, 0},
		"private, but shown":       {catalog.ScopeWrite, reader, 1, true, true, 1},
		"a translator by its role": {catalog.ScopeWrite, []catalog.Role{{Scope: catalog.ScopeWrite}}, 2, false, true, 0},
	} {
		asked, known := 0, true
		row := &store.TranslationRow{Translation: catalog.Translation{Language: "cs"}, Component: catalog.Component{ID: test.component}, Project: catalog.Project{Slug: "p"}}
		row.Component.Settings.Edits.Mode = catalog.PushDirect
		if test.private {
			row.Component.Settings.Access = catalog.AccessPrivate
		}
		a := rest.Access{Granter: pusher{&asked, &known}, Open: new([]func(context.Context)), Token: catalog.Token{ID: -1, Scope: test.scope, Account: &catalog.Account{ID: 1, Roles: test.roles}}}
		err := resource.MayEdit(rest.WithAccess(t.Context(), a), row)
		if (err == nil) != test.may || asked != test.asked {
			t.Errorf("%s: %v, asked %d times", name, err, asked)
		}
	}
}

// TestPushersAreNoStrangers: what bounds the suggestions of people without a role does not count those
// of whom the forge lets push to the component, by a token that only suggests, too.
func TestPushersAreNoStrangers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		component int64
		account   *catalog.Account
		stranger  bool
	}{
		"may push": {1, &catalog.Account{ID: 1}, false},
		"may not":  {2, &catalog.Account{ID: 1}, true},
		"a role":   {2, &catalog.Account{ID: 1, Roles: []catalog.Role{{Project: "p", Scope: catalog.ScopeRead}}}, false},
		"a token":  {2, nil, false},
	} {
		asked, known := 0, false
		row := &store.TranslationRow{Component: catalog.Component{ID: test.component}, Project: catalog.Project{Slug: "p"}}
		a := rest.Access{Granter: pusher{&asked, &known}, Open: new([]func(context.Context)), Token: catalog.Token{ID: 7, Scope: catalog.ScopeSuggest, Account: test.account}}
		if by := resource.SuggesterOf(rest.WithAccess(t.Context(), a), row); by.Stranger != test.stranger || asked > 0 && !known {
			t.Errorf("%s: %+v, asked %d times", name, by, asked)
		}
	}
}
