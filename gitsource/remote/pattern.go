package remote

import (
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
)

// BranchPattern selects branches by their names; "*" matches any text, slashes
// included. The zero value selects no branch.
type BranchPattern struct{ parts []string }

// ParseBranchPattern reads a pattern such as "l10n/*"; "" is the zero value. A
// pattern that no name of a branch can match is an error.
func ParseBranchPattern(s string) (BranchPattern, error) {
	if s == "" {
		return BranchPattern{}, nil
	}
	if !object.ValidBranch(strings.ReplaceAll(s, "*", "x")) {
		return BranchPattern{}, fmt.Errorf("%q is no pattern of branch names; write it like l10n/*", s)
	}
	return BranchPattern{strings.Split(strings.TrimPrefix(s, "refs/heads/"), "*")}, nil
}

// String returns the pattern without "refs/heads/".
func (p BranchPattern) String() string { return strings.Join(p.parts, "*") }

// IsZero reports whether the pattern selects nothing.
func (p BranchPattern) IsZero() bool { return len(p.parts) == 0 }

// Match reports whether a branch, without "refs/heads/", is selected. It takes
// linear time: each "*" except the last matches as little as possible.
func (p BranchPattern) Match(branch string) bool {
	if p.IsZero() {
		return false
	}
	last := len(p.parts) - 1
	if last == 0 {
		return branch == p.parts[0]
	}
	rest, ok := strings.CutPrefix(branch, p.parts[0])
	if !ok {
		return false
	}
	for _, part := range p.parts[1:last] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, p.parts[last])
}

// anchored returns the part before the first "*".
func (p BranchPattern) anchored() string { return p.parts[0] }
