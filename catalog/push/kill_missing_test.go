package push_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// killMissingMark is a file in the directory of TestKillMissing, with its variant.
const killMissingMark = "missing"

// killLanguages are the languages of TestKillMissing.
var killLanguages = []string{"cs", "de"}

// missingSettings are those of the component of TestKillMissing.
func missingSettings(dir string) (map[string]catalog.ComponentSettings, error) {
	variant, err := os.ReadFile(filepath.Join(dir, killMissingMark))
	s := catalog.ComponentSettings{
		LanguageRegex: "^[^.]+$", NewBase: "po/app.pot", CommitMessage: "Translate", AddonMessage: "Update by msgmerge",
		Edits: catalog.Edits{Mode: catalog.PushDirect, Update: catalog.Update{On: true, NoFuzzyMatching: true}},
	}
	switch string(variant) {
	case "elsewhere":
		s.TemplateRepo = filepath.Join(dir, "code.git")
	case "branch":
		s.Edits.Update.NoFuzzyMatching = false
		s.Edits.Mode, s.PushBranch = catalog.PushBranch, "l10n"
	}
	return map[string]catalog.ComponentSettings{"app": s}, err
}

// mortal is a context at one of whose calls the process dies by SIGKILL.
type mortal struct {
	context.Context
	killAt int64
	asked  atomic.Int64
}

func (m *mortal) Done() <-chan struct{} { m.count(); return m.Context.Done() }
func (m *mortal) Err() error            { m.count(); return m.Context.Err() }
func (m *mortal) Value(key any) any     { m.count(); return m.Context.Value(key) }

func (m *mortal) count() {
	if m.asked.Add(1) == m.killAt {
		die()
	}
}

// die ends the process by SIGKILL.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // until the signal arrives
}

// missingChild translates what the files lack of their template, but for each third string,
// which waits for the update of the file and perhaps gets a similar text by it, and flushes
// after each language. It dies at a place, if that is not 0: a call of its context, or, below 0,
// the moments before and after its pushes.
func missingChild(dir string, place int64) error {
	settings, err := missingSettings(dir)
	if err != nil {
		return err
	}
	m := &mortal{Context: context.Background(), killAt: place}
	err = asChild(m, dir, settings, func(ctx context.Context, c *childProcess) error {
		c.SetStop(func(bool) error {
			if place++; place == 0 {
				die()
			}
			return nil
		})
		for turn := range 2 {
			for _, code := range killLanguages {
				if err := translateAll(ctx, c, code, turn > 0); err != nil {
					return err
				}
				if err := c.flush(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	})
	fmt.Println("asked", m.asked.Load())
	return err
}

// translateAll translates the new strings of a language: those that the file lacks, and with
// all those that it has without their text.
func translateAll(ctx context.Context, c *childProcess, code string, all bool) error {
	var lacked, empty []catalog.Unit
	var of store.TranslationRow
	err := c.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
		if of, err = snap.Translation(ctx, "demo", "app", code); err != nil {
			return err
		}
		row, err := snap.Component(ctx, "demo", "app")
		if err != nil {
			return err
		}
		found, err := snap.Search(ctx, store.SearchQuery{Components: map[int64]*store.ComponentRow{row.ID: &row}, TranslationID: of.ID, Missing: true, Expr: query.All})
		if err == nil {
			lacked, _, err = found.Page(ctx, 0, 100)
		}
		if err == nil {
			empty, err = snap.Units(ctx, of.ID, 0, 100)
		}
		return err
	})
	if err != nil {
		return err
	}
	var number int
	for _, u := range slices.Concat(lacked, empty) {
		missing := u.TranslationID != of.ID
		if _, err := fmt.Sscanf(u.Source, "New %d", &number); err != nil || u.Target == newText(number, code) || (number%3 == 2 || !missing) && !all {
			continue
		}
		r := edit.Request{UnitID: u.ID, Target: []string{newText(number, code)}, State: catalog.StateTranslated}
		if missing {
			r.UnitID, r.SourceID = 0, u.ID
		}
		if _, err := c.Editor.Edit(ctx, of.Component.ID, of.ID, edit.Author{Name: "Jana", Email: "jana@example.org"}, []edit.Request{r}); err != nil {
			return err
		}
		fmt.Println("acknowledged", number, code)
	}
	return nil
}

// newText is what a process translates a string to.
func newText(number int, code string) string { return fmt.Sprintf("text %d in %s", number, code) }

// killMissing is the world of TestKillMissing.
type killMissing struct {
	t            *testing.T
	dir, variant string
	up, code     *gittest.Upstream[object.Hash]
	version      int // of the template
	back         int // the string that came back with it, -1: none
	acknowledged map[string]bool
}

// TestKillMissing kills processes that translate what files lack, and have the files updated to
// a template that moves, at every moment: at some calls of their context, which are in
// transactions and pushes, too. Each acknowledged text is in git, or waits for a string that has
// left the template; none was pushed twice; msgfmt -c takes each file that was pushed; and in the
// end the files have the strings of the template. REPOGLOT_KILLS is the number of processes that
// are killed.
func TestKillMissing(t *testing.T) {
	gittest.NeedGit(t)
	pgtest.SQLiteOnly(t, "the process that is killed has a file")
	kills := number("REPOGLOT_KILLS", testsize.Of(9, 24, 600))
	for i, variant := range []string{"direct", "branch", "elsewhere"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(7, uint64(i)))
			k := newKillMissing(t, variant)
			asked, died := k.run(0), 0
			for n := range kills / 3 {
				if n%2 == 0 {
					k.newTemplate()
				}
				if n%4 == 3 {
					k.merge()
				}
				place := 1 + rnd.Int64N(asked)
				if n%3 == 0 {
					place = -1 - rnd.Int64N(6)
				}
				if k.run(place) == 0 {
					died++
				}
			}
			if died < kills/9 {
				t.Errorf("%d of %d processes were killed", died, kills/3)
			}
			k.newTemplate()
			for range 2 {
				k.merge()
				k.run(0)
			}
			k.merge()
			k.check()
		})
	}
}

func newKillMissing(t *testing.T, variant string) *killMissing {
	t.Helper()
	dir := t.TempDir()
	k := &killMissing{t: t, dir: dir, variant: variant, acknowledged: map[string]bool{}}
	k.up = gittest.NewUpstreamAt[object.Hash](t, filepath.Join(dir, "up.git"))
	gittest.Must(t, os.WriteFile(filepath.Join(dir, killMissingMark), []byte(variant), 0o600))
	files := gittest.Files{"po/app.pot": potOf("String 0", "String 1", "String 2")}
	for _, code := range killLanguages {
		files["po/"+code+".po"] = files["po/app.pot"]
	}
	k.up.Push("Other", files)
	if variant == "elsewhere" {
		k.code = gittest.NewUpstreamAt[object.Hash](t, filepath.Join(dir, "code.git"))
		k.code.Push("Other", gittest.Files{"po/app.pot": files["po/app.pot"]})
	}
	settings, err := missingSettings(dir)
	gittest.Must(t, err)
	configureKill(t, dir, settings)
	k.newTemplate()
	return k
}

// killGone is the number of templates after which a string may come back.
const killGone = 5

// newTemplate has others push a template with another string; the oldest of three goes, and
// sometimes one comes back, unless its text may be another string's meanwhile.
func (k *killMissing) newTemplate() {
	k.t.Helper()
	k.version++
	ids := []string{"String 0", "String 1", "String 2"}
	for n := max(0, k.version-3); n < k.version; n++ {
		ids = slices.Insert(ids, 1+n%3, fmt.Sprint("New ", n))
	}
	if k.back = -1; k.version%2 == 0 && k.version > killGone && k.variant != "branch" {
		k.back = k.version - killGone
		ids = append(ids, fmt.Sprint("New ", k.back))
	}
	if k.code != nil {
		head, err := object.ReadRef(k.code.Dir, "refs/heads/main")
		gittest.Must(k.t, err)
		k.code.Push("Other", gittest.Files{"po/app.pot": potOf(ids...)}, head)
		return
	}
	k.push("main", gittest.Files{"po/app.pot": potOf(ids...)})
}

// push has others push the files of a branch, of which some are other ones.
func (k *killMissing) push(branch string, changed gittest.Files) {
	k.t.Helper()
	from, err := object.ReadRef(k.up.Dir, "refs/heads/"+branch)
	gittest.Must(k.t, err)
	main, err := object.ReadRef(k.up.Dir, "refs/heads/main")
	gittest.Must(k.t, err)
	files := filesAt(k.t, k.up, from)
	for path, text := range changed {
		files[path] = text
	}
	k.up.Push("Other", files, main)
}

// merge merges our branch, if there is one, into one commit, with the template of the main branch.
func (k *killMissing) merge() {
	k.t.Helper()
	if _, err := object.ReadRef(k.up.Dir, "refs/heads/l10n"); err == nil {
		k.push("l10n", gittest.Files{"po/app.pot": gittest.RunGit(k.t, k.up.Dir, "show", "main:po/app.pot") + "\n"})
	}
}

// run runs a process that dies at a place of its work, and returns the number of its places, 0
// if it died.
func (k *killMissing) run(place int64) (asked int64) {
	k.t.Helper()
	exe, err := os.Executable()
	gittest.Must(k.t, err)
	cmd := exec.CommandContext(k.t.Context(), exe)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", childVariable, k.dir, place))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (place == 0 || !errors.As(err, &exit) || exit.Exited()) {
		k.t.Fatalf("a process failed by itself: %v\n%s", err, errs.String())
	}
	for line := range strings.Lines(string(out)) {
		if text, is := strings.CutPrefix(strings.TrimSpace(line), "acknowledged "); is {
			if back := strings.HasPrefix(text, fmt.Sprint(k.back, " ")); k.acknowledged[text] && !back {
				k.t.Errorf("%s was acknowledged before, and is not served", text)
			}
			k.acknowledged[text] = true
		}
		_, _ = fmt.Sscanf(line, "asked %d", &asked)
	}
	return asked
}

// check looks at all that was pushed, and at the journal.
func (k *killMissing) check() {
	k.t.Helper()
	t := k.t
	s := catalogtest.At(t, k.dir)
	s.Open()
	waits := map[string]bool{}
	s.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		list, _, err := snap.Edits(ctx, store.EditQuery{Components: []int64{c.ID}, Limit: 10_000})
		for _, e := range list {
			if e.Status == store.EditPending && e.Kind != store.EditText {
				t.Errorf("still pending: %+v", e)
			}
			if e.Status == store.EditConflict {
				t.Errorf("nobody else translates: %+v", e)
			}
			waits[e.Ours.Target] = waits[e.Ours.Target] || e.Status == store.EditPending
		}
		return err
	})
	for _, code := range killLanguages {
		pushed, last := map[string]int{}, map[string]string{}
		for _, commit := range strings.Fields(gittest.RunGit(t, k.up.Dir, "rev-list", "--reverse", "--first-parent", "main")) {
			id, err := object.ParseHash(commit)
			gittest.Must(t, err)
			text := filesAt(t, k.up, id)["po/"+code+".po"]
			compiles(t, code+" at "+commit, text)
			f, err := poparse.Parse(code, []byte(text))
			gittest.Must(t, err)
			now := map[string]string{}
			for _, e := range f.Entries {
				if !e.Fuzzy {
					now[e.ID] = e.Str[0]
				}
			}
			for n := range k.version {
				if source := fmt.Sprint("New ", n); now[source] == newText(n, code) && last[source] != now[source] {
					pushed[source]++
				}
			}
			last = now
		}
		for n := range k.version {
			source, text := fmt.Sprint("New ", n), newText(n, code)
			acknowledged, times := k.acknowledged[fmt.Sprint(n, " ", code)], pushed[source]
			live := n >= k.version-3
			if times > 1 || times == 0 && (live || acknowledged && !waits[text]) || live && last[source] != text {
				t.Errorf("%q, acknowledged %v, was pushed %d times, waits %v; there is %q at last", text, acknowledged, times, waits[text], last[source])
			}
		}
	}
	s.Verify()
	gittest.RunGit(t, k.up.Dir, "fsck", "--no-dangling")
}
