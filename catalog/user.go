package catalog

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

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
func (l NameList) Has(name string) bool {
	return slices.Contains(l.All(), name)
}

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
