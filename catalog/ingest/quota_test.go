package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// reopened is a puller with other options.
func reopened(w *catalogtest.Puller, change func(o *ingest.Options)) {
	w.Change = change
	w.Reopen(func(*store.Options) {})
}

// problemOf is the stored problem of a component.
func problemOf(w *catalogtest.Puller, slug string) (problem string) {
	w.TB.Helper()
	w.Read(func(ctx context.Context, s *store.Snapshot) error {
		c, err := s.Component(ctx, "demo", slug)
		problem = c.Problem.Words
		return err
	})
	return problem
}

// TestQuotas: a repository over each quota keeps its last good state, its component
// has a problem that names the key, a neighbour of the same branch goes on, and all is
// well again once the quota is raised.
func TestQuotas(t *testing.T) {
	many := map[string]string{}
	var texts []string
	for i := range 40 {
		many[fmt.Sprintf("big/l%02d.po", i)] = po("One", "Jedna")
		texts = append(texts, fmt.Sprint("Text ", i), strings.Repeat("x", 1000))
	}
	for name, tt := range map[string]struct {
		quotas ingest.Quotas
		files  map[string]string
		want   string
	}{
		"files":  {ingest.Quotas{Files: 30}, many, "it has 41 files; quotas.files allows 30: narrow the filemask, or raise it"},
		"units":  {ingest.Quotas{Units: 60}, map[string]string{"big/cs.po": po(texts...)}, "it has 80 strings; quotas.units allows 60: narrow"},
		"growth": {ingest.Quotas{Growth: 50 << 10}, map[string]string{"big/cs.po": po(texts...)}, "quotas.growth allows: exclude files"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, history := range []catalog.History{{}, {Full: true}} {
				repo := repoWith(t, map[string]string{"big/cs.po": po("One", "Jedna"), "small/cs.po": po("One", "Jedna")})
				components := map[string]catalog.ComponentSettings{"big": {Filemask: "big/*.po", History: history}, "small": {Filemask: "small/*.po", History: history}}
				w := catalogtest.NewPuller(t, repo.URL(), components)
				reopened(w, func(o *ingest.Options) { o.Quotas = tt.quotas })
				w.Sync()
				before := w.Targets()
				repo.Commit(t, testrepos.Change{Files: tt.files})
				syncFails(w, tt.want)
				repo.Commit(t, testrepos.Change{Files: map[string]string{"small/cs.po": po("One", "Jeden")}})
				syncFails(w, tt.want)
				if got := problemOf(w, "big"); !strings.Contains(got, tt.want) || problemOf(w, "small") != "" {
					t.Errorf("problems %q, %q", got, problemOf(w, "small"))
				}
				changed := 0
				for id, text := range w.Targets() {
					if before[id] != text {
						changed++
					}
				}
				if n := len(w.Targets()); n != len(before) || changed != 1 {
					t.Errorf("%d units, %d before; %d changed, want the neighbour's", n, len(before), changed)
				}
				reopened(w, nil)
				w.Sync()
				if problemOf(w, "big") != "" || len(w.Targets()) <= len(before) {
					t.Errorf("with room: %d units, problem %q", len(w.Targets()), problemOf(w, "big"))
				}
			}
		})
	}
}

// TestQuotaOfThePast: a component whose files are within their quota again is brought to the
// head, although a commit on the way is not.
func TestQuotaOfThePast(t *testing.T) {
	var texts []string
	for i := range 40 {
		texts = append(texts, fmt.Sprint("Text ", i), "x")
	}
	for _, history := range []catalog.History{{}, {Full: true}} {
		repo := repoWith(t, map[string]string{"big/cs.po": po("One", "Jedna"), "small/cs.po": po("One", "Jedna")})
		w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"big": {Filemask: "big/*.po", History: history}, "small": {Filemask: "small/*.po", History: history}})
		reopened(w, func(o *ingest.Options) { o.Quotas.Units = 60 })
		w.Sync()
		for _, text := range []string{po("One", "Jeden"), po("One", "Jednou")} {
			repo.Commit(t, testrepos.Change{Files: map[string]string{"big/cs.po": po(texts...)}})
			syncFails(w, "quotas.units allows 60")
			repo.Commit(t, testrepos.Change{Files: map[string]string{"big/cs.po": text}})
			w.Sync()
		}
		if got := fmt.Sprint(w.Targets()); !strings.Contains(got, "Jednou") || problemOf(w, "big") != "" {
			t.Errorf("%v: corrected: %s, problem %q", history, got, problemOf(w, "big"))
		}
	}
}

// TestComponentQuota: a discovery that finds too much makes nothing new; what it made
// before stays and says why.
func TestComponentQuota(t *testing.T) {
	repo := repoWith(t, map[string]string{"l/cs/a.po": po("One", "Jedna"), "l/cs/b.po": po("One", "Jedna")})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"docs-{component}": {Filemask: "l/*/{component}.po"}, "other": {Filemask: "other/*.po"}})
	reopened(w, func(o *ingest.Options) { o.Quotas.Components = 3 })
	w.Sync()
	names := componentNames(w)
	repo.Commit(t, testrepos.Change{Files: map[string]string{"l/cs/c.po": po("One", "1"), "l/cs/d.po": po("One", "1"), "l/cs/a.po": po("One", "Jeden"), "other/cs.po": po("One", "1")}})
	const want = "it finds more than 3 components, which quotas.components allows"
	syncFails(w, want)
	equal(t, names, componentNames(w), "components")
	if got := problemOf(w, "docs-a"); !strings.Contains(got, want) || problemOf(w, "other") != "" {
		t.Errorf("problems %q, %q", got, problemOf(w, "other"))
	}
	if servedFiles(w, "other") == nil || !strings.Contains(fmt.Sprint(w.Targets()), "Jedna") {
		t.Error("the neighbour is not pulled, or the last state is not served")
	}
	reopened(w, nil)
	w.Sync()
	if len(componentNames(w)) != len(names)+2 || problemOf(w, "docs-a") != "" {
		t.Errorf("with room: %v, %q", componentNames(w), problemOf(w, "docs-a"))
	}
	repo = repoWith(t, map[string]string{"l/cs/a.po": po("One", "1"), "l/cs/b.po": po("One", "1"), "l/cs/c.po": po("One", "1")})
	fresh := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"docs-{component}": {Filemask: "l/*/{component}.po"}})
	reopened(fresh, func(o *ingest.Options) { o.Quotas.Components = 2 })
	syncFails(fresh, "it finds more than 2 components")
}

// TestMirrorQuota: a mirror does not grow above its quota, and what is served stays.
func TestMirrorQuota(t *testing.T) {
	for _, transport := range []string{"builtin", "binary"} {
		repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
		w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
		reopened(w, func(o *ingest.Options) { o.Git.Remote.Transport, o.Git.Remote.MaxMirror = transport, 64<<10 })
		w.Sync()
		before := w.Targets()
		var noise strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&noise, "%d\n", i*i*7919)
		}
		repo.Commit(t, testrepos.Change{Files: map[string]string{"noise": noise.String(), "po/cs.po": po("One", "Jeden")}})
		const want = "its mirror would have more than 0 MiB, which quotas.mirror allows (use a smaller repository, or raise the limit)"
		for range 3 {
			syncFails(w, want)
		}
		if problemOf(w, "app") == "" {
			t.Error("no problem is stored")
		}
		equal(t, before, w.Targets(), "what is served")
		if n := bytesBelow(t, w.Mirrors()); n > 96<<10 {
			t.Errorf("%s: the mirror has %d bytes", transport, n)
		}
		reopened(w, func(o *ingest.Options) { o.Git.Remote.Transport = transport })
		w.Sync()
		if problemOf(w, "app") != "" {
			t.Error("the problem stays")
		}
	}
}

func bytesBelow(t *testing.T, dir string) (sum int64) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Ext(d.Name()) != ".idx" {
			info, ierr := d.Info()
			must(t, ierr)
			sum += info.Size()
		}
		return err
	}))
	return sum
}

// TestNoRoom: while the disk is too full nothing is pulled and nothing written but the
// problem; pulls go on by themselves.
func TestNoRoom(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	asked, fullFrom := 0, 1<<30
	reopened(w, func(o *ingest.Options) {
		o.Room = func() error {
			if asked++; asked > fullFrom {
				return errors.New("less than 1 GiB are free")
			}
			return nil
		}
	})
	w.Sync()
	before, all := w.Targets(), asked
	_, last := w.ChangesAfter(0)
	order := []int{1, 0} // before the transfer, at the beginning, before a step
	for from := range all - 1 {
		order = append(order, from+2)
	}
	for _, from := range order {
		repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", fmt.Sprint("Jedna ", from))}})
		if asked, fullFrom = 0, from; from == all {
			break
		}
		syncFails(w, "less than 1 GiB are free")
		if !strings.Contains(problemOf(w, "app"), "less than 1 GiB are free") {
			t.Errorf("full from %d on: problem %q", from, problemOf(w, "app"))
		}
		equal(t, before, w.Targets(), "what is served, full from %d on", from)
	}
	if text, _ := w.ChangesAfter(last); text != "" {
		t.Errorf("entries while the disk is full:\n%s", text)
	}
	fullFrom = 1 << 30
	w.Sync()
	if problemOf(w, "app") != "" || fmt.Sprint(before) == fmt.Sprint(w.Targets()) {
		t.Errorf("with room: problem %q", problemOf(w, "app"))
	}
}

// TestErrorsStayShort: the error of a branch does not grow with its components, nor a
// stored problem with the names in it.
func TestErrorsStayShort(t *testing.T) {
	components := map[string]catalog.ComponentSettings{}
	files := map[string]string{}
	for i := range 40 {
		slug := fmt.Sprint("c", i)
		components[slug] = catalog.ComponentSettings{Filemask: slug + "/*.po"}
		files[slug+"/cs.po"], files[slug+"/de.po"] = po("One", "1"), po("One", "1")
	}
	w := catalogtest.NewPuller(t, repoWith(t, files).URL(), components)
	reopened(w, func(o *ingest.Options) { o.Quotas.Files = 1 })
	_, err := w.Syncer.Sync(t.Context(), w.Branch)
	if err == nil || len(err.Error()) > 3000 || !strings.Contains(err.Error(), "and 30 more components") {
		t.Errorf("%d bytes: %v", len(fmt.Sprint(err)), err)
	}
	if problemOf(w, "c39") == "" {
		t.Error("a component has no problem")
	}
}
