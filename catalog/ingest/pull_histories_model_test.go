package ingest_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/testrepos"
)

// modelEntry is an entry of a modelled PO file.
type modelEntry struct {
	id, context, plural, target, note, ref string
	fuzzy                                  bool
	// remark is a translator comment, locked the flag read-only; only histories
	// with suggestions have them.
	remark string
	locked bool
}

// source is the entry's source as the catalog joins it.
func (e *modelEntry) source() string {
	if e.plural == "" {
		return e.id
	}
	return e.id + catalog.FormSeparator + e.plural
}

func (e *modelEntry) key() string { return e.context + "\x04" + e.source() }

// value is the part of an entry whose change makes change entries.
func (e *modelEntry) value() string {
	if e.target == "" {
		return "0"
	}
	return fmt.Sprint(e.target, e.fuzzy, e.locked)
}

// modelFile is a modelled PO file. A broken one cannot be parsed.
type modelFile struct {
	entries []modelEntry
	broken  bool
}

// find returns the entry that counts: the first of repeated ones.
func (f *modelFile) find(key string) *modelEntry {
	if f == nil || f.broken {
		return nil
	}
	if i := slices.IndexFunc(f.entries, func(e modelEntry) bool { return e.key() == key }); i >= 0 {
		return &f.entries[i]
	}
	return nil
}

func (f *modelFile) text() string {
	var b strings.Builder
	b.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=2; plural=n != 1;\\n\"\n")
	for _, e := range f.entries {
		b.WriteString("\n")
		if e.remark != "" {
			fmt.Fprintf(&b, "# %s\n", e.remark)
		}
		if e.note != "" {
			fmt.Fprintf(&b, "#. %s\n", e.note)
		}
		if e.ref != "" {
			fmt.Fprintf(&b, "#: %s\n", e.ref)
		}
		if e.locked {
			b.WriteString("#, read-only\n")
		}
		if e.fuzzy {
			b.WriteString("#, fuzzy\n")
		}
		if e.context != "" {
			fmt.Fprintf(&b, "msgctxt %q\n", e.context)
		}
		fmt.Fprintf(&b, "msgid %q\n", e.id)
		if e.plural == "" {
			fmt.Fprintf(&b, "msgstr %q\n", e.target)
		} else {
			fmt.Fprintf(&b, "msgid_plural %q\nmsgstr[0] %q\nmsgstr[1] %q\n", e.plural, e.target, e.target)
		}
	}
	if f.broken {
		b.WriteString("<<<<<<< ours\n")
	}
	return b.String()
}

// modelTree has the files of a commit by path. Files are not changed in place.
type modelTree map[string]*modelFile

// broken reports whether one of the files is.
func (tree modelTree) broken() bool {
	for _, f := range tree {
		if f.broken {
			return true
		}
	}
	return false
}

// modelCommit is a commit of the modelled history.
type modelCommit struct {
	hash, author string
	parents      []*modelCommit
	tree         modelTree
}

// ancestors returns all commits that c reaches, and c.
func (c *modelCommit) ancestors() map[*modelCommit]bool {
	all := map[*modelCommit]bool{}
	for todo := []*modelCommit{c}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !all[at] {
			all[at] = true
			todo = append(todo, at.parents...)
		}
	}
	return all
}

// modelPaths are the files of the histories. po has a POT.
var modelPaths = []string{
	"po/app.pot", "po/cs.po", "po/de.po", "po/en.po", "po/pt-br.po", "po/pt_BR.po",
	"docs/cs.po", "docs/en.po", "docs/fr.po", "docs/unrelated.txt",
}

// modelLanguage returns the language of a path, by its name.
func modelLanguage(p string) string {
	code := strings.TrimSuffix(path.Base(p), path.Ext(p))
	switch code {
	case "pt-br":
		return "pt_BR"
	case "app":
		return "en"
	}
	return code
}

func modelComponent(p string) string {
	switch {
	case p == "docs/unrelated.txt":
		return ""
	case strings.HasPrefix(p, "po/"), strings.HasPrefix(p, "locale/"):
		return "app"
	}
	return "docs"
}

// player makes a random history and its model.
type player struct {
	*rand.Rand
	t       testing.TB
	repo    *testrepos.Repo
	commits []*modelCommit
	byHash  map[string]*modelCommit
	head    *modelCommit
	// moves lets folders and languages be renamed, split and merged, too.
	moves bool
	// paths are the files of the history.
	paths []string
	// now is the time of the next commit, if it is not zero; each takes up to 50 days.
	now time.Time
}

func newPlayer(t testing.TB, seed uint64) *player {
	p := &player{Rand: rand.New(rand.NewPCG(seed, 7)), t: t, repo: testrepos.Empty(t), byHash: map[string]*modelCommit{}, paths: modelPaths}
	p.begin()
	return p
}

// begin makes the first commit.
func (p *player) begin() {
	tree := modelTree{}
	for _, name := range p.paths {
		if p.IntN(2) == 0 {
			tree[name] = p.edit(p.edit(nil))
		}
	}
	p.head = p.commit("main", tree)
}

// commit pushes a commit with a tree onto a branch.
func (p *player) commit(branch string, tree modelTree, parents ...*modelCommit) *modelCommit {
	c := &modelCommit{author: fmt.Sprintf("Author %d", len(p.commits)), parents: parents, tree: tree}
	change := testrepos.Change{Branch: branch, Files: map[string]string{}, Author: fmt.Sprintf("%s <a%d@example.org>", c.author, len(p.commits)), Force: true}
	if !p.now.IsZero() {
		change.When, p.now = p.now, p.now.Add(time.Duration(p.IntN(50*24))*time.Hour)
	}
	old := modelTree{}
	for i, parent := range parents {
		change.Parents = append(change.Parents, parent.hash)
		if i == 0 {
			old = parent.tree
		}
	}
	for name, f := range tree {
		change.Files[name] = f.text()
	}
	for name := range old {
		if tree[name] == nil {
			change.Delete = append(change.Delete, name)
		}
	}
	c.hash = p.repo.Commit(p.t, change)
	p.commits = append(p.commits, c)
	p.byHash[c.hash] = c
	return c
}

// entry draws one of few strings. Odd ones always have a context or a plural.
func (p *player) entry() modelEntry {
	n := p.IntN(9)
	e := modelEntry{id: fmt.Sprintf("S%d", n/2), target: p.target(), ref: fmt.Sprintf("a.c:%d", p.IntN(99))}
	switch n % 4 {
	case 1:
		e.context = "menu"
	case 3:
		e.plural = e.id + "s"
		e.id += "p"
	}
	return e
}

func (p *player) target() string { return []string{"", "A", "B", "C"}[p.IntN(4)] }

// edit returns another version of a file; nil begins a new one.
func (p *player) edit(f *modelFile) *modelFile {
	g := &modelFile{}
	if f != nil {
		g.entries = slices.Clone(f.entries)
		g.broken = f.broken && p.IntN(3) > 0
	}
	for range 1 + p.IntN(3) {
		if len(g.entries) == 0 || p.IntN(4) == 0 {
			g.entries = slices.Insert(g.entries, p.IntN(len(g.entries)+1), p.entry())
			continue
		}
		i := p.IntN(len(g.entries))
		e := &g.entries[i]
		switch p.IntN(12) {
		case 0, 1:
			g.entries = slices.Delete(g.entries, i, i+1)
		case 2, 3, 4, 5:
			e.target = p.target()
		case 6, 7:
			e.fuzzy = !e.fuzzy
		case 8:
			e.note = []string{"", "Button", "Title"}[p.IntN(3)]
		case 9:
			j := p.IntN(len(g.entries))
			g.entries[i], g.entries[j] = g.entries[j], g.entries[i]
		case 10:
			e.ref = fmt.Sprintf("b.c:%d", p.IntN(99))
		case 11:
			g.broken = p.IntN(2) == 0
		}
	}
	return g
}

// change returns another tree.
func (p *player) change(tree modelTree) modelTree {
	next := maps.Clone(tree)
	if p.moves && p.IntN(4) == 0 {
		p.move(next)
	}
	if len(p.paths) > len(modelPaths) && p.IntN(5) == 0 { // another file becomes that of the language
		delete(next, "docs/cs.po")
		next["docs/cs_CZ.po"] = p.edit(next["docs/cs_CZ.po"])
	}
	for range 1 + p.IntN(3) {
		name := p.paths[p.IntN(len(p.paths))]
		if next[inFolder("locale", name)] != nil {
			name = inFolder("locale", name) // edits follow a file that was moved
		}
		switch n := p.IntN(10); {
		case n == 0:
			delete(next, name)
		case n == 1:
			from, to := "po/pt-br.po", "po/pt_BR.po"
			if next[from] == nil {
				from, to = to, from
			}
			if next[from] != nil {
				next[to] = next[from]
				delete(next, from)
			}
		case n == 2:
			added := p.entry()
			for name, f := range next {
				if modelComponent(name) == "app" && !f.broken {
					e := added
					if name == "po/app.pot" {
						e.target = ""
					}
					next[name] = &modelFile{entries: append(slices.Clone(f.entries), e)}
				}
			}
		default:
			next[name] = p.edit(next[name])
		}
	}
	return next
}

// inFolder returns the path of a file of the app in another folder, and the
// paths of other files unchanged.
func inFolder(folder, name string) string {
	if modelComponent(name) != "app" {
		return name
	}
	return folder + "/" + path.Base(name)
}

// move moves the app's folder, or renames, splits or merges one of its languages,
// with or without a change of the texts.
func (p *player) move(tree modelTree) {
	folder, other := "po", "locale"
	if p.IntN(2) == 0 {
		folder, other = other, folder
	}
	switch p.IntN(4) {
	case 0, 1:
		for _, name := range slices.Sorted(maps.Keys(tree)) {
			if to := inFolder(other, name); to != name {
				tree[to] = tree[name]
				delete(tree, name)
			}
		}
	case 2: // de becomes de_AT, or the other way round
		p.rename(tree, folder+"/de.po", folder+"/de_AT.po")
	case 3: // cs is split off into sk, or both become cs
		cs, sk := folder+"/cs.po", folder+"/sk.po"
		switch {
		case tree[cs] != nil && tree[sk] == nil:
			tree[sk] = p.edit(tree[cs])
		case tree[cs] != nil && !tree[cs].broken && !tree[sk].broken:
			both := &modelFile{entries: slices.Clone(tree[cs].entries)}
			for _, e := range tree[sk].entries {
				if both.find(e.key()) == nil {
					both.entries = append(both.entries, e)
				}
			}
			tree[cs] = both
			delete(tree, sk)
		}
	}
}

// rename moves a file, or moves it back, and sometimes edits it.
func (p *player) rename(tree modelTree, a, b string) {
	if tree[a] == nil {
		a, b = b, a
	}
	if tree[a] == nil {
		return
	}
	tree[b] = tree[a]
	if p.IntN(2) == 0 {
		tree[b] = p.edit(tree[a])
	}
	delete(tree, a)
}

// side makes a side branch of a few commits.
func (p *player) side(from *modelCommit) *modelCommit {
	branch := fmt.Sprintf("side-%d", len(p.commits))
	at := from
	for range 1 + p.IntN(3) {
		at = p.commit(branch, p.change(at.tree), at)
	}
	return at
}

// merge chooses for every path the version of one of the parents, or sometimes
// a new one.
func (p *player) merge(parents ...*modelCommit) *modelCommit { return p.mergeOn("main", parents...) }

func (p *player) mergeOn(branch string, parents ...*modelCommit) *modelCommit {
	tree := modelTree{}
	names := p.paths
	if p.moves {
		all := map[string]bool{}
		for _, c := range parents {
			for name := range c.tree {
				all[name] = true
			}
		}
		names = slices.Sorted(maps.Keys(all))
	}
	for _, name := range names {
		if f := parents[p.IntN(len(parents))].tree[name]; f != nil {
			tree[name] = f
			if p.IntN(8) == 0 {
				tree[name] = p.edit(f)
			}
		}
	}
	return p.commit(branch, tree, parents...)
}

// play pushes something onto the branch.
func (p *player) play() {
	old := p.commits[p.IntN(len(p.commits))]
	switch p.IntN(12) {
	case 0, 1:
		p.head = p.merge(p.head, p.side(old))
	case 2:
		p.head = p.merge(p.head, p.side(p.head), p.side(old))
	case 3: // the old mainline second, as Weblate merges
		p.head = p.merge(p.side(p.head), p.head)
	case 4:
		p.head = p.commit("main", old.tree, p.head) // a revert
	case 5:
		p.head = old
		p.repo.Branch(p.t, "main", old.hash)
	case 6:
		p.head = p.commit("main", p.change(old.tree), old)
	default:
		p.head = p.commit("main", p.change(p.head.tree), p.head)
	}
}
