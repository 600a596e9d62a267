package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// hostileChild names the variable that is set in the process that pulls.
const hostileChild = "INGEST_TEST_HOSTILE"

// maxHostileMemory bounds the memory of a process that pulls every hostile repository,
// in KiB. A file of up to max_file_size (16 MiB there) is in memory with its strings.
const maxHostileMemory = 700 << 10

// TestHostileRepositories: every kind of hostile repository is pulled with small quotas,
// with a healthy one beside. Errors are short and name the quota or the remedy, what can
// be served is, nothing of other users' files appears anywhere, the healthy repository
// goes on, and the memory of the process stays bounded.
func TestHostileRepositories(t *testing.T) {
	if testing.Short() {
		t.Skip("pulls some ninety repositories")
	}
	if os.Getenv(hostileChild) != "" {
		pullHostile(t)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostileRepositories$", "-test.v")
	cmd.Env = append(os.Environ(), hostileChild+"=1", "GOMEMLIMIT=300MiB")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if runtime.GOOS != "linux" || underRace {
		return
	}
	used, _ := strconv.Atoi(string(regexp.MustCompile(`VmHWM:\s*(\d+)`).FindSubmatch(out)[1]))
	t.Logf("%d MiB", used>>10)
	if used == 0 || used > maxHostileMemory {
		t.Errorf("%d KiB of memory, want up to %d", used, maxHostileMemory)
	}
}

// remedies are the words with which errors say what to do.
var remedies = []string{"narrow", "raise", "run git fsck", "correct", "repair", "exclude", "use the", "set branch", "push", "create"}

func pullHostile(t *testing.T) {
	dir := t.TempDir()
	w := catalogtest.PullerAt(t, dir)
	w.MaxFileSize = 16 << 20
	w.Change = func(o *ingest.Options) {
		o.Quotas = ingest.Quotas{Components: 1000, Files: 1000, Units: 55_000, Growth: 12 << 20}
		o.Git.Remote.Transport, o.Git.Remote.MaxMirror = "builtin", 256<<20
		o.Git.Remote.Trust.PrivateDir = dir
	}
	w.Open()
	healthy := testrepos.Empty(t)
	healthy.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": catalogtest.PO("One", "Jedna")}})
	h := &hostileWorld{t: t, w: w}
	h.add("healthy", healthy.Path(), "app", "po/*.po")
	for _, kind := range hostiles() {
		path, err := kind.Create(t.TempDir(), filepath.Join(dir, "outside"))
		must(t, err)
		h.add("h-"+kind.Name, path, kind.Slug, kind.Filemask)
	}
	var projects []catalog.Project
	for _, b := range h.branches {
		projects = append(projects, catalog.Project{Slug: b.Components[0].Spec.Project, Settings: catalog.ProjectSettings{Name: "X"}})
	}
	must(t, w.DB.Configure(t.Context(), projects, h.specs, h.templates))
	_, err := w.Syncer.Sync(t.Context(), h.branches[0])
	must(t, err)
	for i, kind := range hostiles() {
		report, err := w.Syncer.Sync(t.Context(), h.branches[i+1])
		said := fmt.Sprint(err)
		if (err == nil) != (kind.Fails == "") || !strings.Contains(said, kind.Fails) {
			t.Errorf("%s: %.600s, want %q", kind.Name, said, kind.Fails)
		}
		for _, c := range report.Components {
			said += strings.Join(c.Problems, "\n")
			t.Logf("%s: %s: %d changes, problems %.200q", kind.Name, c.Slug, c.Changes, c.Problems)
		}
		if err != nil {
			t.Logf("%s: %.300v", kind.Name, err)
			if len(err.Error()) > 2500 || !containsAny(err.Error(), remedies) {
				t.Errorf("%s: %d bytes without a remedy: %.300s", kind.Name, len(err.Error()), err)
			}
		}
		if strings.Contains(said, hostileCanary) {
			t.Errorf("%s: an error shows another user's file", kind.Name)
		}
		healthy.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": catalogtest.PO("One", "Jedna "+kind.Name)}})
		if report, err := w.Syncer.Sync(t.Context(), h.branches[0]); err != nil || report.Changes != 1 {
			t.Errorf("the healthy repository after %s: %+v, %v", kind.Name, report, err)
		}
	}
	w.Read(func(ctx context.Context, s *store.Snapshot) error {
		rows, err := s.Components(ctx, "")
		must(t, err)
		all := map[int64]*store.ComponentRow{}
		for _, row := range rows {
			if all[row.ID] = row; strings.Contains(row.Problem.Words, hostileCanary) || len(row.Problem.Words) > 1100 {
				t.Errorf("%s: problem %.1200s", row.Project.Slug, row.Problem.Words)
			}
		}
		found, err := s.Search(ctx, store.SearchQuery{Components: all, Expr: query.Text{Match: query.Match{Pattern: hostileCanary}}})
		if err == nil && found.Count() > 0 {
			t.Error("the database has another user's file")
		}
		return err
	})
	status, _ := os.ReadFile("/proc/self/status")
	fmt.Printf("%s\n", regexp.MustCompile(`VmHWM:.*`).Find(status))
}

// hostileWorld collects branches, each with a project of its own.
type hostileWorld struct {
	t         *testing.T
	w         *catalogtest.Puller
	branches  []ingest.Branch
	specs     []store.ComponentSpec
	templates []store.TemplateKey
}

func (h *hostileWorld) add(project, path, slug, mask string) {
	settings := catalog.ComponentSettings{Filemask: mask, History: catalog.History{Full: true}}
	b, specs, templates := catalogtest.BranchOf(path, "", map[string]catalog.ComponentSettings{slug: settings})
	b.Components[0].Spec.Project = project
	for i := range specs {
		specs[i].Project = project
	}
	for i := range templates {
		templates[i].Project = project
	}
	h.branches = append(h.branches, b)
	h.specs, h.templates = append(h.specs, specs...), append(h.templates, templates...)
}

func containsAny(text string, list []string) bool {
	for _, s := range list {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}
