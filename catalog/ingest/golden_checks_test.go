package ingest_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
)

// TestGoldenChecks compares the failing checks of every unit of real
// components with those that a Weblate 5.4.2 found.
func TestGoldenChecks(t *testing.T) {
	needShared(t, sharedGolden)
	for _, c := range []struct {
		name, bundle string
		settings     catalog.ComponentSettings
	}{
		{"dnf", "dnf-plugins-core", catalog.ComponentSettings{NewBase: "po/dnf-plugins-core.pot"}},
		{"django", "demo", catalog.ComponentSettings{Filemask: "weblate/locale/*/LC_MESSAGES/django.po", NewBase: "weblate/locale/django.pot"}},
		{"switchboard", "switchboard", catalog.ComponentSettings{NewBase: "po/io.elementary.settings.pot"}},
		{"vim", "vim-po", catalog.ComponentSettings{Filemask: "src/po/*.po", NewBase: "src/po/vim.pot", LanguageRegex: "^[^.]+$"}},
		{"hello", "hello", catalog.ComponentSettings{NewBase: "po/hello.pot"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if slowUnderRace(c.bundle) {
				t.Skip("skipped under the race detector")
			}
			t.Parallel()
			w := newWorld(t, cloneBundle(t, filepath.Join(sharedRepos, c.bundle+".bundle")), map[string]catalog.ComponentSettings{c.name: c.settings})
			w.sync()
			compareChecks(t, filepath.Join(sharedGolden, c.name+".tsv.gz"), w.checkRows())
		})
	}
}

// checkRow is a unit and the unit-local checks that fail in it.
type checkRow struct {
	unit   checks.Unit
	failed checks.Mask
}

// checkRows are all units by file and id_hash.
func (w *world) checkRows() map[string]checkRow {
	rows := make(map[string]checkRow)
	w.read(func(ctx context.Context, s *store.Snapshot) error {
		components, err := s.Components(ctx, "demo")
		if err != nil {
			return err
		}
		for _, c := range components {
			translations, err := s.Translations(ctx, c.ID)
			if err != nil {
				return err
			}
			for _, tr := range translations {
				units, err := s.Units(ctx, tr.ID, 0, 1<<20)
				if err != nil {
					return err
				}
				set := checks.New(checks.Options{
					Language: tr.Language, Plural: lang.Plural{Number: tr.PluralNumber, Formula: tr.PluralFormula},
					SourcePlural: lang.Plural{Number: 2, Formula: "n != 1"},
				})
				for i := range units {
					u := &units[i]
					r := checkRow{unit: checks.Unit{
						IsSource: u.SourceID == u.ID, Sources: catalog.SplitForms(u.Source),
						Targets: catalog.TargetForms(u.Source, u.Target, tr.PluralNumber), Flags: u.Flags, State: u.State,
					}}
					r.failed = set.Run(&r.unit)
					rows[tr.Filename+"\t"+strconv.FormatInt(u.Identity.Hash, 10)] = r
				}
			}
		}
		return nil
	})
	return rows
}

// compareChecks holds our findings against the recorded ones.
func compareChecks(t *testing.T, path string, got map[string]checkRow) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	compared, differ, same, missed := 0, 0, 0, 0
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		// language, file, id_hash, state, num_words, position, checks
		col := strings.Split(lines.Text(), "\t")
		if col[0] == "language" {
			continue
		}
		compared++
		r := got[col[1]+"\t"+col[2]]
		want := localChecks(t, col[6])
		if r.failed.Has(checks.Same) != want.Has(checks.Same) {
			// The list of words that stay untranslated is our own.
			if same++; want.Has(checks.Same) {
				missed++
			}
			want, r.failed = want.Without(checks.Same), r.failed.Without(checks.Same)
		}
		if r.failed != want {
			if differ++; differ <= 40 {
				t.Errorf("%s %s %q → %q (%s, source %v): missed %v, surplus %v", col[0], col[2], r.unit.Sources, r.unit.Targets, r.unit.Flags,
					r.unit.IsSource, checkNames(want.AndNot(r.failed)), checkNames(r.failed.AndNot(want)))
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if compared < 100 {
		t.Errorf("only %d units compared", compared)
	}
	if same*200 > compared || missed > 5 {
		t.Errorf("same differs on %d of %d units, %d of them missed", same, compared, missed)
	}
	if differ > 0 {
		t.Errorf("%d of %d units differ", differ, compared)
	}
}

// localChecks are the recorded checks that need no other unit.
func localChecks(t *testing.T, recorded string) checks.Mask {
	t.Helper()
	var m checks.Mask
	for name := range strings.SplitSeq(recorded, ",") {
		id, ok := checks.ByName(name)
		switch {
		case ok && checks.All()[id].Scope != checks.ScopeAcross:
			m = m.With(id)
		case !ok && name != "":
			t.Errorf("recorded check %q is unknown", name)
		}
	}
	return m
}

func checkNames(m checks.Mask) []string {
	var all []string
	for id := range m.All() {
		all = append(all, id.String())
	}
	return all
}
