package flush

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/poparse"
)

// TestModel draws histories: edits, pushes by others, flushes that are killed before or
// after the push, and requests that are merged, squashed, rebased, taken in part, edited
// first, closed, or whose branch or base is rewritten. At every moment each acknowledged
// text is in git, pending, or a named conflict, which is never one with a text of ours;
// nothing is in git twice.
func TestModel(t *testing.T) {
	gittest.NeedGit(t)
	for seed := range seeds() {
		for _, request := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d request=%v", seed, request), func(t *testing.T) {
				t.Parallel()
				m := newModel(t, seed, request)
				for range 14 {
					m.step()
				}
				m.settle()
			})
		}
	}
}

// model is a repository of one file, a journal, and what both owe.
type model struct {
	t       *testing.T
	rnd     *rand.Rand
	up      *upstream
	mirror  *gitsource.Mirror
	request bool

	path    string
	main    map[string]string // the texts of the main branch
	head    object.Hash
	rewrite int               // rewritten heads have other trees
	served  map[string]string // as of the last flush
	journal map[string]edit.Edit
	acked   map[string]string   // the last text of each string
	arrived map[string][]string // texts that were on the main branch
	named   map[string][]string // conflicts
	branch  object.Hash         // where ours was put
	minute  int
}

const modelStrings = 5

func newModel(t *testing.T, seed uint64, request bool) *model {
	m := &model{
		t: t, rnd: rand.New(rand.NewPCG(seed, 7)), up: gittest.NewUpstream[object.Hash](t), request: request, path: "po/cs.po",
		main: map[string]string{}, journal: map[string]edit.Edit{}, acked: map[string]string{}, arrived: map[string][]string{}, named: map[string][]string{},
	}
	for i := range modelStrings {
		m.main[fmt.Sprint("s", i)] = ""
	}
	m.push()
	m.mirror = mirrorOf(t, m.up)
	m.serve()
	return m
}

// push makes a commit of main's texts.
func (m *model) push(parents ...object.Hash) {
	if len(parents) == 0 && !m.head.IsZero() {
		parents = []object.Hash{m.head}
	}
	var pairs []string
	for i := range modelStrings {
		if text, ok := m.main[fmt.Sprint("s", i)]; ok {
			pairs = append(pairs, fmt.Sprint("s", i), text)
		}
	}
	m.head = m.up.Push("Other", gittest.Files{m.path: po(pairs...), "n": fmt.Sprint(m.rewrite)}, parents...)
	m.seen()
}

// seen notes what is on main.
func (m *model) seen() {
	for id, text := range m.main {
		if !slices.Contains(m.arrived[id], text) {
			m.arrived[id] = append(m.arrived[id], text)
		}
	}
}

// read reads main from the repository: our own push may have moved it.
func (m *model) read(branch string) (object.Hash, map[string]string) {
	m.t.Helper()
	head, err := object.ReadRef(m.up.Dir, "refs/heads/"+branch)
	gittest.Must(m.t, err)
	texts := map[string]string{}
	f, err := poparse.Parse(m.path, []byte(gittest.RunGit(m.t, m.up.Dir, "cat-file", "blob", head.String()+":"+m.path)))
	gittest.Must(m.t, err)
	for e := range f.Live() {
		texts[e.ID] = e.Str[0]
	}
	return head, texts
}

// serve is what a pull does: it makes the repository's texts those that are served.
func (m *model) serve() {
	_, err := m.mirror.Fetch(m.t.Context())
	gittest.Must(m.t, err)
	m.served = map[string]string{}
	for id, text := range m.main {
		m.served[id] = text
	}
}

func (m *model) step() {
	id := fmt.Sprint("s", m.rnd.IntN(modelStrings))
	m.minute++
	switch m.rnd.IntN(10) {
	case 0, 1, 2:
		m.translate(id)
	case 3:
		m.main[id] = fmt.Sprint("other ", m.minute)
		m.push()
	case 4:
		switch m.rnd.IntN(4) {
		case 0:
			delete(m.main, id) // it leaves the template
		case 1:
			m.path = map[string]string{"po/cs.po": "l10n/cs.po", "l10n/cs.po": "po/cs.po"}[m.path]
		case 2:
			m.rewrite++
			m.push(m.up.Commit("Other", gittest.Files{"n": fmt.Sprint("root ", m.rewrite)})) // another history
			return
		default:
			if _, ok := m.main[id]; !ok {
				m.main[id] = "" // it comes back
			}
		}
		m.push()
	case 5, 6, 7:
		m.flush(m.rnd.IntN(3))
	default:
		m.end()
	}
	m.check()
}

// translate acknowledges an edit of a served string.
func (m *model) translate(id string) {
	text, ok := m.served[id]
	if !ok {
		return
	}
	ours := edit.Text{Target: fmt.Sprint("ours ", m.minute), State: done}
	author := by([]string{"Jana", "Petr"}[m.rnd.IntN(2)], m.minute)
	e, pending := m.journal[id]
	if !pending {
		e = edit.Edit{Source: id, Base: edit.Text{Target: text, State: stateOf(text)}}
	}
	others := slices.DeleteFunc(slices.Clone(e.Authors), func(a edit.Author) bool { return a.Name == author.Name && a.Email == author.Email })
	e.Ours, e.Authors = ours, append(others, author)
	m.journal[id] = e
	m.acked[id] = ours.Target
}

func stateOf(text string) catalog.State {
	if text == "" {
		return catalog.StateEmpty
	}
	return done
}

const (
	noCrash = iota
	crashBefore
	crashAfter
)

// flush runs a flush that may be killed before its push, or before the journal hears of
// it.
func (m *model) flush(crash int) {
	m.t.Helper()
	var ids []string
	files := func(_ context.Context, _ object.Head) ([]File, Options, error) {
		if crash == crashBefore {
			return nil, Options{}, errKilled
		}
		ids = ids[:0]
		f := File{Component: "c", Language: "cs", Path: m.path}
		for i := range modelStrings {
			if e, ok := m.journal[fmt.Sprint("s", i)]; ok {
				ids = append(ids, e.Source)
				f.Edits = append(f.Edits, e)
				e.Sent = append(slices.Clone(e.Sent), e.Ours) // before the push leaves
				m.journal[e.Source] = e
			}
		}
		return []File{f}, Options{Committer: committer}, nil
	}
	to := Target{Branch: "main"}
	if m.request {
		to = Target{Branch: "l10n", Derived: true, At: m.branch}
	}
	result, err := Run(m.t.Context(), m.mirror, to, files)
	if errors.Is(err, errKilled) {
		return
	}
	if errors.Is(err, remote.ErrMoved) && m.request {
		// Our last push was not noted, or somebody else touched our branch.
		m.branch, _ = object.ReadRef(m.up.Dir, "refs/heads/l10n")
		return
	}
	gittest.Must(m.t, err)
	if !m.request {
		m.head, m.main = m.read("main")
		m.seen()
	}
	m.serve()
	if crash == crashAfter {
		return
	}
	if m.request && result.Head != result.Parent {
		m.branch = result.Head
	}
	for i, id := range ids {
		switch result.Outcomes[0][i].Outcome {
		case edit.Applied:
			if !m.request {
				delete(m.journal, id)
			}
		case edit.Done:
			delete(m.journal, id)
		case edit.Conflict:
			if at, _ := edit.Arrived(m.journal[id].Sent, result.Outcomes[0][i].Theirs); at >= 0 {
				m.t.Fatalf("%s is in conflict with a text of ours: %v", id, m.journal[id])
			}
			m.named[id] = append(m.named[id], m.journal[id].Ours.Target)
			delete(m.journal, id)
		case edit.Gone: // it stays
		default:
			m.t.Fatalf("%s: %v", id, result.Outcomes[0][i])
		}
	}
}

var errKilled = errors.New("killed")

// end ends the request in some way.
func (m *model) end() {
	if !m.request || m.branch.IsZero() {
		return
	}
	if _, err := object.ReadRef(m.up.Dir, "refs/heads/l10n"); err != nil {
		return
	}
	path := m.path
	if !strings.Contains(gittest.RunGit(m.t, m.up.Dir, "ls-tree", "-r", "--name-only", "l10n"), path) {
		return // the branch has the old path: it would not merge
	}
	branch, texts := m.read("l10n")
	var ours []string
	for id, text := range texts {
		if now, ok := m.main[id]; ok && now != text && strings.HasPrefix(text, "ours") {
			ours = append(ours, id)
		}
	}
	slices.Sort(ours)
	how := m.rnd.IntN(6)
	for i, id := range ours {
		switch {
		case how == 3 && i > 0: // in part: cherry-picked
		case how == 4 && i == 0:
			m.main[id] = texts[id] + " (edited)"
		case how < 5:
			m.main[id] = texts[id]
		}
	}
	switch {
	case how == 0:
		m.push(m.head, branch) // merged
	case how < 5:
		m.push() // squashed, rebased
	default: // closed, its branch deleted
		m.up.Remove("l10n")
		m.branch = object.Hash{}
	}
}

// check finds every acknowledged text.
func (m *model) check() {
	m.t.Helper()
	for id, text := range m.acked {
		e, pending := m.journal[id]
		if !(pending && e.Ours.Target == text) && !slices.Contains(m.arrived[id], text) && !slices.Contains(m.named[id], text) {
			m.t.Fatalf("%s: %q is lost: main has %q, the journal %v, conflicts %q", id, text, m.main[id], e.Ours, m.named[id])
		}
	}
}

// settle flushes twice: the second time there is nothing to push.
func (m *model) settle() {
	m.t.Helper()
	for range 3 {
		m.flush(noCrash)
		m.check()
	}
	before, _ := object.ReadRef(m.up.Dir, "refs/heads/main")
	l10n, _ := object.ReadRef(m.up.Dir, "refs/heads/l10n")
	m.flush(noCrash)
	after, _ := object.ReadRef(m.up.Dir, "refs/heads/main")
	again, _ := object.ReadRef(m.up.Dir, "refs/heads/l10n")
	if before != after || l10n != again {
		m.t.Errorf("a flush with nothing new moves branches: %s %s, %s %s", before, after, l10n, again)
	}
	// What is pending is in the branch of the request, unless its string is gone.
	if !m.request {
		for id := range m.journal {
			if _, ok := m.main[id]; ok {
				m.t.Errorf("%s is still pending", id)
			}
		}
	}
}
