package catalog

import (
	"cmp"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Scope says what an access token or a role permits.
type Scope string

// The scopes, each of which permits what those before it do.
const (
	// ScopeRead permits to see private projects and components.
	ScopeRead Scope = "read"
	// ScopeSuggest permits to suggest texts where the configuration takes edits.
	ScopeSuggest Scope = "suggest"
	// ScopeWrite permits to edit translations there, and to answer suggestions.
	ScopeWrite Scope = "write"
	// ScopeAdmin permits all writes of the API.
	ScopeAdmin Scope = "admin"
)

// Scopes lists the scopes, those that permit less first.
func Scopes() []Scope { return []Scope{ScopeRead, ScopeSuggest, ScopeWrite, ScopeAdmin} }

// Known reports whether s is one of Scopes.
func (s Scope) Known() bool { return slices.Contains(Scopes(), s) }

// Permits reports whether s permits what other does. An unknown scope permits nothing.
func (s Scope) Permits(other Scope) bool {
	return s.Known() && slices.Index(Scopes(), s) >= slices.Index(Scopes(), other)
}

// Encrypted reports whether what is sent to an address, of a provider or of this server, cannot
// be read on the way: over https, or over http within this machine.
func Encrypted(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// Account is a person who signed in with an account of a provider. It is the same person as
// long as Provider and Subject are, whatever the name.
type Account struct {
	// ID is above 0 and never reused.
	ID int64
	// Provider is the id of the provider in the configuration; Subject is what names the
	// account there for ever.
	Provider, Subject string
	// Name is the account's name at the provider when it last signed in: of a forge, its
	// login; of OpenID Connect, an address that the provider says is verified, or "".
	Name string
	// Names are all names that are bound to it, in lower case (AccountName): those by which
	// roles may name it.
	Names NameList
	// AuthorName and AuthorEmail are who its edits are by.
	AuthorName, AuthorEmail string
	// Mail is where it confirmed that it gets digests, MailWanted where it did not yet; or "".
	Mail, MailWanted string
	// Created is when it first signed in, in UTC.
	Created time.Time
	// Seen is the last day on which it signed in, at 00:00 UTC.
	Seen time.Time
	// Blocked accounts have no sessions and no tokens, and cannot sign in.
	Blocked bool
	// Roles are what it was granted; they are not stored (RoleBook.Of).
	Roles []Role
}

// AccountName is a name as it is bound to an account: forges do not tell capitals apart.
func AccountName(name string) string { return strings.ToLower(name) }

// Taken reports whether the account's name is bound to another one that had it first, so
// that no role by that name is this account's.
func (a *Account) Taken() bool { return a.Name != "" && !a.Names.Has(AccountName(a.Name)) }

// DigestsTo is the address that digests are sent to, "" without one: forges make addresses for
// commits to which no mail can be sent.
func (a *Account) DigestsTo() string {
	if a.Mail == "" && ValidEmail(a.AuthorEmail) && !strings.Contains(strings.ToLower(a.AuthorEmail), "noreply") {
		return a.AuthorEmail
	}
	return a.Mail
}

// SignIn is a sign-in on its way: somebody was sent to a provider.
type SignIn struct {
	// State comes back from the provider; Browser is in a cookie of who began it. Both are
	// secrets, of which hashes are stored.
	State, Browser string
	// Provider is the id of the provider, Verifier what proves to it that this server asked,
	// and Nonce what an ID token must have.
	Provider, Verifier, Nonce string
	// Next is the path to go to.
	Next string
}

// Role is what an account was granted somewhere.
type Role struct {
	// Project is the slug of the project that it is for, private parts too; "": all that is
	// public; AllProjects: everything.
	Project string
	// Scope is what it permits there.
	Scope Scope
	// Languages are the codes that it may edit; empty: all.
	Languages NameList
}

// AllProjects is the project of a role for the whole server.
const AllProjects = "*"

// RoleBook says who has which roles, as the configuration has it. Whom it names is written
// PROVIDER:NAME or PROVIDER:#SUBJECT.
type RoleBook struct {
	// Admins administer the whole server, and Translators, by the code of a language
	// or "*", translate what is public on it.
	Admins      []string
	Translators map[string][]string
	// Projects are the roles in one project, by its slug.
	Projects map[string]ProjectRoles
}

// ProjectRoles are roles in one project, its private parts too.
type ProjectRoles struct {
	Admins, Readers []string
	Translators     map[string][]string // by the code of a language, or "*"
}

// Of returns the roles of an account, of the whole server first, then by project.
func (b *RoleBook) Of(a *Account) []Role {
	var roles []Role
	in := func(project string, admins, readers []string, translators map[string][]string) {
		where := cmp.Or(project, AllProjects)
		if a.in(admins) {
			roles = append(roles, Role{Project: where, Scope: ScopeAdmin})
		}
		if a.in(readers) {
			roles = append(roles, Role{Project: project, Scope: ScopeRead})
		}
		codes := slices.DeleteFunc(slices.Collect(maps.Keys(translators)), func(code string) bool { return !a.in(translators[code]) })
		switch {
		case slices.Contains(codes, "*"):
			roles = append(roles, Role{Project: project, Scope: ScopeWrite})
		case len(codes) > 0:
			roles = append(roles, Role{Project: project, Scope: ScopeWrite, Languages: Names(codes...)})
		}
	}
	in("", b.Admins, nil, b.Translators)
	for _, slug := range slices.Sorted(maps.Keys(b.Projects)) {
		p := b.Projects[slug]
		in(slug, p.Admins, p.Readers, p.Translators)
	}
	return roles
}

// in reports whether a list of the configuration names the account.
func (a *Account) in(list []string) bool {
	return slices.ContainsFunc(list, func(named string) bool {
		provider, name, _ := strings.Cut(named, ":")
		subject, bySubject := strings.CutPrefix(name, "#")
		switch {
		case provider != a.Provider || name == "":
			return false
		case bySubject:
			return subject == a.Subject
		}
		return a.Names.Has(AccountName(name))
	})
}

// May reports whether the token's owner may do what a scope permits in a project, in what is
// private there or in what is public, in a language; "" asks whether in any. The zero token,
// of a client without one, may nothing. Any account may suggest in what is public.
func (t *Token) May(s Scope, project string, private bool, language string) bool {
	switch {
	case t.ID == 0 || !t.Scope.Permits(s):
		return false
	case t.Account == nil:
		return t.Sees(project) && (language == "" || t.Languages == "" || t.Languages.Has(language))
	case ScopeSuggest.Permits(s) && !private:
		return true
	}
	return slices.ContainsFunc(t.Account.Roles, func(r Role) bool {
		here := r.Project == project || r.Project == AllProjects || r.Project == "" && !private
		return here && r.Scope.Permits(s) && (language == "" || r.Languages == "" || r.Languages.Has(language))
	})
}

// Sees reports whether what is private in a project is shown to the token's owner. The
// zero token sees nothing.
func (t *Token) Sees(project string) bool {
	if t.Account != nil {
		return slices.ContainsFunc(t.Account.Roles, func(r Role) bool { return r.Project == project || r.Project == AllProjects })
	}
	return t.ID != 0 && (t.Projects == "" || t.Projects.Has(project))
}

// SeesAll reports whether nothing is hidden from the token's owner.
func (t *Token) SeesAll() bool {
	if t.Account != nil {
		return t.Sees(AllProjects)
	}
	return t.ID != 0 && t.Projects == ""
}

// Writes reports whether the token's owner may edit anything at all.
func (t *Token) Writes() bool {
	if t.Account != nil {
		return t.Scope.Permits(ScopeWrite) && slices.ContainsFunc(t.Account.Roles, func(r Role) bool { return r.Scope.Permits(ScopeWrite) })
	}
	return t.ID != 0 && t.Scope.Permits(ScopeWrite)
}

// Person names the token's owner: the id of an account, that of a token, negative, or 0.
func (t *Token) Person() int64 {
	if t.Account != nil {
		return t.Account.ID
	}
	return -t.ID
}

// Stranger reports whether the token's owner is an account without a role in a project.
func (t *Token) Stranger(project string) bool {
	return t.Account != nil && !slices.ContainsFunc(t.Account.Roles, func(r Role) bool {
		return r.Project == project || r.Project == AllProjects || r.Project == ""
	})
}

// Administers reports whether the token's owner may see and do what concerns the whole server.
func (t *Token) Administers() bool { return t.SeesAll() && t.Scope == ScopeAdmin }

// Session is an open session of a browser, without its secret.
type Session struct {
	// ID tells the sessions apart.
	ID               string
	Created, Expires time.Time
}

// AccountEvent is what was done with an account.
type AccountEvent struct {
	// At is when, in UTC.
	At time.Time
	// Event is blocked, unblocked, rebound or deleted; Who did it.
	Event, Who string
	// Account is the account's id, Name its provider and name then; "" if it was deleted.
	Account int64
	Name    string
}

// maxUsername bounds a username in characters, before a suffix.
const maxUsername = 60

// Username returns the API name for the name of a git author: letters and digits of
// any script in lower case, Latin letters without accents, "-" for every other run of
// characters; "author" if nothing is left. The caller adds a suffix if two authors
// have the same one (docs/compatibility.md#users).
func Username(name string) string {
	var b strings.Builder
	n, dash := 0, false
	for _, r := range norm.NFKD.String(name) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if dash && n > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(unicode.ToLower(r))
			n++
		default:
			dash = true
		}
		if n >= maxUsername {
			break
		}
	}
	if n == 0 {
		return "author"
	}
	return norm.NFC.String(b.String())
}

// NameList is a list of slugs or of language codes: in ascending order, each once, a
// space between two. It is a string so that tokens can be compared.
type NameList string

// Names makes a list of names.
func Names(names ...string) NameList {
	sorted := slices.Compact(slices.Sorted(slices.Values(names)))
	return NameList(strings.Join(sorted, " "))
}

// All returns the names.
func (l NameList) All() []string { return strings.Fields(string(l)) }

// Has reports whether a name is in the list.
func (l NameList) Has(name string) bool { return slices.Contains(l.All(), name) }

// Token is an access token, without its secret, or what stands for one in the session of an
// account.
type Token struct {
	// ID is above 0 and never reused. In the session of an account it is the account's,
	// negative.
	ID int64
	// Account is whose session or personal token it is; nil: it was made by whoever runs
	// the server. Then Projects and Languages are empty, and Scope is the most that it permits
	// of what the account may.
	Account *Account
	// Name is unique.
	Name string
	// Scope is what the token permits.
	Scope Scope
	// Projects are the slugs of the projects that it is for; empty: all. Of others it
	// shows what everybody sees.
	Projects NameList
	// Languages are the codes of the languages that it may edit; empty: all. Only a
	// token of scope write has any.
	Languages NameList
	// AuthorName and AuthorEmail are who its edits are by; the address is only for
	// commits. An empty name is the token's.
	AuthorName, AuthorEmail string
	// Created is the time of its creation, in UTC.
	Created time.Time
	// Expires is when it ends; zero: never.
	Expires time.Time
	// Used is the last day on which it was used, at 00:00 UTC; zero: never.
	Used time.Time
}

// TokenEvent is what was done with a token.
type TokenEvent struct {
	// At is when, in UTC.
	At time.Time
	// Event is "created" or "revoked".
	Event string
	// Token is the token with its name, scope, projects, languages and end.
	Token Token
}
