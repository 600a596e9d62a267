package ingest_test

import (
	"maps"
	"path"
	"slices"

	"github.com/repoglot/repoglot/catalog"
)

// modelStep is one step of a pull: the commits that commit reaches and base
// does not.
type modelStep struct {
	base, commit *modelCommit
	brings       map[*modelCommit]bool
	lost         bool // base is no ancestor: its commits may be gone
}

// steps returns the steps of the last pull (docs/compatibility.md#history).
func (o *observer) steps() []modelStep {
	var chain []*modelCommit
	at := o.p.head
	for at != o.at {
		chain = append(chain, at)
		if len(at.parents) == 0 {
			chain = []*modelCommit{o.p.head}
			break
		}
		at = at.parents[0]
	}
	slices.Reverse(chain)
	var steps []modelStep
	base := o.at
	for _, c := range chain {
		s := modelStep{base: base, commit: c, brings: c.ancestors()}
		s.lost = !s.brings[base]
		for old := range base.ancestors() {
			delete(s.brings, old)
		}
		steps = append(steps, s)
		base = c
	}
	return steps
}

// stepOf finds the step that an entry belongs to by its commit.
func (o *observer) stepOf(steps []modelStep, c *catalog.Change) *modelStep {
	commit := o.p.byHash[c.Commit]
	for i := range steps {
		if s := &steps[i]; s.commit == commit || s.brings[commit] {
			return s
		}
	}
	o.t.Errorf("entry %d of commit %q belongs to no step of the pull", c.ID, c.Commit)
	return nil
}

// attributed compares the author of an entry with the result of an exhaustive
// search (docs/compatibility.md#authors).
func (o *observer) attributed(s *modelStep, c *catalog.Change) {
	commit := o.p.byHash[c.Commit]
	if c.AuthorName != commit.author {
		o.t.Errorf("entry %d of commit %s by %q, want %q", c.ID, c.Commit, c.AuthorName, commit.author)
	}
	if s.lost && commit == s.commit {
		return
	}
	key := c.Context + "\x04" + c.Source
	paths, value := o.sourcePaths(s, c, key), presentIn
	if c.Language != "en" {
		paths, value = targetPath(s, c), valueIn
	}
	if paths == nil {
		return
	}
	right := map[*modelCommit]bool{}
	for _, p := range paths {
		of := map[*modelCommit]bool{}
		introducers(s, s.commit, p, key, value, of, map[*modelCommit]bool{})
		if len(of) == 0 { // an old branch brings it back: the step's own doing
			of[s.commit] = true
		}
		maps.Copy(right, of)
	}
	if !right[commit] {
		var authors []string
		for r := range right {
			authors = append(authors, r.author)
		}
		o.t.Errorf("entry %d: action %d of %s/%s %q %q in step %s by %q, want one of %q", c.ID, c.Action, c.Component, c.Language,
			c.Source, c.Context, s.commit.author, c.AuthorName, authors)
	}
}

// targetPath returns the one file of an entry's language, or nil if the step
// has two: the model does not choose between them.
func targetPath(s *modelStep, c *catalog.Change) []string {
	var paths []string
	for _, name := range modelPaths {
		if modelComponent(name) == c.Component && modelLanguage(name) == c.Language {
			paths = append(paths, name)
		}
	}
	if len(paths) > 1 || c.Language == "pt-br" {
		return nil
	}
	return paths
}

// sourcePaths returns the files from which a string of the source translation
// may be taken: the first file that has it for a new string, any changed file
// for others.
func (o *observer) sourcePaths(s *modelStep, c *catalog.Change, key string) []string {
	var paths []string
	broken := false
	for _, name := range modelPaths {
		if modelComponent(name) != c.Component {
			continue
		}
		f := s.commit.tree[name]
		broken = broken || f != nil && f.broken
		if c.Action == catalog.ActionStringRemove || f.find(key) != nil {
			paths = append(paths, name)
		}
	}
	if broken || o.renamed(s, paths) {
		return nil
	}
	return paths
}

// renamed reports whether one of the files may have come from the other name of
// its language, which the model does not follow.
func (o *observer) renamed(s *modelStep, paths []string) bool {
	for _, name := range paths {
		if base := path.Base(name); base != "pt-br.po" && base != "pt_BR.po" {
			continue
		}
		if had := s.base.tree[name] != nil; !had || s.lost {
			return true
		}
	}
	return false
}

func valueIn(f *modelFile, key string) string {
	if e := f.find(key); e != nil {
		return e.value()
	}
	return ""
}

func presentIn(f *modelFile, key string) string {
	if f.find(key) != nil {
		return "there"
	}
	return ""
}

// introducers collects the commits of a step that at reaches through versions
// with the same value, and whose value no parent has. A broken version is
// replaced by the versions before it.
func introducers(s *modelStep, at *modelCommit, path, key string, value func(*modelFile, string) string, found, seen map[*modelCommit]bool) {
	if seen[at] {
		return
	}
	seen[at] = true
	inherited := false
	for todo := slices.Clone(at.parents); len(todo) > 0; todo = todo[1:] {
		parent := todo[0]
		f := parent.tree[path]
		inside := s.brings[parent]
		switch {
		case f != nil && f.broken:
			if inside {
				todo = append(todo, parent.parents...)
			}
		case value(f, key) == value(at.tree[path], key):
			inherited = true
			if inside {
				introducers(s, parent, path, key, value, found, seen)
			}
		}
	}
	if !inherited {
		found[at] = true
	}
}
