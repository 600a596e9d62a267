package catalog

import (
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Failure is why the last pull or push of a component failed. The zero value says that it
// did not.
type Failure struct {
	// Kind is what everyone may see.
	Kind FailureKind
	// Words say what happened, perhaps in the words of a remote or a forge. They are for
	// clients that may write there (docs/security.md#what-is-said-of-failures).
	Words string
	// Since is when it failed first; zero if that is not known.
	Since time.Time
}

// Failed reports whether there is a failure.
func (f *Failure) Failed() bool { return f.Kind != "" }

// Public is what everyone may see of a failure: its kind, and since when.
func (f *Failure) Public() string {
	if f.Kind == "" || f.Since.IsZero() {
		return string(f.Kind)
	}
	return string(f.Kind) + " since " + f.Since.UTC().Format(time.RFC3339)
}

// FailureKind is the kind of a failure, in words that fit after "the pull failed:".
type FailureKind string

// The kinds of failures.
const (
	FailureRefused     FailureKind = "refused"       // a remote or a forge refuses access, or what is pushed
	FailureUnreachable FailureKind = "unreachable"   // it does not answer, or has no such repository
	FailureTimedOut    FailureKind = "timed out"     // its answer took too long
	FailureNoBranch    FailureKind = "no branch"     // it has no such branch, or no commit
	FailureMoved       FailureKind = "branch moved"  // somebody else pushes, or has pushed, to the branch
	FailureTooLarge    FailureKind = "too large"     // the repository exceeds a limit or a quota
	FailureUnreadable  FailureKind = "unreadable"    // what the repository has cannot be read
	FailureUnsupported FailureKind = "not supported" // the repository or its address is of a kind that is not supported
	FailureSettings    FailureKind = "settings"      // the configuration does not fit the repository
	FailureServer      FailureKind = "server"        // this server is the cause, such as its disk
	FailureNoProcess   FailureKind = "no process"    // no process of the cluster can pull it
	FailureOther       FailureKind = "failed"        // anything else
)

// KnownFailure returns the kind of this name. Any other text is FailureOther.
func KnownFailure(text string) FailureKind {
	switch k := FailureKind(text); k {
	case FailureRefused, FailureUnreachable, FailureTimedOut, FailureNoBranch, FailureMoved, FailureTooLarge, FailureUnreadable,
		FailureUnsupported, FailureSettings, FailureServer, FailureNoProcess:
		return k
	}
	return FailureOther
}

// private finds what no text of a failure may have. A URL, and the address of a repository
// for ssh, come first: their paths are of another machine, and "git" is nobody's name.
var private = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"'` + "`" + `]+` +
	`|\bgit@[\pL\pN.-]+` +
	`|<?[\pL\pN._%+-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)*>?` + // an e-mail address
	`|"(?:/|[A-Za-z]:\\)[^"\n]*|'(?:/|[A-Za-z]:\\)[^'\n]*` + // a path in quotes, perhaps with blanks
	`|(?:^|[\s"'` + "`" + `(<\[=,;:])(?:/|[A-Za-z]:\\)[^\s"'` + "`" + `()<>\[\],;:]+`)

// userOfURL is the user of an address.
var userOfURL = regexp.MustCompile(`^([^/]*//)[^/@]*@`)

// WithoutPrivate replaces what no text about a failure may have by "…": e-mail addresses,
// and absolute paths of this machine. A path without quotes ends at its first blank.
// Addresses of repositories stay, without users.
func WithoutPrivate(text string) string {
	if !strings.ContainsAny(text, `@/\`) {
		return text
	}
	return private.ReplaceAllStringFunc(text, func(found string) string {
		first, _ := utf8.DecodeRuneInString(found)
		scheme, rest, isURL := strings.Cut(found, "://")
		isURL = isURL && unicode.IsLetter(first)
		switch {
		case isURL && strings.EqualFold(scheme, "file"):
			return "…" + found[len(strings.TrimRight(found, ":;,.)")):]
		case isURL && strings.HasPrefix(rest, "git@"):
			return found
		case isURL:
			return userOfURL.ReplaceAllString(found, "$1")
		case strings.HasPrefix(found, "git@"):
			return found
		case strings.Contains(found, "@"), first == '/', unicode.IsLetter(first):
			return "…"
		default: // the character before a path
			return string(first) + "…"
		}
	})
}
