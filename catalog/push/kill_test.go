package push_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/editing"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// childVariable has the directory of TestKill, and the number of its first edit, for the
// process that is killed.
const childVariable = "REPOGLOT_PUSH_CHILD"

func TestMain(m *testing.M) {
	dir, first, ok := strings.Cut(os.Getenv(childVariable), " ")
	n, _ := strconv.Atoi(first)
	if _, err := os.Stat(filepath.Join(dir, killMissingMark)); ok && err == nil {
		if err := missingChild(dir, int64(n)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if ok {
		if err := child(dir, n); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	gittest.Main(m)
}

const (
	killStrings = 3
	killEdits   = 6 // of a process that is not killed
)

// killSettings are those of the component of TestKill.
func killSettings() map[string]catalog.ComponentSettings {
	return map[string]catalog.ComponentSettings{"app": {LanguageRegex: "^[^.]+$", NewBase: "po/app.pot", CommitMessage: "Translate", Edits: catalog.Edits{Mode: catalog.PushDirect}}}
}

// child edits and flushes in turn, from an edit on, and says on the standard output how
// far it is.
func child(dir string, first int) error {
	return asChild(context.Background(), dir, killSettings(), func(ctx context.Context, c *childProcess) error {
		for n := first; n < first+killEdits; n++ {
			if err := editOne(ctx, c.DB, c.Editor, n); err != nil {
				return err
			}
			fmt.Println("acknowledged", n)
			if n%3 == 2 {
				if err := changeFile(ctx, c.DB, c.Editor); err != nil {
					return err
				}
			}
			if n%2 == 1 {
				if err := c.flush(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// childProcess is what a process that is killed works with.
type childProcess struct {
	*push.Pusher
	branch ingest.Branch
}

// asChild pulls and calls do, as a process whose files are in a directory.
func asChild(ctx context.Context, dir string, settings map[string]catalog.ComponentSettings, do func(context.Context, *childProcess) error) (err error) {
	db, err := store.Open(ctx, filepath.Join(dir, "repoglot.db"), store.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	languages, err := lang.New()
	if err != nil {
		return err
	}
	b, _, _ := catalogtest.BranchOf(filepath.Join(dir, "up.git"), "main", settings)
	s := ingest.New(ingest.Options{DB: db, Languages: languages, MirrorDir: filepath.Join(dir, "mirrors")})
	d := editing.New(editing.Options{DB: db, Syncer: s, Languages: languages})
	p := push.New(push.Options{DB: db, Syncer: s, Editor: d, Languages: languages, Name: "repoglot", Email: func() string { return "noreply@example.org" }, BaseURL: func() string { return "" }})
	p.SetStop(func(bool) error {
		fmt.Println("pushed")
		return nil
	})
	if _, err := s.Sync(ctx, b); err != nil {
		return err
	}
	fmt.Println("pulled")
	return do(ctx, &childProcess{p, b})
}

// flush flushes once, and says so.
func (c *childProcess) flush(ctx context.Context) error {
	_, err := c.Flush(ctx, c.branch, func(*store.BranchComponent) push.Destination { return push.Destination{} })
	if err == nil {
		fmt.Println("flushed")
	}
	return err
}

// editOne makes the n-th edit.
func editOne(ctx context.Context, db *store.DB, d *editing.Editor, n int) error {
	var unit catalog.Unit
	err := db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		t, err := snap.Translation(ctx, "demo", "app", "cs")
		if err != nil {
			return err
		}
		units, err := snap.Units(ctx, t.ID, n%killStrings, 1)
		if err == nil {
			unit = units[0]
		}
		return err
	})
	if err != nil {
		return err
	}
	_, err = d.Edit(ctx, unit.ID/catalog.UnitsPerComponent, unit.TranslationID, edit.Author{Name: "Jana", Email: "jana@example.org"},
		[]edit.Request{{UnitID: unit.ID, Target: []string{fmt.Sprintf("text %d.", n)}, State: catalog.StateTranslated}})
	return err
}

// changeFile adds a language, or removes it if it is there, and says so.
func changeFile(ctx context.Context, db *store.DB, d *editing.Editor) error {
	var component catalog.Component
	var there store.TranslationRow
	err := db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		cs, err := snap.Translation(ctx, "demo", "app", "cs")
		if err == nil {
			component = cs.Component
			there, err = snap.Translation(ctx, "demo", "app", "de")
		}
		return err
	})
	switch {
	case errors.Is(err, catalog.ErrNotFound) && component.ID != 0:
		switch err = d.AddTranslation(ctx, component.ID, "de", anna); {
		case errors.Is(err, edit.ErrNotAdded): // it waits
			err = nil
		case err == nil:
			fmt.Println("added")
		}
	case err == nil:
		if err = d.RemoveTranslation(ctx, component.ID, &there.Translation, anna); err == nil {
			fmt.Println("removed")
		}
	}
	return err
}

// TestKill kills a process that edits and flushes, at every moment, and lets the last one
// end: each acknowledged text is in git, or a later one of its string, and none was
// pushed twice; each language that was added, or removed, has one commit. REPOGLOT_KILLS is the number of processes that are killed.
func TestKill(t *testing.T) {
	gittest.NeedGit(t)
	pgtest.SQLiteOnly(t, "the process that is killed has a file")
	kills := number("REPOGLOT_KILLS", testsize.Of(5, 20, 500))
	dir := t.TempDir()
	up := gittest.NewUpstreamAt[object.Hash](t, filepath.Join(dir, "up.git"))
	text := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
	for i := range killStrings {
		text += fmt.Sprintf("\nmsgid \"String %d\"\nmsgstr \"\"\n", i)
	}
	up.Push("Other", gittest.Files{"po/cs.po": text, "po/app.pot": text})
	configureKill(t, dir, killSettings())
	rnd := rand.New(rand.NewPCG(3, 5))
	first, acknowledged := 0, acknowledgements{edits: map[int]bool{}}
	for range kills {
		first = runChild(t, dir, first, 1+rnd.IntN(2*killEdits), &acknowledged)
	}
	runChild(t, dir, first+first%2, 1000, &acknowledged)

	po, log := gittest.RunGit(t, up.Dir, "cat-file", "blob", "main:po/cs.po"), gittest.RunGit(t, up.Dir, "log", "-p", "main")
	for n := range acknowledged.edits {
		added := strings.Count(log, fmt.Sprintf("+msgstr \"text %d.\"", n))
		now := -1 // the number of the string's text
		_, entry, _ := strings.Cut(po, fmt.Sprintf("msgid \"String %d\"\n", n%killStrings))
		_, _ = fmt.Sscanf(entry, "msgstr \"text %d.\"", &now)
		if added > 1 || now < n {
			t.Errorf("text %d was pushed %d times, and text %d is there now", n, added, now)
		}
	}
	wantCommits(t, dir, up.Dir, acknowledged.added)
	s := catalogtest.At(t, dir)
	s.Open()
	s.Verify()
	gittest.RunGit(t, up.Dir, "fsck", "--no-dangling")
}

// acknowledgements are what processes said they had stored.
type acknowledgements struct {
	edits map[int]bool
	added int
}

// wantCommits compares the commits that add and remove a file with the journal, in which
// at least a number of additions are.
func wantCommits(t *testing.T, dir, up string, added int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "repoglot.db"))
	gittest.Must(t, err)
	defer db.Close()
	for i, filter := range []string{"A", "D"} {
		commits := len(strings.Fields(gittest.RunGit(t, up, "log", "--format=%H", "--diff-filter="+filter, "main", "--", "po/de.po")))
		var rows, pending int
		gittest.Must(t, db.QueryRowContext(t.Context(), `SELECT COUNT(*), COALESCE(SUM(status <> 'flushed'), 0) FROM edits WHERE kind = ?`, []string{"add-file", "remove-file"}[i]).Scan(&rows, &pending))
		if commits != rows || pending != 0 || commits == 0 || i == 0 && rows < added {
			t.Errorf("%s: %d commits, %d in the journal, of which %d are not flushed; %d additions were acknowledged", filter, commits, rows, pending, added)
		}
	}
}

// configureKill makes the database.
func configureKill(t *testing.T, dir string, settings map[string]catalog.ComponentSettings) {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(dir, "repoglot.db"), store.Options{})
	gittest.Must(t, err)
	_, specs, _ := catalogtest.BranchOf(filepath.Join(dir, "up.git"), "main", settings)
	gittest.Must(t, db.Configure(t.Context(), []catalog.Project{{Slug: "demo", Settings: catalog.ProjectSettings{Name: "Demo"}}}, specs, nil))
	gittest.Must(t, db.Close())
}

// runChild runs a process and kills it when it has said a number of lines. It returns the
// number of the next edit.
func runChild(t *testing.T, dir string, first, lines int, acknowledged *acknowledgements) int {
	t.Helper()
	exe, err := os.Executable()
	gittest.Must(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", childVariable, dir, first))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	gittest.Must(t, err)
	gittest.Must(t, cmd.Start())
	scanner := bufio.NewScanner(out)
	next := first
	note := func() {
		var n int
		if _, err := fmt.Sscanf(scanner.Text(), "acknowledged %d", &n); err == nil {
			acknowledged.edits[n] = true
			next = max(next, n+1)
		}
		if scanner.Text() == "added" {
			acknowledged.added++
		}
	}
	for n := 0; n < lines && scanner.Scan(); n++ {
		note()
	}
	_ = cmd.Process.Kill()
	for scanner.Scan() {
		note()
	}
	err = cmd.Wait()
	if lines >= 1000 {
		gittest.Must(t, err)
	}
	return next + 1 // an edit that was not acknowledged may be stored
}
