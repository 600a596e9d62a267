package push_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/poparse"
)

// TestModel draws histories of edits, suggestions, languages that are added and removed,
// what takes them back and enters them again, pushes by others, flushes that are cut short,
// pulls, restarts, requests that end in some way, and months that pass, through store,
// ingest and a git repository. After each step every acknowledged text is on the main
// branch, pending, or in the journal with the reason why it is neither, and so is every
// language. REPOGLOT_HISTORIES is their number.
func TestModel(t *testing.T) {
	gittest.NeedGit(t)
	modes := []catalog.PushMode{catalog.PushDirect, catalog.PushBranch, catalog.PushRequest}
	edits := 0
	for seed := range number(t, "REPOGLOT_HISTORIES", 100, 900) {
		mode := modes[seed%len(modes)]
		t.Run(fmt.Sprintf("%s %d", mode, seed), func(t *testing.T) {
			m := newModel(t, uint64(seed), mode)
			for range 18 {
				m.step()
			}
			m.settle()
			edits += len(m.acked)
		})
	}
	if edits == 0 {
		t.Error("no history has an edit")
	}
}

// number is how often a test is repeated: what a variable says, or few times, or many in
// the long form of the tests, or a tenth of few in the short one.
func number(t *testing.T, variable string, few, many int) int {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	if os.Getenv("REPOGLOT_LONG_TESTS") != "" {
		return many
	}
	if testing.Short() {
		return few / 10
	}
	return few
}

const modelStrings = 4

// model is a world, the texts of its main branch, and what is owed.
type model struct {
	*world
	rnd     *rand.Rand
	mode    catalog.PushMode
	forge   *fakeForge
	path    string
	main    map[string]string
	acked   map[string][]string
	arrived map[string][]string
	n       int

	languages map[string]string // the other files of the main branch
	added     map[int64]bool    // edits of files that were acknowledged
	taken     map[string]bool   // files of which an edit was taken back, perhaps after its push
	forgotten map[string]bool   // texts that were taken back long ago, by source
}

func newModel(t *testing.T, seed uint64, mode catalog.PushMode) *model {
	up := gittest.NewUpstream[object.Hash](t)
	m := &model{
		rnd: rand.New(rand.NewPCG(seed, 11)), mode: mode, forge: &fakeForge{}, path: "po/cs.po",
		main: map[string]string{}, acked: map[string][]string{}, arrived: map[string][]string{},
		languages: map[string]string{}, added: map[int64]bool{}, taken: map[string]bool{}, forgotten: map[string]bool{},
	}
	for i := range modelStrings {
		m.main[fmt.Sprint("String ", i)] = ""
	}
	up.Push("Other", m.files())
	m.world = worldOf(t, up, catalog.ComponentSettings{
		Filemask: "po/*.po", NewBase: "app.pot", PushBranch: map[catalog.PushMode]string{catalog.PushBranch: "l10n", catalog.PushRequest: "l10n"}[mode], Edits: catalog.Edits{Mode: mode},
	})
	if mode == catalog.PushRequest {
		m.to.Forge = m.forge
	}
	return m
}

func (m *model) files() gittest.Files {
	text := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
	for i := range modelStrings {
		if target, ok := m.main[fmt.Sprint("String ", i)]; ok {
			text += fmt.Sprintf("\nmsgid \"String %d\"\nmsgstr %q\n", i, target)
		}
	}
	files := gittest.Files{m.path: text, "n": fmt.Sprint(m.n), "app.pot": modelTemplate}
	for path, text := range m.languages {
		files[path] = text
	}
	return files
}

// others push main's texts.
func (m *model) others(parents ...object.Hash) {
	if len(parents) == 0 {
		parents = []object.Hash{m.head("main")}
	}
	m.up.Push("Other", m.files(), parents...)
	m.seen()
}

func (m *model) seen() {
	for id, text := range m.main {
		m.arrived[id] = append(m.arrived[id], text)
	}
}

// textsOf reads a branch.
func (m *model) textsOf(branch string) map[string]string {
	m.t.Helper()
	texts := map[string]string{}
	for _, path := range strings.Split(gittest.RunGit(m.t, m.up.Dir, "ls-tree", "-r", "--name-only", branch), "\n") {
		if !strings.HasPrefix(path, "po/cs") {
			continue
		}
		f, err := poparse.Parse(path, []byte(gittest.RunGit(m.t, m.up.Dir, "cat-file", "blob", branch+":"+path)))
		gittest.Must(m.t, err)
		for e := range f.Live() {
			texts[e.ID] = e.Str[0]
		}
	}
	return texts
}

func (m *model) step() {
	m.n++
	id := fmt.Sprint("String ", m.rnd.IntN(modelStrings))
	switch m.rnd.IntN(20) {
	case 0, 1, 2, 3:
		m.write(id)
	case 4:
		m.main[id] = fmt.Sprint("theirs ", m.n)
		m.others()
	case 5:
		m.reshape(id)
	case 6:
		m.Sync()
	case 7:
		m.Close()
		m.Open()
		m.newPusher()
	case 8, 9, 10:
		m.push([]string{"", "before", "after"}[m.rnd.IntN(3)])
	case 11, 18:
		m.end()
	case 12:
		m.reset()
	case 13:
		m.restore()
	case 14:
		m.suggest(id)
	case 15:
		m.expire()
	default:
		m.changeFile()
	}
	m.check()
}

// reshape changes the file: a string goes or comes, or the file moves, or history.
func (m *model) reshape(id string) {
	switch _, there := m.main[id]; {
	case m.rnd.IntN(3) == 0:
		m.path = map[string]string{"po/cs.po": "po/cs_CZ.po", "po/cs_CZ.po": "po/cs.po"}[m.path]
	case m.rnd.IntN(3) == 0:
		m.others(m.up.Commit("Other", gittest.Files{"root": fmt.Sprint(m.n)})) // a main branch without the past
		return
	case there:
		delete(m.main, id)
	default:
		m.main[id] = ""
	}
	m.others()
}

// write edits a string that is served.
func (m *model) write(id string) {
	text := fmt.Sprint("ours ", m.n)
	m.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if tr.Language != "cs" || u.Source != id {
			return
		}
		name := []string{"Jana", "Petr"}[m.rnd.IntN(2)]
		_, err := m.Syncer.Edit(m.t.Context(), c.ID, tr.ID, edit.Author{Name: name, Email: name + "@example.org"},
			[]edit.Request{{UnitID: u.ID, Target: []string{text}, State: catalog.StateTranslated}})
		gittest.Must(m.t, err)
		m.acked[id] = append(m.acked[id], text)
	})
}

var errCrash = errors.New("crash")

// push flushes, and perhaps crashes before the push or after it.
func (m *model) push(crash string) {
	m.t.Helper()
	m.pusher.SetStop(func(after bool) error {
		if crash == "before" && !after || crash == "after" && after {
			return errCrash
		}
		return nil
	})
	_, err := m.pusher.Flush(m.t.Context(), m.Branch, func(*store.BranchComponent) push.Destination { return m.to })
	if err != nil && !errors.Is(err, errCrash) {
		m.t.Fatal(err)
	}
	if m.mode == catalog.PushDirect {
		m.main, m.languages = m.textsOf("main"), m.filesOf("main")
		m.seen()
	}
}

// end ends the request in some way.
func (m *model) end() {
	if m.mode == catalog.PushDirect {
		return
	}
	branch, err := object.ReadRef(m.up.Dir, "refs/heads/l10n")
	if err != nil {
		return
	}
	texts := m.textsOf("l10n")
	how := m.rnd.IntN(5)
	taken := false
	for i := range modelStrings {
		id := fmt.Sprint("String ", i)
		now, there := m.main[id]
		text := texts[id]
		if !there || now == text || !strings.HasPrefix(text, "ours") {
			continue
		}
		switch {
		case how == 4: // closed
		case how == 3 && taken: // cherry-picked in part
		case how == 2 && !taken:
			m.main[id] = text + " (corrected)"
		default:
			m.main[id] = text
		}
		taken = true
	}
	if how < 2 {
		m.languages = m.filesOf("l10n")
	}
	switch {
	case how == 0:
		m.others(m.head("main"), branch)
	case how < 4:
		m.others()
	}
	m.forge.State = forge.Merged
	if how == 4 {
		m.forge.State = forge.Closed
	}
	if m.rnd.IntN(2) == 0 {
		m.up.Remove("l10n")
	}
}

// check looks for the last text of each string.
func (m *model) check() {
	m.t.Helper()
	journal := map[string]bool{}
	m.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		list, _, err := snap.Edits(ctx, store.EditQuery{Components: []int64{c.ID}, Limit: 1000})
		for _, e := range list {
			if e.Status != store.EditFlushed {
				journal[e.Source+"\x00"+e.Target] = true
			}
		}
		return err
	})
	for id, texts := range m.acked {
		text := texts[len(texts)-1]
		if !journal[id+"\x00"+text] && !m.forgotten[id+"\x00"+text] && !slices.Contains(m.arrived[id], text) {
			m.t.Fatalf("step %d: %s: %q is lost; main has %q", m.n, id, text, m.main[id])
		}
	}
	m.checkFiles()
}

// settle flushes until nothing changes, and looks at the end state.
func (m *model) settle() {
	m.t.Helper()
	for range 2 {
		m.push("")
		m.check()
	}
	refs := gittest.RunGit(m.t, m.up.Dir, "for-each-ref")
	m.push("")
	if again := gittest.RunGit(m.t, m.up.Dir, "for-each-ref"); again != refs {
		m.t.Errorf("a flush without anything new moves branches:\n%s\n%s", refs, again)
	}
	main := m.textsOf("main")
	m.EachUnit(func(_ *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		switch {
		case tr.Language != "cs":
		case !u.Pending && u.Target != main[u.Source]:
			m.t.Errorf("%s: %q is served, main has %q", u.Source, u.Target, main[u.Source])
		case u.Pending && m.mode == catalog.PushDirect:
			m.t.Errorf("%s is still pending", u.Source)
		case u.Pending && m.textsOf("l10n")[u.Source] != u.Target:
			m.t.Errorf("%s: %q is pending, and not in l10n", u.Source, u.Target)
		}
	})
	m.settledFiles()
	m.Verify()
}
