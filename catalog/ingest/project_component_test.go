package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// The shape of a component.
const (
	projectSource = 12 // strings of one source file
	projectMoved  = 60 // strings for each source file whose strings a commit moves
	projectChurn  = 60 // strings for each one that a commit adds, removes or changes
	projectFuzzy  = 25 // translations for each one that is fuzzy from the beginning
	projectGone   = 10 // strings for each obsolete entry that a file keeps, of which it keeps at least 3
)

// projectComponent is a folder of the repository.
type projectComponent struct {
	texts    *projectTexts
	number   int
	name     string
	messages []*projectMessage // in the order of the template
	next     int               // number of the next new string
	files    []*projectCatalog // by name
	tree     chain
}

func newProjectComponent(texts *projectTexts, number int) *projectComponent {
	c := &projectComponent{texts: texts, number: number, name: fmt.Sprintf("app-%03d", number), tree: chain{kind: plumbing.TreeObject}}
	for _, lang := range append(Languages(texts.project.Languages), "") {
		c.files = append(c.files, newProjectCatalog(c, lang))
	}
	slices.SortFunc(c.files, func(a, b *projectCatalog) int { return strings.Compare(a.name, b.name) })
	return c
}

// begin makes the first version of all files.
func (c *projectComponent) begin(when time.Time) {
	c.next = c.texts.project.Strings
	for n := range c.next {
		m := c.texts.message(c.number, n, 0)
		m.file, m.line = n/projectSource, 10+n%projectSource*7
		c.messages = append(c.messages, m)
	}
	for _, f := range c.files {
		f.created, f.revised, f.changed = when, when, true
		missing := f.random(0) % 51 // up to half of a file is not translated
		for n, m := range c.messages {
			e := projectEntry{message: m}
			if chance := f.random(n + 1); f.lang != "" && chance%100 >= missing {
				e.translated, e.times = m, 1
				e.fuzzy = chance/100%projectFuzzy == 0
			}
			f.entries = append(f.entries, f.render(e))
		}
	}
}

// updateTemplate changes the template for the n-th time in the project and merges it
// into all files. It returns the message of the commit.
func (c *projectComponent) updateTemplate(when time.Time, n int) string {
	count, random := len(c.messages), mix(c.texts.project.Seed^mix(uint64(n)<<20))
	for _, f := range c.files {
		f.created, f.changed = when, true
	}
	for range max(1, count/projectMoved) {
		random = mix(random)
		c.move(int(random%uint64(count)), 2)
	}
	if n%3 == 0 {
		return "Update the locations of " + c.name
	}
	for range max(1, count/projectChurn) {
		random = mix(random)
		at := int(random % uint64(count))
		if n%3 == 1 {
			c.reword(at)
			continue
		}
		c.remove(at)
		c.insert(int(mix(random)%uint64(count)), random>>32%4 == 0)
	}
	if n%3 == 1 {
		return "Reword strings of " + c.name
	}
	return "Add and remove strings of " + c.name
}

// move moves the string at a place, and those after it in its source file, down.
func (c *projectComponent) move(at, lines int) {
	if at >= len(c.messages) {
		return
	}
	for file := c.messages[at].file; at < len(c.messages) && c.messages[at].file == file; at++ {
		c.messages[at].line += lines
		for _, f := range c.files {
			f.entries[at] = f.render(f.entries[at])
		}
	}
}

// reword changes a source; its translations become fuzzy.
func (c *projectComponent) reword(at int) {
	old := c.messages[at]
	m := c.texts.message(c.number, old.number, old.revision+1)
	m.file, m.line = old.file, old.line
	c.messages[at] = m
	for _, f := range c.files {
		e := f.entries[at]
		e.message, e.fuzzy = m, e.translated != nil
		f.entries[at] = f.render(e)
	}
}

// remove removes a string; its translations become obsolete entries.
func (c *projectComponent) remove(at int) {
	c.messages = slices.Delete(c.messages, at, at+1)
	for _, f := range c.files {
		if e := f.entries[at]; e.translated != nil {
			e.obsolete = true
			f.obsolete = append(f.obsolete, f.render(e).text)
			f.obsolete = f.obsolete[max(0, len(f.obsolete)-max(3, len(c.messages)/projectGone)):]
		}
		f.entries = slices.Delete(f.entries, at, at+1)
	}
}

// insert adds a string. If it is similar to the one before, msgmerge takes over the
// translations of that as fuzzy ones.
func (c *projectComponent) insert(at int, similar bool) {
	m := c.texts.message(c.number, c.next, 0)
	c.next++
	m.line = 10
	if at > 0 {
		m.file, m.line = c.messages[at-1].file, c.messages[at-1].line+3
		similar = similar && m.plural == "" && c.messages[at-1].plural == ""
	}
	c.messages = slices.Insert(c.messages, at, m)
	for _, f := range c.files {
		e := projectEntry{message: m}
		if similar && at > 0 {
			e.translated, e.times = f.entries[at-1].translated, f.entries[at-1].times
			e.fuzzy = e.translated != nil
		}
		f.entries = slices.Insert(f.entries, at, f.render(e))
	}
	if at+1 < len(c.messages) && c.messages[at+1].file == m.file {
		c.move(at+1, 5)
	}
}

// translate changes some translations of one language, those that need it first. It
// returns the translator and the message of the commit.
func (c *projectComponent) translate(when time.Time, random uint64) (who, message string) {
	f := c.files[random%uint64(len(c.files))]
	if f.lang == "" {
		f = c.files[0]
	}
	f.revised, f.changed = when, true
	random = mix(random)
	at, left := int(random>>8%uint64(len(f.entries))), len(f.entries)
	for range max(1, len(f.entries)/projectChurn) * int(1+random%3) {
		for ; left > 0 && f.entries[at].translated != nil && !f.entries[at].fuzzy; left-- {
			at = (at + 1) % len(f.entries)
		}
		e := f.entries[at]
		e.translated, e.fuzzy = e.message, false
		e.times++
		f.entries[at] = f.render(e)
		at = (at + 1) % len(f.entries)
	}
	return f.translator(), "Update the translation of " + c.name + " into " + f.lang
}

// store adds the changed files and their folder to a pack.
func (c *projectComponent) store(pack *packWriter, counts *ProjectRepo) (plumbing.Hash, error) {
	tree := make([]string, len(c.files))
	for i, f := range c.files {
		if f.changed {
			hash, err := pack.add(&f.chain, f.segments())
			if err != nil {
				return hash, fmt.Errorf("%s/%s: %w", c.name, f.name, err)
			}
			f.treeEntry = "100644 " + f.name + "\x00" + string(hash[:])
			f.changed = false
			counts.Versions++
			counts.Entries += len(f.entries)
		}
		tree[i] = f.treeEntry
	}
	return pack.add(&c.tree, tree)
}
