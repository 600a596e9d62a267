package catalogtest

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/testrepos"
)

// Now is the clock of servers in tests.
func Now() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC) }

// Store is an open database of one test, which is closed when the test ends.
type Store struct {
	TB        testing.TB
	DB        *store.DB
	Languages *lang.Table
	// Dir is the directory of the database and of mirrors.
	Dir string
	// Options are the options that Open opens the database with.
	Options store.Options
}

// Open makes an empty database in a directory of the test.
func Open(tb testing.TB) *Store {
	tb.Helper()
	s := At(tb, tb.TempDir())
	s.Open()
	return s
}

// At names a database in a directory without opening it.
func At(tb testing.TB, dir string) *Store { return &Store{TB: tb, Dir: dir} }

// Database is the address of the database: the path of the file of SQLite, or a
// schema of PostgreSQL (pgtest.EngineVariable).
func (s *Store) Database() string {
	s.TB.Helper()
	path := filepath.Join(s.Dir, "repoglot.db")
	if pgtest.Chosen() {
		return pgtest.DSN(s.TB, path)
	}
	return path
}

// Open opens the database, which is made if it does not exist.
func (s *Store) Open() {
	s.TB.Helper()
	name := s.Database()
	if _, err := os.Lstat(name); os.IsNotExist(err) && !pgtest.Chosen() && s.Options.Migrations == nil {
		if text, err := empty(); err != nil || os.WriteFile(name, text, 0o600) != nil {
			s.TB.Fatalf("an empty database in %s: %v", s.Dir, err)
		}
	}
	db, err := store.Open(s.TB.Context(), name, s.Options)
	if err != nil {
		s.TB.Fatal(err)
	}
	s.TB.Cleanup(func() {
		if err := db.Close(); err != nil {
			s.TB.Error(err)
		}
	})
	s.DB = db
	if s.Languages, err = languages(); err != nil {
		s.TB.Fatal(err)
	}
}

// languages is the table of languages, which nothing changes.
var languages = sync.OnceValues(lang.New)

// empty is the file of a database of SQLite that has a schema and nothing else. Making the
// schema takes half of what opening a new database takes, and tests open hundreds.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "repoglot-empty-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "repoglot.db")
	db, err := store.Open(context.Background(), path, store.Options{})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// Close closes the database.
func (s *Store) Close() {
	s.TB.Helper()
	if err := s.DB.Close(); err != nil {
		s.TB.Fatal(err)
	}
}

// Read runs fn in a snapshot.
func (s *Store) Read(fn func(ctx context.Context, s *store.Snapshot) error) {
	s.TB.Helper()
	if err := s.DB.Read(s.TB.Context(), fn); err != nil {
		s.TB.Fatal(err)
	}
}

// Verify recounts everything that the store keeps as a sum.
func (s *Store) Verify() {
	s.TB.Helper()
	s.Read(func(ctx context.Context, snap *store.Snapshot) error {
		counted, err := snap.Verify(ctx, func(m store.Mismatch) { s.TB.Errorf("verify: %s", m) })
		if err == nil && counted.Components == 0 {
			s.TB.Error("verify saw nothing")
		}
		return err
	})
}

// Generation is the store's generation.
func (s *Store) Generation() (g int64) {
	s.TB.Helper()
	s.Read(func(ctx context.Context, snap *store.Snapshot) (err error) {
		g, err = snap.Generation(ctx)
		return err
	})
	return g
}

// Logger writes lines of a level and above to the log of a test.
func Logger(tb testing.TB, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: level}))
}

// EachComponent calls fn for every component of the project "demo", in order.
func (s *Store) EachComponent(fn func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error) {
	s.TB.Helper()
	s.Read(func(ctx context.Context, snap *store.Snapshot) error {
		components, err := snap.Components(ctx, "demo")
		for i := 0; i < len(components) && err == nil; i++ {
			err = fn(ctx, snap, components[i])
		}
		return err
	})
}

// EachUnit calls fn for every unit of the project "demo" that is served, in
// the order of components, translations and ids.
func (s *Store) EachUnit(fn func(c *catalog.Component, t *catalog.Translation, u *catalog.Unit)) {
	s.TB.Helper()
	s.EachComponent(func(ctx context.Context, snap *store.Snapshot, c *store.ComponentRow) error {
		translations, err := snap.Translations(ctx, c.ID)
		if err != nil {
			return err
		}
		for i := range translations {
			units, err := snap.Units(ctx, translations[i].ID, 0, 1<<20)
			if err != nil {
				return err
			}
			for j := range units {
				fn(&c.Component, &translations[i], &units[j])
			}
		}
		return nil
	})
}

// EachChange calls fn for every change after an id.
func (s *Store) EachChange(after int64, fn func(c *catalog.Change)) {
	s.TB.Helper()
	s.Read(func(ctx context.Context, snap *store.Snapshot) error {
		list, err := snap.Changes(ctx, store.ChangeQuery{AfterID: after, Limit: 1 << 20})
		for i := range list {
			fn(&list[i])
		}
		return err
	})
}

// Targets returns the targets of the units that are served, by unit id, without
// empty forms at the end.
func (s *Store) Targets() map[int64]string {
	targets := map[int64]string{}
	s.EachUnit(func(_ *catalog.Component, _ *catalog.Translation, u *catalog.Unit) {
		targets[u.ID] = catalog.TrimForms(u.Target)
	})
	return targets
}

// ApplyChanges applies all changes to targets by unit id. A translation that
// was removed (25) leaves the set, and comes back (48) with the targets it had.
func (s *Store) ApplyChanges(targets map[int64]string) {
	s.TB.Helper()
	type unit struct {
		translation string // component/language
		id          int64
	}
	texts, served := map[unit]string{}, map[string]bool{}
	s.EachUnit(func(c *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		key := c.Slug + "/" + t.Language
		served[key] = true
		if target, ok := targets[u.ID]; ok {
			texts[unit{key, u.ID}] = target
		}
	})
	s.EachChange(0, func(c *catalog.Change) {
		switch u := (unit{c.Component + "/" + c.Language, c.UnitID}); c.Action {
		case catalog.ActionNewUnit, catalog.ActionStringRepoUpdate, catalog.ActionChange, catalog.ActionNew, catalog.ActionAccept, catalog.ActionMarkedEdit:
			texts[u] = catalog.TrimForms(c.Target)
		case catalog.ActionStringRemove:
			delete(texts, u)
		}
	})
	clear(targets)
	for u, target := range texts {
		if served[u.translation] {
			targets[u.id] = target
		}
	}
}

// PO makes a file of pairs of msgid and msgstr.
func PO(pairs ...string) string {
	var b strings.Builder
	b.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n")
	for pair := range slices.Chunk(pairs, 2) {
		fmt.Fprintf(&b, "\nmsgid %q\nmsgstr %q\n", pair[0], pair[1])
	}
	return b.String()
}

// Equal reports how a value (plus) differs from the wanted one (minus), and whether it does
// not. what and args name the value.
func Equal(tb testing.TB, want, got any, what string, args ...any) bool {
	tb.Helper()
	diff := cmp.Diff(want, got)
	if diff != "" {
		tb.Errorf("%s:\n%.5000s", fmt.Sprintf(what, args...), diff)
	}
	return diff == ""
}

// Commit makes a commit in the repository of p and pulls it.
func (p *Puller) Commit(repo *testrepos.Repo, c testrepos.Change) ingest.Report {
	p.TB.Helper()
	repo.Commit(p.TB, c)
	return p.Sync()
}

// WantEntries checks that the entries after one are those that begin as given.
func (p *Puller) WantEntries(last int64, want ...string) {
	p.TB.Helper()
	text, _ := p.ChangesAfter(last)
	if !slices.EqualFunc(slices.Collect(strings.Lines(text)), want, strings.HasPrefix) {
		p.TB.Errorf("entries, want %q:\n%s", want, text)
	}
}

// EntriesLeadToUnits checks that the entries, applied to texts by unit id, give the targets
// that are served.
func (p *Puller) EntriesLeadToUnits(texts map[int64]string) {
	p.TB.Helper()
	p.ApplyChanges(texts)
	Equal(p.TB, p.Targets(), texts, "the entries do not lead to the units")
}

// maxDumped bounds the units and changes of a dump, so that golden files stay
// readable; no scenario that is compared whole has as many.
const maxDumped = 40

// Short cuts long texts.
func Short(s string) string {
	if len(s) > 300 {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:100], ""), len(s))
	}
	return s
}

// ChangesAfter renders the changes after an id, of all projects, and returns
// the last id.
func (s *Store) ChangesAfter(id int64) (text string, last int64) {
	s.TB.Helper()
	var b strings.Builder
	last = id
	n := 0
	s.EachChange(id, func(c *catalog.Change) {
		if n++; n <= maxDumped {
			dumpChange(&b, c)
		}
		last = c.ID
	})
	if n > maxDumped {
		fmt.Fprintf(&b, "and %d more\n", n-maxDumped)
	}
	return b.String(), last
}

func dumpChange(b *strings.Builder, c *catalog.Change) {
	commit := c.Commit
	if len(commit) > 7 {
		commit = commit[:7]
	}
	fmt.Fprintf(b, "%d %s", c.Action, c.Component)
	if c.Language != "" {
		fmt.Fprintf(b, "/%s", c.Language)
	}
	fmt.Fprintf(b, " by %s (%s) in %s at %s", c.Username, c.AuthorName, commit, c.Timestamp.Format(time.RFC3339))
	if c.UnitID != 0 {
		fmt.Fprintf(b, ": %q / %q: %d %q -> %d %q", Short(c.Source), Short(c.Context), c.OldState, Short(c.Old), c.State, Short(c.Target))
	}
	if len(c.Event) > 0 {
		fmt.Fprintf(b, ": %v", c.Event)
	}
	b.WriteByte('\n')
}
