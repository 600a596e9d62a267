package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/session"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// own is the page of somebody's own work.
type own struct {
	Token    catalog.Token
	Form     string // the session's form token
	Manages  bool   // it is a session of the account itself
	Roles    []string
	Edits    []ownEdit
	Sessions []catalog.Session
	Here     string // the session of the reader
	Tokens   []catalog.Token
	Scopes   []catalog.Scope
	Secret   string // of a token that was made just now
	Wrong    string
	Mails    bool   // whether digests are sent
	Confirm  string // the secret of a mail that asks to confirm an address
	Follows  []store.Follow
}

type ownEdit struct {
	store.Edit
	URL, Where string
}

// errNoSession asks to sign in.
var errNoSession = &rest.Problem{Status: http.StatusUnauthorized, Detail: "Sign in to see this page."}

func (p *Pages) account(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view) error {
	a := rest.AccessOf(ctx)
	if a.Session == "" {
		return errNoSession
	}
	v.named(v.L.T("Your own page"), "repoglot")
	o := &own{Token: a.Token, Form: session.FormToken(a.Session), Manages: a.Token.ID < 0, Here: snap.Access().SessionID(a.Session)}
	rows, err := resource.VisibleComponents(ctx, snap, "")
	if err != nil {
		return err
	}
	list, err := editsOnPage(ctx, snap, v, store.EditQuery{Components: resource.ImportedIDs(rows), Person: a.Token.Person()}, changesOnPage)
	for i := range list {
		e := ownEdit{Edit: list[i], Where: v.L.Join(p.nameOf(v.L, list[i].Language), list[i].Component, list[i].Project)}
		if e.Kind == store.EditText {
			e.URL = path("translate", e.Project, e.Component, e.Language) + "?checksum=" + catalog.Checksum(e.Identity.Hash)
		}
		o.Edits = append(o.Edits, e)
	}
	if err == nil {
		o.Sessions, err = snap.Access().Sessions(ctx, &a.Token)
	}
	if err == nil && o.Manages {
		o.Tokens, err = snap.Access().Personal(ctx, a.Token.Account.ID)
		o.Roles, o.Scopes = rolesOf(a.Token.Account), scopesOf(a.Token.Account)
		o.Mails, o.Confirm, v.Live = p.mails(), v.param("confirm"), true
	}
	if err == nil && o.Manages {
		o.Follows, err = snap.Follows(ctx, a.Token.Account.ID)
	}
	v.Body = o
	return err
}

// rolesOf names the roles of an account.
func rolesOf(a *catalog.Account) (list []string) {
	for _, r := range a.Roles {
		list = append(list, strings.Join(strings.Fields(string(r.Scope)+" "+cmp.Or(r.Project, "public")+" "+string(r.Languages)), " "))
	}
	return list
}

// scopesOf are the scopes that a personal token of an account can have: whoever the forge lets push
// has no role to tell of.
func scopesOf(a *catalog.Account) []catalog.Scope {
	return slices.DeleteFunc(catalog.Scopes(), func(s catalog.Scope) bool {
		return s == catalog.ScopeAdmin && !slices.ContainsFunc(a.Roles, func(r catalog.Role) bool { return r.Scope == s })
	})
}

// Account answers the forms of the page of somebody's own work.
func (p *Pages) Account(ctx context.Context, r *rest.Request) (*Edited, error) {
	a, f, to := rest.AccessOf(ctx), r.HTTP.PostForm, p.env.Store.Access()
	do, id, _ := strings.Cut(f.Get("do"), ":")
	number, _ := strconv.ParseInt(id, 10, 64)
	done := &Edited{Next: "/account/", Status: http.StatusSeeOther}
	var err error
	switch {
	case do == "end" && id != "":
		return done, to.EndSessions(ctx, &a.Token, id)
	case do == "everywhere":
		done.Next = "/login/"
		return done, to.EndSessions(ctx, &a.Token, "")
	case do == "withdraw" && p.env.Edits != nil:
		e, err := store.Get(ctx, p.env.Store, (*store.Snapshot).EditByID, number)
		if err == nil {
			err = p.env.AnswerSuggestion(ctx, e.ComponentID, e.TranslationID, edit.Answer{ID: number, UnitID: e.UnitID, Own: true})
		}
		return done, resource.EditProblem(err)
	case a.Token.ID >= 0:
		return nil, errNotHere
	case do == "revoke":
		err = to.RevokePersonal(ctx, a.Token.Account.ID, number)
	case do == "delete" && f.Get("sure") != "":
		done.Next = "/login/"
		err = to.ChangeAccount(ctx, a.Token.Account.ID, "deleted", "the account itself")
	case do == "token":
		return p.personalToken(ctx, r, a.Token.Account)
	default:
		return nil, errNotHere
	}
	if err == nil {
		p.env.Logger.Info("an account changed itself", "account", a.Token.Account.ID, "what", do)
	}
	return done, err
}

// personalToken makes a token, and a page that shows it.
func (p *Pages) personalToken(ctx context.Context, r *rest.Request, a *catalog.Account) (*Edited, error) {
	f := r.HTTP.PostForm
	t := catalog.Token{Name: f.Get("name"), Scope: catalog.Scope(f.Get("scope"))}
	if days, _ := strconv.Atoi(f.Get("days")); days > 0 && days <= 3650 {
		t.Expires = p.now().UTC().Truncate(time.Second).AddDate(0, 0, days)
	}
	if !slices.Contains(scopesOf(a), t.Scope) {
		return nil, errNotHere
	}
	secret, err := p.env.Store.Access().CreatePersonal(ctx, a, t)
	refused := errors.Is(err, catalog.ErrInvalid) || errors.Is(err, catalog.ErrConflict)
	if err != nil && !refused {
		return nil, err
	}
	v := p.newView(r.HTTP, r.Params)
	if err := p.env.Store.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error { return p.account(ctx, snap, r, v) }); err != nil {
		return nil, err
	}
	o, done := v.Body.(*own), &Edited{Status: http.StatusOK}
	if o.Secret = secret; refused {
		o.Wrong, done.Status = v.L.T("This token cannot be made: choose another name, or revoke one."), http.StatusConflict
	} else {
		p.env.Logger.Info("a personal token was made", "account", a.ID, "scope", string(t.Scope))
	}
	done.Page, err = p.execute("own", v)
	return done, err
}

// accounts is the page of accounts, for administrators of the server.
type accounts struct {
	Form   string
	List   []catalog.Account
	Roles  map[int64][]string
	Events []catalog.AccountEvent
	Done   string
}

var errNoAdmin = &rest.Problem{Status: http.StatusForbidden, Detail: "This page is for administrators of the server."}

func (p *Pages) accounts(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view) error {
	a := rest.AccessOf(ctx)
	switch {
	case a.Session == "":
		return errNoSession
	case !a.Token.Administers():
		return errNoAdmin
	}
	v.named(v.L.T("Accounts"), "repoglot")
	list, err := snap.Access().Accounts(ctx)
	if q := strings.ToLower(strings.TrimSpace(v.param("q"))); q != "" {
		list = slices.DeleteFunc(list, func(a catalog.Account) bool {
			return !strings.Contains(strings.ToLower(a.Provider+":"+a.Name+" "+a.AuthorName), q)
		})
	}
	slices.Reverse(list)
	o := &accounts{Form: session.FormToken(a.Session), Roles: map[int64][]string{}, Done: v.param("rejected")}
	v.Pages, o.List = cutPage(v, "page", list, projectsOnPage)
	for i := range o.List {
		one := &o.List[i]
		if a.Granter != nil {
			one.Roles, _ = a.Granter.RolesOf(one)
		}
		o.Roles[one.ID] = rolesOf(one)
	}
	if err == nil {
		o.Events, err = snap.Access().AccountEvents(ctx, changesOnPage)
	}
	v.Body = o
	return err
}

// Accounts answers the forms of the page of accounts.
func (p *Pages) Accounts(ctx context.Context, r *rest.Request) (*Edited, error) {
	a, by := rest.AccessOf(ctx), resource.AuthorOf(ctx)
	if !a.Token.Administers() {
		return nil, errNoAdmin
	}
	do, of, _ := strings.Cut(r.HTTP.PostForm.Get("do"), ":")
	id, _ := strconv.ParseInt(of, 10, 64)
	done := &Edited{Next: "/accounts/", Status: http.StatusSeeOther}
	var err error
	switch to := p.env.Store.Access(); do {
	case "block", "unblock":
		err = to.ChangeAccount(ctx, id, do+"ed", a.Token.Name)
	case "rebind":
		provider, name, _ := strings.Cut(of, ":")
		_, err = to.Rebind(ctx, provider, name, a.Token.Name)
	case "reject":
		if p.env.Edits == nil || id <= 0 {
			return nil, errNotHere
		}
		var n int
		n, err = resource.Take(ctx, p.env.Edits, 0, func(to resource.Edits) (int, error) {
			return to.RejectOf(ctx, id, by, resource.WhyOf(r.HTTP.PostForm.Get("why")))
		})
		done.Next += "?rejected=" + strconv.Itoa(n)
	default:
		return nil, errNotHere
	}
	if err == nil {
		p.env.Logger.Info("an account was changed", "account", of, "what", do, "by", a.Token.Name)
	}
	return done, err
}
