package ingest

import (
	"slices"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
)

// maxCoAuthors bounds what one message can make every entry of it carry.
const maxCoAuthors = 50

// coAuthors are the names in the Co-authored-by trailers of a commit, without
// its author, as .mailmap gives them.
func coAuthors(c *object.Commit, mailmap object.Mailmap) []string {
	const trailer = "co-authored-by:"
	if !strings.Contains(strings.ToLower(c.Message), trailer) {
		return nil
	}
	author, _ := mailmap.Lookup(c.Author.Name, c.Author.Email)
	var names []string
	for line := range strings.Lines(c.Message) {
		if len(line) < len(trailer) || !strings.EqualFold(line[:len(trailer)], trailer) {
			continue
		}
		name, rest, _ := strings.Cut(line[len(trailer):], "<")
		email, _, _ := strings.Cut(rest, ">")
		name, _ = mailmap.Lookup(strings.TrimSpace(name), strings.TrimSpace(email))
		if name != "" && name != author && !slices.Contains(names, name) && len(names) < maxCoAuthors {
			names = append(names, name)
		}
	}
	return names
}
