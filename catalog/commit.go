package catalog

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// Commit is what people are shown of a commit (weblate-facts §6, Repository).
// It holds no e-mail address (decision 27).
type Commit struct {
	// Hash is the commit's id, 40 hexadecimal digits.
	Hash string
	// Author wrote the change, Committer made the commit; either may be empty.
	Author, Committer string
	// AuthorTime and CommitTime are when; zero where the commit does not say.
	AuthorTime, CommitTime time.Time
	// Message is the whole message, without blanks at the ends of its lines.
	Message string
}

// maxCommitMessage bounds what is kept of a message, in bytes.
const maxCommitMessage = 16 << 10

// NewCommit takes e-mail addresses out of the texts of a commit and bounds its
// message.
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

// withoutAddresses removes e-mail addresses: with their brackets where they
// stand in such, as in trailers, else all but the name before the at sign.
func withoutAddresses(s string) string {
	if !strings.Contains(s, "@") {
		return s
	}
	s = regexp.MustCompile(`[ \t]*<[^<>\s]*@[^<>\s]*>`).ReplaceAllString(s, "")
	return regexp.MustCompile(`([\pL\pN._%+'-]+)@[\pL\pN-]+(\.[\pL\pN-]+)+`).ReplaceAllString(s, "$1")
}
