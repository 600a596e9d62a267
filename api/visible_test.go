package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
)

// TestPrivate: no request without a token shows anything private.
func TestPrivate(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := serve(w, Options{})
	hidden, lib := w.IDs["demo/hidden"], w.IDs["secret/lib"]
	firstUnit := func(component int64) string { return wire.FormatID(component*catalog.UnitsPerComponent + 1) }
	gone := []string{
		"/api/components/demo/hidden/", "/api/components/demo/hidden/translations/", "/api/components/demo/hidden/changes/",
		"/api/translations/demo/hidden/en/", "/api/translations/demo/hidden/en/units/", "/api/translations/demo/hidden/en/changes/",
		"/api/components/secret/lib/", "/api/translations/secret/lib/en/", "/api/translations/secret/lib/en/units/",
		"/api/units/" + firstUnit(hidden) + "/", "/api/units/" + firstUnit(lib) + "/",
		"/api/tasks/" + resource.TaskID("demo", "hidden") + "/",
	}
	for _, below := range []string{"statistics/", "repository/", "lock/", "links/", "screenshots/", "new_template/", "statistics/history/"} {
		gone = append(gone, "/api/components/demo/hidden/"+below)
	}
	gone = append(gone, "/api/translations/demo/hidden/en/statistics/", "/api/translations/demo/hidden/en/repository/",
		"/api/units/"+firstUnit(hidden)+"/translations/", "/api/addons/"+wire.FormatID(hidden)+"/")
	gone = append(gone, "/api/users/mallory/", "/api/users/mallory/statistics/", "/api/users/mallory/notifications/")
	all := idsOf(getList(t, s, "/api/changes/?page_size=1000"))
	for id := 1; id <= 105; id++ {
		if !slices.Contains(all, id) {
			gone = append(gone, "/api/changes/"+wire.FormatID(int64(id))+"/")
		}
	}
	if len(gone) != 12+11+4+3+3 { // entries 51 and 31 of hidden's three and lib's two units
		t.Fatalf("%d paths to check", len(gone))
	}
	for _, path := range gone {
		wantAnswer(t, s, 404, `{"detail":"Not found."}`, path)
	}
	for _, path := range []string{
		"/api/projects/", "/api/projects/demo/components/", "/api/projects/secret/components/", "/api/components/", "/api/translations/",
		"/api/changes/", "/api/changes/?ordering=-id", "/api/projects/demo/changes/", "/api/projects/secret/changes/", "/api/languages/",
		"/api/users/", "/api/users/?username=m", "/api/units/", "/api/addons/", "/api/search/?q=i", "/api/search/?q=l", "/api/search/?q=mall", "/api/projects/demo/languages/",
	} {
		body := get(t, s, with(path, "page_size=1000"))
		for _, secret := range []string{"hidden", "/secret/lib", "mallory", "Mallory"} {
			if strings.Contains(body, secret) {
				t.Errorf("%s contains %s", path, secret)
			}
		}
	}
	for path, total := range map[string]float64{ // hidden has three units of en, lib two
		"/api/projects/demo/statistics/": 91, "/api/projects/secret/statistics/": 0, "/api/languages/en/statistics/": 45,
	} {
		if st := decode[map[string]any](t, get(t, s, path)); st["total"] != total {
			t.Errorf("%s: total %v, want %v", path, st["total"], total)
		}
	}
	metrics := decode[map[string]any](t, call(t, s, http.MethodGet, "/api/metrics/", "Authorization", "Token k").Body.String())
	for name, want := range map[string]float64{"units": 91, "units_translated": 88, "users": 2, "changes": float64(len(all)), "projects": 2, "components": 4, "translations": 4, "languages": 4, "configuration_errors": 0} {
		if metrics[name] != want {
			t.Errorf("metrics: %s is %v, want %v", name, metrics[name], want)
		}
	}
	for path, want := range map[string]int{
		"/api/components/secret/open/": 200, "/api/projects/secret/": 200, // its own access wins
		"/api/translations/secret/open/en/": 503,
	} {
		wantStatus(t, s, want, path)
	}
}

// TestPrivateProject: without a public component it is not found.
func TestPrivateProject(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	p := catalog.Project{Slug: "secret", Settings: projectDefaults("Secret")}
	p.Settings.Access = catalog.AccessPrivate
	w.Configure([]catalog.Project{p}, []store.ComponentSpec{
		{Project: "secret", Slug: "lib", Settings: componentDefaults(""), Repo: repoSecret, Branch: "main"},
	})
	s := serve(w, Options{})
	for _, path := range []string{"/api/projects/secret/", "/api/projects/secret/components/", "/api/projects/secret/changes/"} {
		wantStatus(t, s, 404, path)
	}
	if l := getList(t, s, "/api/projects/"); l.Count != 0 {
		t.Errorf("%d projects", l.Count)
	}
}

// TestInactive: what the configuration no longer names is not found; the store
// keeps its history.
func TestInactive(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := serve(w, Options{})
	unit := "/api/units/268435457/"
	get(t, s, unit)
	w.Configure([]catalog.Project{{Slug: "demo", Settings: projectDefaults("Demo")}}, []store.ComponentSpec{
		{Project: "demo", Slug: "docs", Settings: componentDefaults(""), Repo: repoDocs, Branch: "main"},
	})
	for _, path := range []string{unit, "/api/changes/1/", "/api/components/demo/app/", "/api/translations/demo/app/cs/", "/api/projects/secret/"} {
		wantStatus(t, s, 404, path)
	}
	if l := getList(t, s, "/api/changes/"); l.Count != 0 || len(l.Results) != 0 {
		t.Errorf("%d entries of components that are gone", l.Count)
	}
}

// TestImporting: until the first import is done, the resources below a
// component answer 503, and the component itself answers
// (docs/compatibility.md#first-import).
func TestImporting(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	docs := w.IDs["demo/docs"]
	var percent int
	var running bool
	s := serve(w, Options{Progress: func(c *store.ComponentRow) (int, bool) { return percent, running && c.ID == docs }})
	below := []string{
		"/api/translations/demo/docs/cs/", "/api/translations/demo/docs/cs/units/", "/api/translations/demo/docs/nope/changes/",
		"/api/components/demo/docs/translations/", "/api/components/demo/docs/changes/", "/api/components/demo/docs/statistics/",
		"/api/translations/demo/docs/cs/statistics/", "/api/translations/demo/docs/cs/repository/", "/api/components/demo/docs/new_template/",
	}
	check := func(detail string) {
		t.Helper()
		for _, path := range below {
			rec := call(t, s, http.MethodGet, path)
			if rec.Code != 503 || rec.Header().Get("Retry-After") != "5" || oldForm(rec.Body.String()) != `{"detail":"`+detail+`"}` {
				t.Errorf("%s: %d %v %s", path, rec.Code, rec.Header(), rec.Body)
			}
		}
	}
	check("This component has not been imported yet.")
	if _, err := w.DB.SetPullProblem(t.Context(), []int64{docs}, catalog.Failure{
		Kind: catalog.FailureUnreachable, Words: "fetch https://jane:hunter2@example.org/docs.git: connection refused", Since: time.Unix(1_700_000_000, 0),
	}); err != nil {
		t.Fatal(err)
	}
	check("This component has not been imported yet; the last pull failed: unreachable since 2023-11-14T22:13:20Z")
	repository := decode[map[string]any](t, get(t, s, "/api/components/demo/docs/repository/"))
	if repository["merge_failure"] != "unreachable since 2023-11-14T22:13:20Z" || repository["needs_merge"] != true || repository["remote_commit"] != nil {
		t.Errorf("repository of a component that cannot be pulled: %v", repository)
	}
	percent, running = 42, true
	check("The first import of this component is running: 42 % done, importing.")
	percent = 7
	component := decode[map[string]any](t, get(t, s, "/api/components/demo/docs/"))
	task, _ := component["task_url"].(string)
	if !strings.HasPrefix(task, "http://l10n.example.org/api/tasks/") {
		t.Fatalf("task_url %q", task)
	}
	taskPath := strings.TrimPrefix(task, "http://l10n.example.org")
	if got := get(t, s, taskPath); got != `{"completed":false,"progress":7,"result":null,"log":"importing"}` {
		t.Error(got)
	}
	w.Import("demo/docs", repoDocs, "", sourceFile(nil))
	if got := get(t, s, taskPath); got != `{"completed":true,"progress":100,"result":null,"log":""}` {
		t.Error(got)
	}
	if component := decode[map[string]any](t, get(t, s, "/api/components/demo/docs/")); component["task_url"] != nil {
		t.Errorf("task_url %v after the import", component["task_url"])
	}
	get(t, s, "/api/translations/demo/docs/en/units/")
}

// TestRemovedUnit: not in the list, readable by id, marked
// (docs/compatibility.md#ids).
func TestRemovedUnit(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	body := get(t, s, "/api/units/268435546/")
	if !strings.HasSuffix(body, `"timestamp":"2026-03-04T04:06:07Z","language_code":"cs","removed":true}`) || !strings.Contains(body, `"target":["Zpráva 36"]`) {
		t.Error(body)
	}
	for _, r := range getList(t, s, "/api/translations/demo/app/cs/units/?page_size=100").Results {
		if r["id"] == float64(268435546) {
			t.Error("the removed unit is listed")
		}
		if _, ok := r["removed"]; ok {
			t.Errorf("unit %v says removed", r["id"])
		}
	}
	// The unit of a translation whose file is gone stays readable too.
	for _, c := range getList(t, s, "/api/components/demo/app/changes/?page_size=1000").Results {
		if unit, ok := c["unit"].(string); ok {
			get(t, s, strings.TrimPrefix(unit, "http://l10n.example.org"))
		}
	}
}

// TestCheckpoint: a replay that stores its results in parts moves the head and has
// translations and units before its end; they are served only after it.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	docs := w.IDs["demo/docs"]
	commit := func(from, to string, partial bool, f *poFile) {
		t.Helper()
		info := store.StepInfo{Repo: repoDocs, Branch: "main", Components: []int64{docs}, From: from, To: to, Tracking: "main", At: catalogtest.Now(), Partial: partial}
		if _, err := w.DB.Step(t.Context(), info, func(ctx context.Context, tx *store.StepTx) error {
			if f == nil {
				return nil
			}
			return importFile(ctx, tx, docs, f, map[catalog.Identity]int64{}, "Jane")
		}); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(w, Options{CacheBytes: 1 << 20})
	source := sourceFile(numberedUnits(2))
	commit("", head1, true, &source)
	unit := "/api/units/" + wire.FormatID(docs*catalog.UnitsPerComponent+1) + "/"
	paths := []string{
		"/api/translations/demo/docs/en/", "/api/translations/demo/docs/en/units/", "/api/translations/demo/docs/en/changes/", "/api/translations/demo/docs/en/file/",
		"/api/translations/demo/docs/en/file/?format=csv", "/api/translations/demo/docs/en/statistics/", "/api/translations/demo/docs/en/checks/",
		"/api/components/demo/docs/translations/", "/api/components/demo/docs/changes/", "/api/components/demo/docs/file/",
		unit, unit + "checks/", unit + "comments/", unit + "suggestions/", unit + "translations/",
		"/exports/rss/demo/docs/en/", "/widget/demo/docs/en/svg-badge.svg", "/exports/stats/demo/docs/",
	}
	total := getList(t, s, "/api/units/").Count
	for _, path := range paths {
		if rec := call(t, s, http.MethodGet, path); rec.Code != 503 || rec.Header().Get("Retry-After") == "" {
			t.Errorf("%s in the middle of a replay: %d %.100s", path, rec.Code, rec.Body)
		}
	}
	get(t, s, "/api/components/demo/docs/")
	commit(head1, head2, false, nil)
	for _, path := range paths {
		wantStatus(t, s, 200, path)
	}
	if now := getList(t, s, "/api/units/").Count; now != total+2 {
		t.Errorf("%d units, then %d", total, now)
	}
}
