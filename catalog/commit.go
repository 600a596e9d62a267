package catalog

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// Commit is a commit as people see it. It has no e-mail address
// (docs/compatibility.md#repository-status).
type Commit struct {
	// Hash is the commit's id, 40 hexadecimal digits.
	Hash string
	// Author wrote the change, Committer made the commit; either may be empty.
	Author, Committer string
	// AuthorTime and CommitTime are the times of both, zero if the commit has none.
	AuthorTime, CommitTime time.Time
	// Message is the whole message, without blanks at the ends of its lines.
	Message string
}

// maxCommitMessage is the length to which a message is cut, in bytes.
const maxCommitMessage = 16 << 10

// NewCommit removes e-mail addresses from the texts of a commit and cuts its message
// to 16 KiB.
func NewCommit(c Commit) Commit {
	c.Author, c.Committer = withoutAddresses(c.Author), withoutAddresses(c.Committer)
	lines := strings.Split(withoutAddresses(cut(c.Message, maxCommitMessage)), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	c.Message = strings.Trim(strings.Join(lines, "\n"), "\n")
	return c
}

// Summary is the first line of the message.
func (c *Commit) Summary() string {
	line, _, _ := strings.Cut(c.Message, "\n")
	return line
}

// cut shortens s to at most n bytes without breaking a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// PersonName is the name under which a person is shown: without an e-mail address, which
// some have as their name. What is left of an address alone is the part before its "@".
func PersonName(name string) string {
	if !strings.Contains(name, "@") {
		return name
	}
	if shown := strings.TrimSpace(withoutAddresses(name)); shown != "" {
		return shown
	}
	before, _, _ := strings.Cut(strings.TrimLeft(name, " <"), "@")
	return before
}

// ValidEmail reports whether a text is an e-mail address that headers and commits can have.
func ValidEmail(s string) bool {
	return len(s) <= 254 && regexp.MustCompile(`^[^\s@<>()\[\],;:"\\[:cntrl:]]+@[\pL\pN-]+(\.[\pL\pN-]+)*$`).MatchString(s)
}

// withoutAddresses removes e-mail addresses in angle brackets, as in trailers, and
// shortens all others to the name before the at sign.
func withoutAddresses(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	s = regexp.MustCompile(`[ \t]*<[^<>\s]*@[^<>\s]*>`).ReplaceAllString(s, "")
	return regexp.MustCompile(`([\pL\pN._%+'-]+)@[\pL\pN-]+(\.[\pL\pN-]+)+`).ReplaceAllString(s, "$1")
}
