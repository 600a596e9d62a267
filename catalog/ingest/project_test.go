package ingest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/testrepos"
)

// Project describes a repository of many components with a long history: the shape
// of distributions, desktop environments and collections of add-ons. Each component
// is a folder with a template and one file for each language, so that its filemask
// is {component}/*.po and its new_base {component}/messages.pot.
//
// Each component is added by a commit of its own. After these, commits of templates
// and of translators follow in turn. A commit of a template changes the template and
// all files of one component as msgmerge does: POT-Creation-Date, the locations in
// some source files, and in two of three commits some strings, one in 60: they are
// added and removed, or changed, so that their translations become fuzzy. The number
// of a component's strings stays the same. A commit of a translator changes up to
// three strings (of 60) of one file.
//
// The same Project always gives the same bytes and the same commits.
type Project struct {
	// Components is the number of components.
	Components int
	// Languages is the number of languages of each, up to 96; see [Languages].
	Languages int
	// Strings is the number of strings of each component, at least 1.
	Strings int
	// Shared is the percentage of strings that other components have too, half of them
	// all components, the others the ten (from the first) that a component is among.
	// Most have the same translation everywhere.
	Shared int
	// Templates and Edits are the numbers of commits of templates and of translators.
	Templates, Edits int
	// Seed selects the texts.
	Seed uint64
}

// ProjectRepo is the repository of a Project.
type ProjectRepo struct {
	*testrepos.Repo
	// Commits are the hashes of the commits in 40 hex digits, from the first.
	Commits []string
	// Distinct is the number of different strings, context included, of all templates
	// at the head.
	Distinct int
	// Versions is the number of files that all commits together wrote, templates
	// included, and Entries the number of entries in them.
	Versions, Entries int
}

// projectStart is the time of the first commit, projectPace the time between two:
// 48,000 commits take eight years.
const projectPace = 90 * time.Minute

// Generate makes the repository in a temporary directory of a test. It writes one pack, at
// some 3,000 versions of files a second, and has up to 50 versions of each file in memory,
// which share their entries.
func (p Project) Generate(tb testing.TB) *ProjectRepo {
	tb.Helper()
	if p.Components < 1 || p.Strings < 1 || p.Languages < 1 {
		tb.Fatalf("project %+v: components, languages and strings must be at least 1", p)
	}
	r := testrepos.Empty(tb)
	pack, err := newPackWriter(r.Dir)
	must(tb, err)
	h := newProjectHistory(p, pack)
	must(tb, errors.Join(h.write(), pack.close()))
	h.repo.Repo = r
	h.repo.Distinct = h.distinct()
	must(tb, h.repo.Rewind(len(h.repo.Commits)))
	return &h.repo
}

// Rewind sets the branch to the first n commits. Objects of later ones stay, so that
// tests can push them in pieces.
func (r *ProjectRepo) Rewind(n int) error {
	if n < 1 || n > len(r.Commits) {
		return fmt.Errorf("rewind to %d of %d commits", n, len(r.Commits))
	}
	head := filepath.Join(r.Dir, "refs", "heads", testrepos.DefaultBranch)
	if err := os.WriteFile(head+".lock", []byte(r.Commits[n-1]+"\n"), 0o600); err != nil {
		return fmt.Errorf("rewind: %w", err)
	}
	return os.Rename(head+".lock", head)
}

// projectHistory writes the commits of a project.
type projectHistory struct {
	project    Project
	pack       *packWriter
	repo       ProjectRepo
	components []*projectComponent
	root       chain
	trees      []string // entries of the root, by component; "" before it is added
	when       time.Time
}

func newProjectHistory(p Project, pack *packWriter) *projectHistory {
	h := &projectHistory{
		project: p, pack: pack, when: time.Date(2015, 1, 5, 9, 0, 0, 0, time.UTC),
		root: chain{kind: plumbing.TreeObject}, trees: make([]string, p.Components),
	}
	texts := &projectTexts{project: p, english: strings.Fields(englishWords), foreign: strings.Fields(foreignWords)}
	for n := range p.Components {
		h.components = append(h.components, newProjectComponent(texts, n))
	}
	return h
}

// write writes all commits and ends the pack.
func (h *projectHistory) write() error {
	for _, c := range h.components {
		c.begin(h.when)
		if err := h.commit(c, "Ada Mint", "Add "+c.name); err != nil {
			return err
		}
	}
	p := h.project
	for n, templates := 0, 0; n < p.Templates+p.Edits; n++ {
		random := mix(p.Seed ^ mix(uint64(n)))
		c := h.components[random%uint64(len(h.components))]
		var who, message string
		if templates*(p.Templates+p.Edits) <= n*p.Templates && templates < p.Templates {
			who, message = "Ada Mint", c.updateTemplate(h.when, templates)
			templates++
		} else {
			who, message = c.translate(h.when, mix(random))
		}
		if err := h.commit(c, who, message); err != nil {
			return err
		}
	}
	chains := []*chain{&h.root}
	for _, c := range h.components {
		chains = append(chains, &c.tree)
		for _, f := range c.files {
			chains = append(chains, &f.chain)
		}
	}
	if err := h.pack.flush(chains...); err != nil {
		return err
	}
	return h.pack.Store()
}

// commit writes the changed files of a component, and the commit.
func (h *projectHistory) commit(c *projectComponent, who, message string) error {
	tree, err := c.store(h.pack, &h.repo)
	if err != nil {
		return err
	}
	h.trees[c.number] = "40000 " + c.name + "\x00" + string(tree[:])
	var trees []string
	for _, t := range h.trees {
		if t != "" {
			trees = append(trees, t)
		}
	}
	root, err := h.pack.add(&h.root, trees)
	if err != nil {
		return err
	}
	text := "tree " + root.String() + "\n"
	if n := len(h.repo.Commits); n > 0 {
		text += "parent " + h.repo.Commits[n-1] + "\n"
	}
	signature := fmt.Sprintf("%s <%s> %d +0000", who, projectMail(who), h.when.Unix())
	text += "author " + signature + "\ncommitter " + signature + "\n\n" + message + "\n"
	hash, err := h.pack.Commit([]byte(text))
	h.repo.Commits = append(h.repo.Commits, hash.String())
	h.when = h.when.Add(projectPace)
	return err
}

// distinct counts the strings of all templates.
func (h *projectHistory) distinct() int {
	strings := map[[2]string]bool{}
	for _, c := range h.components {
		for _, m := range c.messages {
			strings[[2]string{m.context, m.source}] = true
		}
	}
	return len(strings)
}

func projectMail(who string) string {
	return strings.ToLower(strings.ReplaceAll(who, " ", ".")) + "@example.org"
}

// maxChain is the number of versions that are made of each other, as in git's packs.
const maxChain = 50

// packWriter writes a pack like one that git made of a repository: the versions of
// a path stand together, the newest first and whole, older ones as deltas of the
// next newer. Loose objects would take a hundred times as long.
type packWriter struct {
	*object.Addition
	store *object.Store
}

// newPackWriter makes a pack in a bare repository.
func newPackWriter(repo string) (*packWriter, error) {
	store, err := object.Open(repo)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return &packWriter{object.NewAddition(repo, store), store}, nil
}

// close drops what was not stored.
func (w *packWriter) close() error {
	w.Close()
	return w.store.Close()
}

// chain has the versions of one path that were not written yet, the oldest first. Each is
// a list of paragraphs, most of which it shares with the others.
type chain struct {
	kind     plumbing.ObjectType
	versions [][]string
}

// add adds the next version of a path. It keeps the paragraphs.
func (w *packWriter) add(c *chain, paragraphs []string) (plumbing.Hash, error) {
	hash := plumbing.ComputeHash(c.kind, []byte(strings.Join(paragraphs, "")))
	if c.versions = append(c.versions, paragraphs); len(c.versions) < maxChain {
		return hash, nil
	}
	return hash, w.flush(c)
}

// flush writes the versions of some paths that were not written yet.
func (w *packWriter) flush(chains ...*chain) error {
	var errs []error
	for _, c := range chains {
		put := w.Blob
		if c.kind == plumbing.TreeObject {
			put = w.Tree
		}
		var newer object.Base
		for _, paragraphs := range slices.Backward(c.versions) {
			data := []byte(strings.Join(paragraphs, ""))
			hash, err := put(data, newer)
			errs = append(errs, err)
			newer = object.Base{Hash: hash, Data: data}
		}
		c.versions = nil
	}
	return errors.Join(errs...)
}
