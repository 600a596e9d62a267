package push_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/derive"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

// laws are what the model holds of strings that nobody else touches, which are those with an
// even number: an edit of one is never a conflict, and the text that was acknowledged last
// is served until a client gives it another, or its request is closed.
type laws struct {
	served  map[string]string // what was acknowledged last
	refused map[int64]bool    // edits of requests that were closed
	closed  map[string]bool   // strings of which a text was refused: whoever merges it decides
	acted   bool              // something was done while a push was on its way
	quiet   bool              // nothing is any more
}

// touchable reports whether others write a string.
func touchable(id string) bool { return strings.HasSuffix(id, "1") || strings.HasSuffix(id, "3") }

// now returns what is served in Czech, by source.
func (m *model) now() map[string]string {
	texts := map[string]string{}
	m.EachUnit(func(_ *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if tr.Language == "cs" {
			texts[u.Source] = u.Target
		}
	})
	return texts
}

// acknowledge notes what is served after a client did something, who may have taken back a
// string that its file lacks.
func (m *model) acknowledge() {
	now := m.now()
	maps.DeleteFunc(m.served, func(id, _ string) bool { _, there := now[id]; return !there })
	maps.Copy(m.served, now)
}

// hold compares what is served of untouched strings with what was acknowledged.
func (m *model) hold() {
	m.t.Helper()
	for _, e := range m.journal() {
		if e.Status != store.EditConflict || m.refused[e.ID] {
			continue
		}
		m.refused[e.ID] = true
		// msgmerge took the text from another string, and the files of others have no marks.
		similar := strings.HasPrefix(e.Base.Target, "theirs") || e.Base.State == catalog.StateFuzzy
		if e.Reason == "conflict" && !touchable(e.Source) && !m.closed[e.Source] && !similar {
			m.t.Fatalf("step %d: nobody else touched %s: %+v", m.n, e.Source, e)
		}
		m.closed[e.Source] = true
		delete(m.served, e.Source)
	}
	m.missingOnce()
	now := m.now()
	for id, text := range now {
		if last, known := m.served[id]; known && last != text && !touchable(id) && !m.closed[id] {
			m.t.Fatalf("step %d: %s is served as %q, %q was acknowledged last; main has %q", m.n, id, text, last, m.main[id])
		}
	}
	maps.Copy(m.served, now)
}

// missingOnce: a string that is translated here and waits to be in its file is not missing.
func (m *model) missingOnce() {
	m.t.Helper()
	waits := map[string]bool{}
	for _, e := range m.journal() {
		if e.Status == store.EditPending && e.Base.Absent() {
			waits[fmt.Sprint(e.TranslationID, e.Source)] = true
		}
	}
	if len(waits) == 0 {
		return
	}
	m.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		translations, err := snap.Translations(ctx, c.ID)
		for i := 0; i < len(translations) && err == nil; i++ {
			var found *store.SearchResult
			of := store.SearchQuery{Components: map[int64]*store.ComponentRow{c.ID: c}, TranslationID: translations[i].ID, Missing: true, Expr: query.All}
			if found, err = snap.Search(ctx, of); err != nil {
				break
			}
			var units []catalog.Unit
			units, _, err = found.Page(ctx, 0, 1000)
			for _, u := range units {
				if waits[fmt.Sprint(translations[i].ID, u.Source)] {
					m.t.Fatalf("step %d: %s is translated into %s, and missing", m.n, u.Source, translations[i].Language)
				}
			}
		}
		return err
	})
}

// repositorys looks at what is served as the repository's: each language has a file in the
// commit that was read, whatever was added here, and `revision` is the file's blob, whatever
// was edited here. What doc serves is older where its file cannot be read.
func (m *model) repositorys() {
	m.t.Helper()
	m.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		if c.Slug == "doc" {
			return nil
		}
		files := gittest.RunGit(m.t, m.up.Dir, "-c", "core.quotePath=false", "ls-tree", "-r", "-z", c.Head)
		translations, err := snap.Translations(ctx, c.ID)
		for _, tr := range translations {
			if want := " blob " + tr.Revision + "\t" + tr.Filename + "\x00"; !strings.Contains(files+"\x00", want) {
				m.t.Fatalf("step %d: %s is served with the revision %s of %s, which is not in %s:\n%s", m.n, tr.Language, tr.Revision, tr.Filename, c.Head, strings.ReplaceAll(files, "\x00", "\n"))
			}
		}
		return err
	})
}

// meanwhile does what clients do while a push is under way.
func (m *model) meanwhile() {
	m.acted = true
	id := m.anyString()
	switch m.rnd.IntN(4) {
	case 0:
		m.reset()
	case 1:
		m.changeFile()
	default:
		m.write(id)
	}
}

// modelSigner signs as a real key does, and perhaps lets clients act meanwhile.
type modelSigner struct {
	derive.Signer
	m *model
}

func (s modelSigner) Sign(commit []byte, at time.Time) (string, error) {
	if !s.m.quiet && s.m.rnd.IntN(8) == 0 {
		s.m.meanwhile()
	}
	return s.Signer.Sign(commit, at)
}

// pgpKey makes a key once.
var pgpKey = sync.OnceValues(func() (derive.Signer, error) {
	entity, err := openpgp.NewEntity("repoglot", "", "noreply@example.org", nil)
	if err != nil {
		return nil, err
	}
	var key bytes.Buffer
	w, err := armor.Encode(&key, openpgp.PrivateKeyType, nil)
	if err != nil {
		return nil, err
	}
	if err := entity.SerializePrivate(w, nil); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return derive.ParseSigner(key.String())
})

// hook lets the remote refuse pushes, or not.
func (m *model) hook(refuses bool) {
	m.t.Helper()
	path := filepath.Join(m.up.Dir, "hooks", "pre-receive")
	if !refuses {
		_ = os.Remove(path)
		return
	}
	gittest.Must(m.t, os.MkdirAll(filepath.Dir(path), 0o755))
	gittest.Must(m.t, os.WriteFile(path, []byte("#!/bin/sh\necho the rules say no\nexit 1\n"), 0o755))
}

// still flushes again, which must not move a branch.
func (m *model) still() {
	m.t.Helper()
	refs := gittest.RunGit(m.t, m.up.Dir, "for-each-ref")
	m.acted = false
	if m.flushOnce(); m.acted {
		return
	}
	if again := gittest.RunGit(m.t, m.up.Dir, "for-each-ref"); again != refs {
		was, _, _ := strings.Cut(refs, " ")
		now, _, _ := strings.Cut(again, " ")
		m.t.Fatalf("step %d: a flush with nothing new moves branches:\n%s\n%s\n%s\n%s", m.n, refs, again,
			gittest.RunGit(m.t, m.up.Dir, "log", "-p", "--format=fuller", "main.."+was), gittest.RunGit(m.t, m.up.Dir, "log", "-p", "--format=fuller", "main.."+now))
	}
}

// configure sets push_mode, for both components of the repository, which have other settings
// of commits.
func (m *model) configure(mode catalog.PushMode) {
	m.mode, m.to.Forge = mode, nil
	branch := "l10n"
	switch mode {
	case catalog.PushRequest:
		m.to.Forge = m.forge
	case catalog.PushDirect:
		branch = ""
	}
	settings := catalog.ComponentSettings{
		LanguageRegex: "^[^.]+$", CommitMessage: "Translate", Filemask: "po/*.po", NewBase: "app.pot",
		PushBranch: branch, Edits: catalog.Edits{Mode: mode, Gate: true}, AddonMessage: "Translate as msgmerge does",
	}
	doc := settings
	doc.Filemask, doc.NewBase, doc.Edits.SignOff = strings.Replace(m.doc, "cs", "*", 1), "", true
	settings.Edits.Update.On = m.updates
	m.Configure(m.up.Dir, "", map[string]catalog.ComponentSettings{"app": settings, "doc": doc})
	m.pull()
}

// destination is where the edits of a component go: commits of doc are signed by a key of
// its own.
func (m *model) destination(c *store.BranchComponent) push.Destination {
	to := m.to
	if c.Slug == "doc" {
		to.Signer = modelSigner{signer("of doc"), m}
	}
	return to
}

// settledCommits looks at our commits: each is made as its component says.
func (m *model) settledCommits() {
	m.t.Helper()
	log := gittest.RunGit(m.t, m.up.Dir, "-c", "core.quotePath=false", "log", "--branches", "--no-merges", "--committer=noreply@example.org", "--format=raw", "--name-only")
	for _, commit := range strings.Split("\n"+log, "\ncommit ")[1:] {
		header, files, _ := strings.Cut(commit, "    Translate")
		doc := strings.Contains(files, m.doc)
		if doc && strings.Contains(files, "po/cs") || strings.Contains(header, "gpgsig of doc") != doc || strings.Contains(files, "Signed-off-by") != doc {
			m.t.Errorf("a commit is not as its component says:\n%s", commit)
		}
	}
}

// trouble is what keeps doc from being read.
type trouble int

const (
	none       trouble = iota
	unreadable         // its file is no PO file
	tooLarge           // it has more strings than its quota
)

// modelQuota is quotas.units.
const modelQuota = 40

// modelDocs are paths of the file of doc: one that is usual, one that git takes and we would
// not make, and one that we do not write.
var modelDocs = []string{"doc/cs.po", "web:v2\u200c/cs:a.po", "git~1/cs.po"}

// held reports whether a text cannot be written.
func (m *model) held(component, text string) bool {
	return strings.HasPrefix(text, "\n") || component == "doc" && strings.HasPrefix(m.doc, "git~1")
}

// pull pulls, which fails only for what doc has.
func (m *model) pull() {
	m.t.Helper()
	if report, err := m.Syncer.Sync(m.t.Context(), m.Branch); err != nil && (m.trouble != tooLarge || !report.Reached()) {
		m.t.Fatalf("step %d: %v", m.n, err)
	}
}

// obstruct has others put something where the file of a language is, or could be, or take it
// away.
func (m *model) obstruct() {
	path := "po/" + modelLanguages[m.rnd.IntN(len(modelLanguages))] + ".po"
	for _, e := range m.fileEdits() {
		if e.Status == store.EditPending && e.Path != m.path {
			path = e.Path
		}
	}
	maps.DeleteFunc(m.languages, func(other, _ string) bool { return other == path || strings.HasPrefix(other, path+"/") })
	m.taken[path] = true
	switch m.rnd.IntN(4) {
	case 0:
		m.languages[path+"/README"] = "a folder"
	case 1:
		m.languages[path] = "->cs.po"
	case 2:
		m.languages[path] = "@"
	}
	m.others()
}

// isOdd reports whether there is something at a path of the main branch that is no file.
func (m *model) isOdd(path string) bool {
	for other, text := range m.languages {
		if other == path && (text == "@" || strings.HasPrefix(text, "->")) || strings.HasPrefix(other, path+"/") {
			return true
		}
	}
	return false
}

// update does what a forge's button "Update branch" does: the main branch is merged into ours,
// or our commits are made anew on it. A file that was moved since counts as somebody's work.
func (m *model) update() {
	ours, err := object.ReadRef(m.up.Dir, "refs/heads/l10n")
	main := m.head("main")
	if err != nil || strings.Contains(gittest.RunGit(m.t, m.up.Dir, "rev-list", "l10n"), main.String()) {
		return
	}
	out, err := exec.Command("git", "-C", m.up.Dir, "merge-tree", "--write-tree", main.String(), ours.String()).Output()
	if err != nil {
		return // it is in conflict, or another history
	}
	if _, there := filesAt(m.TB, m.up, ours)[m.path]; !there {
		return // git follows the move
	}
	tree, err := object.ParseHash(strings.TrimSpace(string(out)))
	gittest.Must(m.t, err)
	parents := []object.Hash{ours, main}
	if m.rnd.IntN(2) == 0 {
		parents = parents[1:]
	}
	m.updated = m.up.CommitTree("Other", tree, parents...)
	m.up.Set("l10n", m.updated)
}

// text draws a text for a string: one that nothing else has, one that several have, or the
// one that the repository has, which takes back what is pending.
func (m *model) text(id string) (string, catalog.State) {
	switch m.rnd.IntN(6) {
	case 0:
		return "ours, the same", catalog.StateTranslated
	case 5:
		m.texts++
		return fmt.Sprint("\nours ", m.texts), catalog.StateTranslated // the gate holds it
	case 1:
		if m.main[id] == "" {
			return "", catalog.StateEmpty
		}
		return m.main[id], catalog.StateTranslated
	}
	m.texts++
	return fmt.Sprint("ours ", m.texts), catalog.StateTranslated
}

// base returns the texts of the commit that both branches have, false if there is none.
func (m *model) base() (map[string]string, bool) {
	m.t.Helper()
	ours := strings.Fields(gittest.RunGit(m.t, m.up.Dir, "rev-list", "l10n"))
	for _, commit := range strings.Fields(gittest.RunGit(m.t, m.up.Dir, "rev-list", "main")) {
		if slices.Contains(ours, commit) {
			id, err := object.ParseHash(commit)
			gittest.Must(m.t, err)
			return m.textsOf(filesAt(m.TB, m.up, id)), true
		}
	}
	return nil, false
}

// ours returns the texts of our branch.
func (m *model) ours() map[string]string {
	m.t.Helper()
	head, err := object.ReadRef(m.up.Dir, "refs/heads/l10n")
	if err != nil {
		return nil
	}
	return m.textsOf(filesAt(m.TB, m.up, head))
}
