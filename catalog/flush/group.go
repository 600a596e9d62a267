package flush

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/gitsource/derive"
)

// Style says how the commits of a component are made.
type Style struct {
	// By is commit_by, which says which edits are in one commit: those of an "author", of a
	// "language", of both with "author+language" or "", or "all". Those of two components
	// never are, as each has its own message.
	By string
	// SignOff adds the author's Signed-off-by.
	SignOff bool
	// Signer signs; nil: no signatures.
	Signer derive.Signer
}

// File is a translation file with the edits of its strings.
type File struct {
	// Component and Language are keys: whatever tells components and languages apart.
	Component, Language string
	// Path is where the file is at the head, Template where that is whose strings it may get;
	// "": it gets none.
	Path, Template string
	// Edits are pending, each string once.
	Edits []edit.Edit
	// Options say how they are written.
	Options edit.Options
}

// Group is what one commit is about.
type Group struct {
	// Component is the key of the component; Languages are those of the files with
	// changes, sorted.
	Component string
	Languages []string
	// Files are the paths with changes, in the order of the input.
	Files []string
	// Adds and Removes say that the commit adds a file, or removes one, Updates that it brings
	// files to their template, with Stopped as in Updated.
	Adds, Removes, Updates, Stopped bool
	// Author is the author of the commit: who wrote the texts, or the one who wrote
	// the last one. The time is that of the last text.
	Author edit.Author
	// Others wrote texts as well, or earlier versions of them, by time.
	Others []edit.Author
	// Reviewers accepted texts that others wrote, each once.
	Reviewers []edit.Author
}

// group is a Group to be, with the edits by file.
type group struct {
	key     groupKey
	edits   map[int][]int // indexes of edits by index of file
	first   time.Time
	authors []edit.Author // of all edits
	last    edit.Author

	reviewers []edit.Author
}

type groupKey struct{ component, author, language string }

// groups puts edits into groups, ordered by their first edit.
func groups(files []File, o *Options) []*group {
	found := map[groupKey]*group{}
	var list []*group
	for f, file := range files {
		by := cmp.Or(o.Styles[file.Component].By, "author+language")
		for i, e := range file.Edits {
			key := groupKey{component: file.Component}
			if strings.Contains(by, "author") {
				key.author = e.Last().Name + "\x00" + e.Last().Email
			}
			if strings.Contains(by, "language") {
				key.language = file.Language
			}
			g := found[key]
			if g == nil {
				g = &group{key: key, edits: map[int][]int{}, first: e.Last().Time}
				found[key] = g
				list = append(list, g)
			}
			g.edits[f] = append(g.edits[f], i)
			if e.Last().Time.Before(g.first) {
				g.first = e.Last().Time
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *group) int {
		return cmp.Or(a.first.Compare(b.first), cmp.Compare(a.key.component, b.key.component),
			cmp.Compare(a.key.author, b.key.author), cmp.Compare(a.key.language, b.key.language))
	})
	return list
}

// credit adds the authors of an edit that was written.
func (g *group) credit(e edit.Edit) {
	g.authors = append(g.authors, e.Authors...)
	if r := e.Reviewer; r.Name != "" && !slices.Contains(g.reviewers, r) {
		g.reviewers = append(g.reviewers, r)
	}
	if last := e.Last(); len(e.Authors) > 0 && (g.last == edit.Author{} || last.Time.After(g.last.Time)) {
		g.last = last
	}
}

// others returns the authors besides the last one, each once, by time.
func (g *group) others() []edit.Author {
	slices.SortStableFunc(g.authors, func(a, b edit.Author) int { return a.Time.Compare(b.Time) })
	var list []edit.Author
	for _, a := range g.authors {
		same := func(b edit.Author) bool { return a.Name == b.Name && a.Email == b.Email }
		if !same(g.last) && !slices.ContainsFunc(list, same) {
			list = append(list, a)
		}
	}
	return list
}
