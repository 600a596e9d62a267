package hooks

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxURLs and maxText bound what is compared of a payload: services name up
	// to a dozen addresses.
	maxURLs = 64
	maxText = 2 << 10
)

// notification is what a call says of a push.
type notification struct {
	// service is its name for people.
	service string
	// repos are the addresses that the repository may be configured under.
	repos []string
	// repoURL is the address for people.
	repoURL string
	// fullName is owner and name, "" if unknown.
	fullName string
	// branches are those that were pushed, without refs/heads/; none means any.
	branches []string
	// fallback is the default branch, "" if unknown.
	fallback string
}

// tidy drops what no repository has: whatever is left is compared and logged.
func (n *notification) tidy() {
	n.repos = sound(n.repos)
	for i := range n.repos {
		n.repos[i] = comparable(n.repos[i])
	}
	n.branches = sound(trimRefs(n.branches))
	n.fullName = strings.Trim(first(sound([]string{n.fullName})), "/")
	n.repoURL = first(sound([]string{n.repoURL}))
	n.fallback = first(sound(trimRefs([]string{n.fallback})))
}

func trimRefs(list []string) []string {
	out := make([]string, len(list))
	for i, ref := range list {
		out[i] = strings.TrimPrefix(ref, "refs/heads/")
	}
	return out
}

// sound keeps the texts that are usable, each once.
func sound(list []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range list {
		bad := s == "" || len(s) > maxText || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl)
		if bad || seen[s] || len(out) == maxURLs {
			continue
		}
		seen[s] = true
		out = append(out, s)
	}
	return out
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
