package push_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestModel draws histories of edits, also of strings that only the template has, suggestions, languages that are added and removed,
// what takes them back and enters them again, also while a push is on its way, pushes by
// others, commits that they take back, folders and symlinks that they put where languages
// are, flushes that are cut short or refused by a hook, pulls, restarts, requests that end in
// some way or are updated by a button, another push_mode, a component that cannot be read,
// months that pass, and templates that move, through store, ingest and a git repository. After each step every
// acknowledged text is on the main branch, pending, or in the journal with the reason why it
// is neither, and so is every language; what is served as the repository's is in it; strings
// that nobody else touches follow laws; a flush with nothing new moves nothing; what fails for
// one holds up no other; commits are made as their component says. REPOGLOT_HISTORIES is their number, REPOGLOT_FIRST_HISTORY the first.
func TestModel(t *testing.T) {
	gittest.NeedGit(t)
	var edits, updates, missing atomic.Int64
	first, _ := strconv.Atoi(os.Getenv("REPOGLOT_FIRST_HISTORY"))
	t.Run("histories", func(t *testing.T) {
		for n := range number("REPOGLOT_HISTORIES", testsize.Of(6, 24, 900)) {
			t.Run(fmt.Sprint(first+n), func(t *testing.T) {
				t.Parallel()
				m, u := drawn(t, uint64(first+n))
				edits.Add(int64(len(m.acked)))
				missing.Add(int64(m.missing))
				updates.Add(int64(u))
			})
		}
	})
	if first == 0 && (edits.Load() == 0 || updates.Load() == 0 || missing.Load() == 0) {
		t.Errorf("%d edits, %d strings that the file lacked, %d files that were updated to their template", edits.Load(), missing.Load(), updates.Load())
	}
}

// drawn draws a history, and returns the number of files that were updated.
func drawn(t *testing.T, seed uint64) (m *model, updates int) {
	t.Helper()
	m = newModel(t, seed, []catalog.PushMode{catalog.PushDirect, catalog.PushBranch, catalog.PushRequest}[seed%3])
	for range 20 {
		m.step()
	}
	return m, m.settle()
}

// number is how often a test is repeated: what a variable says, or size.
func number(variable string, size int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil {
		return n
	}
	return size
}

// modelStrings are the strings of the components app and doc.
var modelStrings = map[string][]string{"app": {"String 0", "String 1", "String 2", "String 3", "String 4", "String 6"}, "doc": {"Doc 0", "Doc 1"}}

// anyString draws a string, often one with a pending edit.
func (m *model) anyString() string {
	var pending []string
	for _, e := range m.journal() {
		if e.Status == store.EditPending {
			pending = append(pending, e.Source)
		}
	}
	if len(pending) > 0 && m.rnd.IntN(3) > 0 {
		return pending[m.rnd.IntN(len(pending))]
	}
	all := append(slices.Clone(modelStrings["app"]), modelStrings["doc"]...)
	return all[m.rnd.IntN(len(all))]
}

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
	texts   int    // that were drawn
	missing int    // strings that were translated though the file lacked them
	doc     string // the path of the file of doc
	trouble trouble
	updated object.Hash // what update made of our branch last
	ended   object.Hash // our branch when its request ended last
	updates bool        // app has msgmerge: commit
	pot     []string    // the strings of its template
	laws

	languages gittest.Files   // what else is below po/ on the main branch
	added     map[int64]bool  // edits of files that were acknowledged
	taken     map[string]bool // files of which an edit was taken back, perhaps after its push
	forgotten map[string]bool // texts that were taken back long ago, by source
}

func newModel(t *testing.T, seed uint64, mode catalog.PushMode) *model {
	up := gittest.NewUpstream[object.Hash](t)
	m := &model{
		rnd: rand.New(rand.NewPCG(seed, 11)), mode: mode, forge: &fakeForge{}, path: "po/cs.po", doc: modelDocs[seed/3%3],
		updates: seed/2%2 == 1, pot: []string{"String 0"},
		main: map[string]string{}, acked: map[string][]string{}, arrived: map[string][]string{},
		laws:      laws{served: map[string]string{}, refused: map[int64]bool{}, closed: map[string]bool{}},
		languages: gittest.Files{"po/it.po/README": "it.po is a folder", "po/pt.po": "->cs.po"}, added: map[int64]bool{}, taken: map[string]bool{}, forgotten: map[string]bool{},
	}
	for _, ids := range modelStrings {
		for _, id := range ids {
			m.main[id] = ""
		}
	}
	if m.updates || seed%4 < 3 {
		m.pot = modelStrings["app"]
		delete(m.main, "String 4") // its file lacks them
		delete(m.main, "String 6")
	}
	up.Push("Other", m.files())
	m.world = worldOf(t, up, catalog.ComponentSettings{NewBase: "app.pot", Edits: catalog.Edits{Mode: mode}})
	m.Change = func(o *ingest.Options) { o.Quotas.Units = modelQuota }
	m.Close()
	m.Open()
	m.newPusher()
	m.configure(mode)
	if seed%4 == 0 {
		key, err := pgpKey()
		gittest.Must(t, err)
		m.to.Signer = modelSigner{key, m}
	}
	m.acknowledge()
	m.seen()
	return m
}

// poFile is the file of a component on the main branch.
func (m *model) poFile(component string) string {
	text := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
	for _, id := range modelStrings[component] {
		if target, ok := m.main[id]; ok {
			text += fmt.Sprintf("\nmsgid %q\nmsgstr %q\n", id, target)
		}
	}
	return text
}

func (m *model) files() gittest.Files {
	files := gittest.Files{m.path: m.poFile("app"), m.doc: m.poFile("doc"), "n": fmt.Sprint(m.n), "app.pot": potOf(m.pot...)}
	switch m.trouble {
	case unreadable:
		files[m.doc] = "msgid"
	case tooLarge:
		for n := range modelQuota {
			files[m.doc] += fmt.Sprintf("\nmsgid \"More %d\"\nmsgstr \"\"\n", n)
		}
	}
	maps.Copy(files, m.languages)
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

// branch reads the files of a branch.
func (m *model) branch(name string) gittest.Files {
	m.t.Helper()
	return filesAt(m.TB, m.up, m.head(name))
}

// textsOf reads the Czech texts of a commit. Of a file that it does not have, or that cannot
// be read, they are what the main branch had last.
func (m *model) textsOf(files gittest.Files) map[string]string {
	m.t.Helper()
	texts := map[string]string{}
	for component, ids := range modelStrings {
		for path, text := range files {
			if path != m.doc && !strings.HasPrefix(path, "po/cs") || (path == m.doc) != (component == "doc") {
				continue
			}
			if f, err := poparse.Parse(path, []byte(text)); err == nil {
				for e := range f.Live() {
					if slices.Contains(ids, e.ID) {
						texts[e.ID] = e.Str[0]
					}
				}
				ids = nil
			}
		}
		for _, id := range ids {
			if text, there := m.main[id]; there {
				texts[id] = text
			}
		}
	}
	return texts
}

func (m *model) step() {
	m.n++
	id := m.anyString()
	if m.updates && m.rnd.IntN(6) == 0 {
		m.moveTemplate()
	}
	switch m.rnd.IntN(30) {
	case 0, 1, 2, 3, 4:
		m.write(id)
	case 5:
		m.fill()
	case 6:
		if touchable(id) {
			m.main[id] = fmt.Sprint("theirs ", m.n)
			m.others()
		}
	case 7:
		m.reshape(id)
	case 8:
		if m.rnd.IntN(2) == 0 {
			m.Close()
			m.Open()
			m.newPusher()
		}
		m.pull()
	case 9, 10, 11, 12, 13:
		m.push([]string{"", "", "before", "after", "refused", "oops"}[m.rnd.IntN(6)])
	case 14, 15, 16, 17:
		m.end()
	case 18, 19:
		m.reset()
	case 20:
		m.restore()
	case 21:
		m.suggest(id)
	case 22:
		m.expire()
	case 23:
		if m.rnd.IntN(2) == 0 {
			m.configure([]catalog.PushMode{catalog.PushDirect, catalog.PushBranch, catalog.PushRequest}[m.rnd.IntN(3)])
		} else {
			m.trouble = trouble(m.rnd.IntN(3))
			m.others()
		}
	case 24:
		m.obstruct()
	case 25, 26:
		m.update()
	case 27:
		m.serve()
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
		if ours, err := object.ReadRef(m.up.Dir, "refs/heads/l10n"); err != nil || ours != m.updated { // else nothing says what is ours there
			m.others(m.up.Commit("Other", gittest.Files{"root": fmt.Sprint(m.n)})) // a main branch without the past
		}
		return
	case !touchable(id):
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
	text, state := m.text(id)
	m.enter(id, text, state)
}

// fill translates a string that only the template has, and others push something else before
// it is out.
func (m *model) fill() {
	served := m.now()
	for _, i := range m.rnd.Perm(len(m.pot)) {
		id := m.pot[i]
		if _, there := served[id]; !there && slices.Contains(modelStrings["app"], id) {
			m.write(id)
			m.main["String 1"] = fmt.Sprint("theirs ", m.n)
			m.others()
			m.pull()
			return
		}
	}
}

// enter gives a string that is served, or that only the template has, a text.
func (m *model) enter(id, text string, state catalog.State) {
	served := false
	m.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if tr.Language != "cs" || u.Source != id {
			return
		}
		served = true
		name := []string{"Jana", "Petr"}[m.rnd.IntN(2)]
		_, err := m.Editor.Edit(m.t.Context(), c.ID, tr.ID, edit.Author{Name: name, Email: name + "@example.org"},
			[]edit.Request{{UnitID: u.ID, Target: []string{text}, State: state}})
		gittest.Must(m.t, err)
		m.acked[id] = append(m.acked[id], text)
		m.served[id] = text
	})
	if _, there := m.now()[id]; !there { // the file lacks it, and its text was taken back
		delete(m.served, id)
	}
	if served || text == "" {
		return
	}
	switch _, err := m.translate(id, state, text); {
	case err == nil:
		m.missing++
		m.acked[id] = append(m.acked[id], text)
		m.served[id] = text
	case !errors.Is(err, edit.ErrChanged) && !errors.Is(err, catalog.ErrNotFound):
		m.t.Fatalf("step %d: %v", m.n, err)
	}
}

var errCrash = errors.New("crash")

// push flushes, and perhaps crashes before the push or after it, or is refused by a hook, or
// somebody takes a commit back that was fetched.
func (m *model) push(how string) {
	m.t.Helper()
	m.acted = false
	before := m.head("main")
	var oops object.Hash
	if how == "oops" && m.mode == catalog.PushDirect {
		files := m.files()
		files["secret"] = "oops"
		oops = m.up.Push("Other", files, before)
	}
	m.pusher.SetStop(func(after bool) error {
		if !after && !oops.IsZero() && m.head("main") == oops {
			m.up.Set("main", before)
		}
		if !after && m.rnd.IntN(2) == 0 {
			m.meanwhile()
		}
		if how == "before" && !after || how == "after" && after {
			return errCrash
		}
		return nil
	})
	m.hook(how == "refused")
	err := m.flushOnce()
	m.hook(false)
	m.pusher.SetStop(func(bool) error { return nil })
	if head := m.head("main"); !oops.IsZero() && head != oops && strings.Contains(gittest.RunGit(m.t, m.up.Dir, "rev-list", "main"), oops.String()) {
		m.t.Fatalf("step %d: a commit that was taken back is there again, below %s", m.n, head)
	}
	if err == nil && how == "" && !m.acted && m.rnd.IntN(3) == 0 {
		m.still()
	}
}

// flushOnce flushes, which must not fail for a reason of ours.
func (m *model) flushOnce() error {
	m.t.Helper()
	_, err := m.pusher.Flush(m.t.Context(), m.Branch, m.destination)
	if err != nil && !errors.Is(err, errCrash) && !errors.Is(err, remote.ErrDeclined) {
		m.t.Fatalf("step %d: %v", m.n, err)
	}
	m.readMain()
	return err
}

// readMain notes what a flush made of the main branch: also the texts of commits before that
// of an update, in which strings may be obsolete.
func (m *model) readMain() {
	for _, commit := range strings.Fields(gittest.RunGit(m.t, m.up.Dir, "rev-list", "--first-parent", "-3", "main")) {
		id, err := object.ParseHash(commit)
		gittest.Must(m.t, err)
		for source, text := range m.textsOf(filesAt(m.TB, m.up, id)) {
			m.arrived[source] = append(m.arrived[source], text)
		}
	}
	files := m.branch("main")
	m.main, m.languages = m.textsOf(files), languagesOf(files)
}

// end ends the request in some way, once: a text that arrived and comes again is somebody's.
func (m *model) end() {
	branch, err := object.ReadRef(m.up.Dir, "refs/heads/l10n")
	if err != nil || m.trouble != none || branch == m.ended {
		return
	}
	base, common := m.base()
	if !common {
		return // it cannot be merged
	}
	files := filesAt(m.TB, m.up, branch)
	texts := m.textsOf(files)
	how := m.rnd.IntN(5)
	if how < 4 {
		m.ended = branch
	}
	taken := false
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		now, there := m.main[id]
		text := texts[id]
		if !there || now == text || text == base[id] {
			continue
		}
		switch {
		case how == 4: // closed
		case how == 3 && taken: // cherry-picked in part
		case how == 2 && !taken && touchable(id):
			m.main[id] = text + " (corrected)"
		default:
			m.main[id] = text
		}
		taken = true
	}
	if how < 2 {
		m.languages = languagesOf(files)
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
				journal[e.Source+"\x00"+e.Ours.Target] = true
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
	m.hold()
	m.repositorys()
}

// settle flushes until nothing changes, and looks at the end state. It returns the number of
// updates.
func (m *model) settle() (updates int) {
	m.t.Helper()
	m.quiet = true
	for range 3 {
		gittest.Must(m.t, m.flushOnce())
		m.check()
	}
	m.still()
	m.settled()
	m.settledFiles()
	m.settledCommits()
	m.Verify()
	return m.settledUpdates()
}

// settled looks at the end state of texts: nothing is waiting that can be written.
func (m *model) settled() {
	m.t.Helper()
	main, ours := m.textsOf(m.branch("main")), m.ours()
	reasons := map[int64]string{}
	for _, e := range m.journal() {
		if e.Status == store.EditPending {
			reasons[e.UnitID] = e.Reason
		}
	}
	m.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		switch {
		case tr.Language != "cs", c.Slug == "doc" && m.trouble != none, !slices.Contains(modelStrings[c.Slug], u.Source):
		case u.Pending && m.held(c.Slug, u.Target):
			if reasons[u.ID] == "" {
				m.t.Errorf("%s waits without a reason", u.Source)
			}
		case !u.Pending && u.Target != main[u.Source]:
			m.t.Errorf("%s: %q is served, main has %q", u.Source, u.Target, main[u.Source])
		case u.Pending && m.mode == catalog.PushDirect:
			m.t.Errorf("%s is still pending", u.Source)
		case u.Pending && m.updates && !slices.Contains(m.pot, u.Source): // it is obsolete there
		case u.Pending && ours[u.Source] != u.Target:
			m.t.Errorf("%s: %q is pending, and not in l10n", u.Source, u.Target)
		}
	})
}
