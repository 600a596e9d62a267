package object

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/text/encoding/htmlindex"
)

// Commit is one commit. Its texts are valid UTF-8, whatever encoding the commit
// has.
type Commit struct {
	// Hash is the commit's id.
	Hash Hash
	// Tree is the id of its root directory.
	Tree Hash
	// Parents in the commit's order. The first is the branch that a merge went
	// into.
	Parents []Hash
	// Author wrote the change; Committer made the commit.
	Author, Committer Signature
	// Message without trailing line breaks, cut after 64 KiB.
	Message string
}

// Subject returns the first line of the message.
func (c Commit) Subject() string {
	line, _, _ := strings.Cut(c.Message, "\n")
	return strings.TrimSpace(line)
}

// Signature is a person and a time.
type Signature struct {
	// Name and Email as in the commit, before any mailmap; may be empty.
	Name, Email string
	// When, in the person's time zone, in whole seconds of the years 1970 to
	// 9999. Zero if the commit has no readable time.
	When time.Time
}

const (
	maxMessage = 64 << 10
	maxParents = 4096
	lastSecond = 253402300799 // 9999-12-31T23:59:59Z, the last time that JSON can hold
)

// Commit reads a commit. The error is ErrUnknownCommit if the directory does not
// have it.
func (s *Store) Commit(h Hash) (Commit, error) {
	data, err := s.commitData(h)
	if err != nil {
		return Commit{}, err
	}
	c, err := parseCommit(h, data)
	if err != nil {
		return Commit{}, objectError("commit", h, err)
	}
	return c, nil
}

func (s *Store) commitData(h Hash) ([]byte, error) {
	if h.IsZero() || !s.objects.has(h) {
		return nil, fmt.Errorf("commit %s: %w", h, ErrUnknownCommit)
	}
	data, err := s.objects.read(h, plumbing.CommitObject, commitLimit)
	return data, objectError("commit", h, err)
}

// Node is the part of a commit that a walk through history needs.
type Node struct {
	// Tree is the id of the root directory.
	Tree Hash
	// Parents that the directory has, in the commit's order.
	Parents []Hash
	// When is the committer's time in Unix seconds.
	When int64
}

// Node reads a commit for a walk. Parents that a shallow directory lacks are left
// out.
func (s *Store) Node(h Hash) (Node, error) {
	data, err := s.commitData(h)
	if err != nil {
		return Node{}, err
	}
	var n Node
	err = commitHeaders(data, func(key, value string) error {
		var err error
		switch key {
		case "tree":
			n.Tree, err = ParseHash(value)
		case "parent":
			n.Parents, err = addParent(n.Parents, value)
		case "committer":
			n.When = parseSignature(value).When.Unix()
		}
		return err
	})
	if err != nil {
		return Node{}, objectError("commit", h, err)
	}
	if s.shallow {
		n.Parents = slices.DeleteFunc(n.Parents, func(p Hash) bool { return !s.objects.has(p) })
	}
	return n, nil
}

// commitHeaders calls fn for each header line of a commit. Continuation lines, as
// signatures have, are skipped.
func commitHeaders(data []byte, fn func(key, value string) error) error {
	for len(data) > 0 && data[0] != '\n' {
		line := data
		if end := bytes.IndexByte(data, '\n'); end >= 0 {
			line, data = data[:end], data[end+1:]
		} else {
			data = nil
		}
		if line[0] == ' ' {
			continue
		}
		key, value, _ := bytes.Cut(line, []byte{' '})
		if err := fn(string(key), string(value)); err != nil {
			return err
		}
	}
	return nil
}

// addParent adds a parent up to maxParents; the others are dropped.
func addParent(list []Hash, id string) ([]Hash, error) {
	h, err := ParseHash(id)
	if err != nil || len(list) >= maxParents {
		return list, err
	}
	return append(list, h), nil
}

func parseCommit(h Hash, data []byte) (Commit, error) {
	c := Commit{Hash: h}
	var author, committer, charset string
	err := commitHeaders(data, func(key, value string) error {
		var err error
		switch key {
		case "tree":
			c.Tree, err = ParseHash(value)
		case "parent":
			c.Parents, err = addParent(c.Parents, value)
		case "author":
			author = value
		case "committer":
			committer = value
		case "encoding":
			charset = value
		}
		return err
	})
	if err != nil {
		return Commit{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	if c.Tree.IsZero() {
		return Commit{}, fmt.Errorf("no tree: %w", ErrCorrupt)
	}
	c.Author = parseSignature(toUTF8(author, charset))
	c.Committer = parseSignature(toUTF8(committer, charset))
	if _, message, ok := bytes.Cut(data, []byte("\n\n")); ok {
		if len(message) > maxMessage {
			message = message[:maxMessage]
		}
		c.Message = strings.TrimRight(toUTF8(string(message), charset), "\n")
	}
	return c, nil
}

// toUTF8 converts text that is not UTF-8 from the charset in the commit's encoding
// header. Without a known charset, invalid bytes become U+FFFD.
func toUTF8(s, charset string) string {
	if utf8.ValidString(s) {
		return s
	}
	if enc, err := htmlindex.Get(charset); err == nil && charset != "" {
		if out, err := enc.NewDecoder().String(s); err == nil {
			return out
		}
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// parseSignature reads "Name <email> seconds zone"; missing parts stay zero.
func parseSignature(s string) Signature {
	var sig Signature
	open, end := strings.IndexByte(s, '<'), strings.LastIndexByte(s, '>')
	if open < 0 || end < open {
		sig.Name = cleanName(s)
		return sig
	}
	sig.Name, sig.Email = cleanName(s[:open]), cleanName(s[open+1:end])
	seconds, zone, _ := strings.Cut(strings.TrimSpace(s[end+1:]), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return sig
	}
	sig.When = time.Unix(min(max(unix, 0), lastSecond), 0).In(parseZone(zone))
	return sig
}

// parseZone reads "+0200"; invalid text is UTC.
func parseZone(zone string) *time.Location {
	n, err := strconv.Atoi(zone)
	if err != nil || len(zone) != 5 || n <= -2400 || n >= 2400 || n == 0 {
		return time.UTC
	}
	return time.FixedZone("", (n/100*60+n%100)*60)
}

// cleanName removes control characters, and blanks at both ends: names are shown
// on pages and in headers.
func cleanName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}
