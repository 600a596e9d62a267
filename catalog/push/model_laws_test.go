package push_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/derive"
	"github.com/repoglot/repoglot/gitsource/gittest"
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

// acknowledge notes what is served after a client did something.
func (m *model) acknowledge() {
	maps.Copy(m.served, m.now())
}

// hold compares what is served of untouched strings with what was acknowledged.
func (m *model) hold() {
	m.t.Helper()
	for _, e := range m.journal() {
		if e.Status != store.EditConflict || m.refused[e.ID] {
			continue
		}
		m.refused[e.ID] = true
		if e.Reason == "conflict" && !touchable(e.Source) && !m.closed[e.Source] {
			m.t.Fatalf("step %d: nobody else touched %s: %+v", m.n, e.Source, e)
		}
		m.closed[e.Source] = true
		delete(m.served, e.Source)
	}
	now := m.now()
	for id, text := range now {
		if last, known := m.served[id]; known && last != text && !touchable(id) && !m.closed[id] {
			m.t.Fatalf("step %d: %s is served as %q, %q was acknowledged last; main has %q", m.n, id, text, last, m.main[id])
		}
	}
	maps.Copy(m.served, now)
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

// configure sets push_mode, for both components of the repository.
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
		PushBranch: branch, Edits: catalog.Edits{Mode: mode},
	}
	doc := settings
	doc.Filemask, doc.NewBase = "doc/*.po", ""
	m.Configure(m.up.Dir, "", map[string]catalog.ComponentSettings{"app": settings, "doc": doc})
	m.Sync()
}

// breakDoc breaks the file of the other component, or mends it.
func (m *model) breakDoc() {
	m.broken = !m.broken
	m.others()
}

// text draws a text for a string: one that nothing else has, one that several have, or the
// one that the repository has, which takes back what is pending.
func (m *model) text(id string) (string, catalog.State) {
	switch m.rnd.IntN(5) {
	case 0:
		return "ours, the same", catalog.StateTranslated
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
	for _, commit := range strings.Fields(gittest.RunGit(m.t, m.up.Dir, "rev-list", "main")) {
		if slices.Contains(strings.Fields(gittest.RunGit(m.t, m.up.Dir, "rev-list", "l10n")), commit) {
			return m.textsOf(commit), true
		}
	}
	return nil, false
}
