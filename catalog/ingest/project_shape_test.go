package ingest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/poparse/gettexttest"
)

// projectSettings are the components of a generated project.
func projectSettings(components int) map[string]catalog.ComponentSettings {
	all := map[string]catalog.ComponentSettings{}
	for n := range components {
		slug := fmt.Sprintf("app-%03d", n)
		all[slug] = catalog.ComponentSettings{
			Filemask: slug + "/*.po", NewBase: slug + "/messages.pot", LanguageRegex: ".*", AllowTranslationPropagation: true,
		}
	}
	return all
}

// shapedProject has two groups of components with strings of their own, strings that
// all have, and the commits that change them.
func shapedProject() Project {
	return Project{Components: 12, Languages: 5, Strings: 30, Shared: 50, Templates: 60, Edits: 60, Seed: 5}
}

// TestProjectEveryWay: components of one repository that share strings have the same
// units, failing checks, statistics and strings counted once whether they are
// imported, whatever is compared together, replayed, or pulled in any pieces; and the entries of a replay are those
// of pulls.
func TestProjectEveryWay(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it replays a project in many ways")
	}
	p := shapedProject()
	repo := p.Generate(t)
	settings := projectSettings(p.Components)
	imported := synced(t, repo.URL(), settings)
	want := servedProject(imported)
	compareMsgfmt(t, imported, repo)
	for _, check := range []string{"inconsistent", "c_format", "end_stop", "end_space"} {
		if !bytes.Contains([]byte(want), []byte(check)) {
			t.Errorf("%s never fails: the test compares nothing", check)
		}
	}
	for _, bounds := range [][2]int{{1, 1}, {900, 50}, {1 << 20, 200}, {1 << 20, 1 << 20}} {
		w := catalogtest.NewPuller(t, repo.URL(), settings)
		w.Syncer.SetCompared(int64(bounds[0]), bounds[1])
		w.Syncer.SetPartSize(4 * bounds[1]) // with 50 and 200 files have several parts
		w.Sync()
		equal(t, want, servedProject(w), "(-import +import with bounds %v)", bounds)
	}
	replayed := synced(t, repo.URL(), withHistory(settings))
	equal(t, want, servedProject(replayed), "(-import +replay)")
	entriesLeadToUnits(replayed, map[int64]string{})
	ledger := changesByComponent(replayed)
	rounds := 2
	if testing.Short() {
		rounds = 1
	}
	for seed := range rounds {
		t.Run(fmt.Sprintf("pieces=%d", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(seed), 3))
			pullInPieces(t, random, repo, settings, want)
			pulled := pullInPieces(t, random, repo, withHistory(settings), want)
			equal(t, ledger, changesByComponent(pulled), "entries (-replay +pulls)")
		})
	}
}

// pullInPieces imports an early commit and pulls towards the head, some commits at a
// time. Once on the way it compares with an import.
func pullInPieces(t *testing.T, random *rand.Rand, repo *ProjectRepo, settings map[string]catalog.ComponentSettings, want string) *catalogtest.Puller {
	t.Helper()
	at, last := 1+random.IntN(30), len(repo.Commits)
	check := at + random.IntN(last-at)
	must(t, repo.Rewind(at))
	w := synced(t, repo.URL(), settings)
	for at < last {
		before := at
		at = min(last, at+1+random.IntN(40))
		must(t, repo.Rewind(at))
		w.Syncer.SetBatch(1 + random.IntN(2000))
		w.Sync()
		if before <= check && check < at && at < last {
			equal(t, servedProject(synced(t, repo.URL(), projectSettings(len(settings)))), servedProject(w), "at %d (-import +pulls)", at)
		}
	}
	equal(t, want, servedProject(w), "at the head (-import +pulls)")
	return w
}

// servedProject renders what does not depend on the way: units, with their failing
// checks and the sums of their translations, and the project's statistics. It verifies
// the sums.
func servedProject(w *catalogtest.Puller) string {
	w.TB.Helper()
	units := servedUnits(w)
	statistics := projectStatistics(w)
	for _, key := range []string{"last_change", "recent_changes"} { // of entries, which an import has not
		delete(statistics, key)
	}
	text, err := json.MarshalIndent(statistics, "", " ")
	must(w.TB, err)
	return units + "\n" + string(text)
}

// projectStatistics asks the API.
func projectStatistics(w *catalogtest.Puller) (statistics map[string]any) {
	w.TB.Helper()
	handler := api.New(api.Options{DB: w.DB, Languages: w.Languages, Now: childTime})
	rec := httptest.NewRecorder()
	handler.ServeHTTP(rec, httptest.NewRequestWithContext(w.TB.Context(), http.MethodGet, "/api/projects/demo/statistics/", nil))
	if rec.Code != http.StatusOK {
		w.TB.Fatalf("statistics: %d %s", rec.Code, rec.Body)
	}
	must(w.TB, json.Unmarshal(rec.Body.Bytes(), &statistics))
	return statistics
}

// compareMsgfmt compares the counts of every file with msgfmt's.
func compareMsgfmt(t *testing.T, w *catalogtest.Puller, repo *ProjectRepo) {
	t.Helper()
	if _, err := exec.LookPath("msgfmt"); err != nil {
		t.Log("msgfmt is not there: counts are not compared")
		return
	}
	for path, got := range fileCounts(w) {
		c, complaint := gettexttest.Msgfmt(t, repo.File(t, "main", path))
		if want := fmt.Sprintf("%d/%d/%d", c.Translated, c.Fuzzy, c.Untranslated); got != want {
			t.Errorf("%s: %s (translated/fuzzy/untranslated), msgfmt counts %s %s", path, got, want, complaint)
		}
	}
}
