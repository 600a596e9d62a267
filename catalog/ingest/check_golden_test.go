package ingest_test

import (
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// goldenComponents are the components of the recorded project. The units of some
// were not recorded; two of the checks compare the others with them.
func goldenComponents() []goldenComponent {
	const notNo = "n(?:[^.o][^.]*|o[^.]+)" // codes that begin with n, except no
	return []goldenComponent{
		{"dnf", "dnf-plugins-core", catalog.ComponentSettings{NewBase: "po/dnf-plugins-core.pot"}},
		{"django", "demo", catalog.ComponentSettings{Filemask: "weblate/locale/*/LC_MESSAGES/django.po", NewBase: "weblate/locale/django.pot"}},
		{"switchboard", "switchboard", catalog.ComponentSettings{NewBase: "po/io.elementary.settings.pot", LanguageRegex: "^(?:" + notNo + "|z(?:[^.h][^.]*|h[^.]+)|[^.nz][^.]*)$"}},
		{"vim", "vim-po", catalog.ComponentSettings{Filemask: "src/po/*.po", NewBase: "src/po/vim.pot", LanguageRegex: "^(?:" + notNo + "|[^.n][^.]*)$"}},
		{"hello", "hello", catalog.ComponentSettings{NewBase: "po/hello.pot"}},
		{"gtranslator", "gtranslator-po", catalog.ComponentSettings{}},
	}
}

type goldenComponent struct {
	name, bundle string
	settings     catalog.ComponentSettings
}

// newGoldenWorld imports all golden components.
func newGoldenWorld(t testing.TB) *catalogtest.Puller {
	t.Helper()
	w := catalogtest.PullerAt(t, t.TempDir())
	w.Open()
	var branches []ingest.Branch
	var specs []store.ComponentSpec
	for _, c := range goldenComponents() {
		c.settings.AllowTranslationPropagation = true
		b, more, _ := catalogtest.BranchOf(gittest.Bundle(t, c.bundle), "", map[string]catalog.ComponentSettings{c.name: c.settings})
		branches, specs = append(branches, b), append(specs, more...)
	}
	project := catalog.Project{Slug: "demo", Settings: catalog.ProjectSettings{Name: "Demo"}}
	must(t, w.DB.Configure(t.Context(), []catalog.Project{project}, specs, nil))
	for _, b := range branches {
		w.Branch = b
		w.Sync()
	}
	return w
}

// TestGoldenChecks compares the failing checks of every unit of real components,
// imported together, with the failing checks in Weblate 5.4.2.
func TestGoldenChecks(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it checks whole repositories")
	}
	oneAtATime(t)
	golden := gittest.Shared(t, "data", "golden", "units")
	t.Parallel()
	rows := checkRows(newGoldenWorld(t))
	checkReused(t, rows)
	for _, c := range goldenComponents() {
		if c.name == "gtranslator" {
			continue
		}
		t.Run(c.name, func(t *testing.T) { compareChecks(t, filepath.Join(golden, c.name+".tsv.gz"), c.name, rows) })
	}
}

// checkRow is a unit and its failing checks.
type checkRow struct {
	unit     checks.Unit
	failed   checks.Mask
	language string
	plural   lang.Plural
}

// checkRows are all units by component, file and id_hash.
func checkRows(w *catalogtest.Puller) map[string]checkRow {
	rows := make(map[string]checkRow)
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		rows[c.Slug+"\t"+tr.Filename+"\t"+strconv.FormatInt(u.Identity.Hash, 10)] = checkRow{checks.UnitOf(u, tr), u.Failing, tr.Language, lang.Plural{Number: tr.PluralNumber, Formula: tr.PluralFormula}}
	})
	return rows
}

// compareChecks compares our failing checks with the recorded ones of a component.
// Three differences are expected:
//   - same: the list of words that need no translation is our own, and was not
//     made from these records (docs/checks.md);
//   - reused: Weblate had marked only some of the strings with one translation for
//     several sources, the same pair in one language and not in another, against
//     its own rule. The marked ones must fail here as well; [checkReused] compares
//     the others with the rule;
//   - multiple_failures: it was recorded before Weblate had compared units with each
//     other, so inconsistent and reused do not count in it. By its own rule they do.
func compareChecks(t *testing.T, path, component string, got map[string]checkRow) {
	t.Helper()
	var own []goldenRow
	sameCheck, _ := checks.ByName("same")
	differing := checks.Mask{}.With(sameCheck).With(checks.Reused)
	recorded, failures := make(map[string]int), make(map[string]int) // of the translations, by id_hash; failures has our own same and reused
	for _, col := range recordedUnits(t, path) {
		r, found := got[component+"\t"+col[1]+"\t"+col[2]]
		if !found {
			t.Errorf("%s %s: no such unit", col[1], col[2])
			continue
		}
		row := goldenRow{name: col[0] + " " + col[2], hash: col[2], row: r, want: recordedChecks(t, col[6])}
		if own = append(own, row); !r.unit.IsSource {
			recorded[row.hash] += row.want.Without(checks.Inconsistent).Without(checks.Reused).Len()
			failures[row.hash] += row.want.AndNot(differing).Or(r.failed.And(differing)).Len()
		}
	}
	differ, same, missed, unchanged := 0, 0, 0, 0
	for _, g := range own {
		want, failed := g.want, g.row.failed
		if u := &g.row.unit; !u.IsSource && slices.ContainsFunc(u.Targets, func(t string) bool { return t != "" && slices.Contains(u.Sources, t) }) {
			unchanged++
		}
		if failed.Has(sameCheck) != want.Has(sameCheck) {
			if same++; want.Has(sameCheck) {
				missed++
			}
			want, failed = want.Without(sameCheck), failed.Without(sameCheck)
		}
		if failed.Has(checks.Reused) {
			want = want.With(checks.Reused)
		}
		if g.row.unit.IsSource {
			if want.Has(checks.MultipleFailures) != checks.HasMultipleFailures(recorded[g.hash]) {
				t.Errorf("%s: %d recorded failures and multiple_failures %v", g.name, recorded[g.hash], want.Has(checks.MultipleFailures))
			}
			if want = want.Without(checks.MultipleFailures); checks.HasMultipleFailures(failures[g.hash]) {
				want = want.With(checks.MultipleFailures)
			}
		}
		if failed != want {
			if differ++; differ <= 40 {
				t.Errorf("%s %q → %q (%s, source %v): missed %v, surplus %v", g.name, g.row.unit.Sources, g.row.unit.Targets, g.row.unit.Flags,
					g.row.unit.IsSource, checkNames(want.AndNot(failed)), checkNames(failed.AndNot(want)))
			}
		}
	}
	if len(own) < 100 {
		t.Errorf("only %d units compared", len(own))
	}
	t.Logf("same differs on %d of %d units, %d of them missed; %d have the source as their target", same, len(own), missed, unchanged)
	if same > unchanged/20 {
		t.Errorf("same differs on %d of %d units whose target is the source, %d of them missed", same, unchanged, missed)
	}
	if differ > 0 {
		t.Errorf("%d of %d units differ", differ, len(own))
	}
}

// goldenRow is a unit with its recorded checks.
type goldenRow struct {
	name, hash string
	row        checkRow
	want       checks.Mask
}

// checkReused compares reused with its rule, for all units of the project.
func checkReused(t *testing.T, rows map[string]checkRow) {
	t.Helper()
	sources := make(map[string]map[string]struct{})
	for _, r := range rows {
		if !r.unit.IsSource && r.unit.State.Translated() && r.plural.Number > 1 && strings.Join(r.unit.Targets, "") != "" {
			key := r.target()
			if sources[key] == nil {
				sources[key] = make(map[string]struct{})
			}
			sources[key][catalog.JoinForms(r.unit.Sources)] = struct{}{}
		}
	}
	failed := 0
	for key, r := range rows {
		want := !r.unit.IsSource && r.unit.State.Translated() && len(sources[r.target()]) > 1 && r.unit.State != catalog.StateReadOnly
		if got := r.failed.Has(checks.Reused); got != want {
			t.Errorf("%s %q: reused %v, the rule says %v", key, r.unit.Targets, got, want)
		} else if got {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no unit is reused")
	}
}

// target is the key that the units compared by reused have in common.
func (r *checkRow) target() string {
	return r.language + "\t" + r.plural.Formula + "\t" + catalog.JoinForms(r.unit.Targets)
}

// recordedChecks are the recorded checks of a unit.
func recordedChecks(t *testing.T, recorded string) checks.Mask {
	t.Helper()
	var m checks.Mask
	for name := range strings.SplitSeq(recorded, ",") {
		if id, ok := checks.ByName(name); ok {
			m = m.With(id)
		} else if name != "" {
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

// benchUnits is how many units one operation of BenchmarkChecks checks.
const benchUnits = 1_000_000

// BenchmarkChecks runs all checks on a million units: the units of the golden
// components, again and again, on as many goroutines as there are processors
// (-cpu 2). It splits their plural forms each time, as pulls do.
func BenchmarkChecks(b *testing.B) {
	gittest.Shared(b, "data", "repos")
	w := newGoldenWorld(b)
	var jobs []checkJob
	var last int64
	w.EachUnit(func(c *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if tr.ID != last {
			last = tr.ID
			jobs = append(jobs, checkJob{set: checks.ForTranslation(w.Languages, &catalog.Project{}, &c.Settings, tr, nil), translation: *tr})
		}
		job := &jobs[len(jobs)-1]
		job.units = append(job.units, *u)
	})
	b.ReportAllocs()
	failing := 0
	for b.Loop() {
		failing = checkAll(jobs)
	}
	b.ReportMetric(float64(b.Elapsed().Seconds())/float64(b.N), "s/million")
	if failing == 0 {
		b.Error("nothing fails")
	}
}

// checkJob is a translation to check.
type checkJob struct {
	set         *checks.Set
	translation catalog.Translation
	units       []catalog.Unit
}

// checkAll checks benchUnits units and returns how many of them fail.
func checkAll(jobs []checkJob) int {
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	failing := make([]int, workers)
	for k := range workers {
		group.Go(func() {
			for done, i := 0, k; done < benchUnits/workers; i++ {
				job := &jobs[i%len(jobs)]
				for j := range job.units {
					u := checks.UnitOf(&job.units[j], &job.translation)
					if !job.set.Run(&u).IsZero() {
						failing[k]++
					}
				}
				done += len(job.units)
			}
		})
	}
	group.Wait()
	return failing[0]
}
