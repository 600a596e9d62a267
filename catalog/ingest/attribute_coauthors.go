package ingest

import (
	"slices"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
)

// maxCoAuthors bounds the co-authors of each entry of a commit.
const maxCoAuthors = 50

// coAuthors returns the names in the Co-authored-by trailers of a commit, as
// .mailmap gives them, without the commit's author.
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
