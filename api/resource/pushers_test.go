package resource_test

import (
	"context"
	"testing"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// pusher says that an account may push to component 1.
type pusher struct{ asked *int }

func (pusher) RolesOf(a *catalog.Account) ([]catalog.Role, bool) { return a.Roles, true }

func (p pusher) Pushes(_ *catalog.Account, c *store.ComponentRow) (bool, func(context.Context)) {
	*p.asked++
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
		asked := 0
		row := &store.TranslationRow{Translation: catalog.Translation{Language: "cs"}, Component: catalog.Component{ID: test.component}, Project: catalog.Project{Slug: "p"}}
		row.Component.Settings.Edits.Mode = catalog.PushDirect
		if test.private {
			row.Component.Settings.Access = catalog.AccessPrivate
		}
		a := rest.Access{Granter: pusher{&asked}, Token: catalog.Token{ID: -1, Scope: test.scope, Account: &catalog.Account{ID: 1, Roles: test.roles}}}
		err := resource.MayEdit(rest.WithAccess(t.Context(), a), row)
		if (err == nil) != test.may || asked != test.asked {
			t.Errorf("%s: %v, asked %d times", name, err, asked)
		}
	}
}
