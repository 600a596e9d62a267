package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/testrepos"
)

// po makes a small PO file of pairs of msgid and msgstr.
func po(pairs ...string) string {
	var b strings.Builder
	b.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n")
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "\nmsgid %q\nmsgstr %q\n", pairs[i], pairs[i+1])
	}
	return b.String()
}

// repoWith makes a repository with one commit of files.
func repoWith(t testing.TB, files map[string]string) *testrepos.Repo {
	t.Helper()
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Files: files})
	return repo
}

// servedFiles are the served translations of a component: language=file.
func servedFiles(w *catalogtest.Puller, component string) []string {
	var list []string
	w.Read(func(ctx context.Context, s *store.Snapshot) error {
		c, err := s.Component(ctx, "demo", component)
		if err != nil {
			return err
		}
		translations, err := s.Translations(ctx, c.ID)
		for _, t := range translations {
			list = append(list, t.Language+"="+t.Filename)
		}
		return err
	})
	return list
}

func TestSourceTranslationsAndVariants(t *testing.T) {
	pot := po("One", "", "Two", "")
	for name, c := range map[string]struct {
		files    map[string]string
		settings catalog.ComponentSettings
		want     []string
		problems []string
	}{
		"with a POT a file of the source language is reported": {
			files:    map[string]string{"po/app.pot": pot, "po/en.po": po("One", "One!"), "po/cs.po": po("One", "Jedna")},
			settings: catalog.ComponentSettings{NewBase: "po/app.pot"},
			want:     []string{"en=po/app.pot", "cs=po/cs.po"},
			problems: []string{"po/en.po: not served: the source translation is read from new_base po/app.pot; exclude this file by language_regex or remove new_base"},
		},
		"without a POT the file of the source language is the source": {
			files: map[string]string{"po/en.po": po("One", "One!"), "po/cs.po": po("One", "Jedna")},
			want:  []string{"en=po/en.po", "cs=po/cs.po"},
		},
		"without either the first file lends its name": {
			files: map[string]string{"po/de.po": po("One", "Eins"), "po/cs.po": po("One", "Jedna")},
			want:  []string{"en=po/cs.po", "cs=po/cs.po", "de=po/de.po"},
		},
		"a second file of a language has its own code": {
			files: map[string]string{"po/pt_BR.po": po("One", "Um"), "po/pt-br.po": po("One", "Um"), "po/ptbr.po": po("One", "Um")},
			want:  []string{"en=po/pt-br.po", "pt-br=po/pt-br.po", "pt_BR=po/pt_BR.po", "ptbr=po/ptbr.po"},
		},
		"a code twice is reported": {
			files:    map[string]string{"a/cs/x.po": po("One", "1"), "b/cs/x.po": po("One", "2")},
			settings: catalog.ComponentSettings{Filemask: "*/*/x.po"},
			want:     []string{"en=a/cs/x.po", "cs=a/cs/x.po"},
			problems: []string{"b/cs/x.po: not served: language cs is already read from a/cs/x.po; narrow the filemask"},
		},
		"the code source, other codes and templates are no languages": {
			files: map[string]string{"po/source.po": po("One", ""), "po/cs.po": po("One", "Jedna"), "po/cs.old.po": po("One", "Jedna")},
			want:  []string{"en=po/cs.po", "cs=po/cs.po"},
		},
		"one language": {
			files:    map[string]string{"manual/intro.po": po("One", "Uno")},
			settings: catalog.ComponentSettings{Filemask: "manual/intro.po", Language: "es"},
			want:     []string{"en=manual/intro.po", "es=manual/intro.po"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.settings.LanguageRegex = "^[^.]+$"
			w := catalogtest.NewPuller(t, repoWith(t, c.files).URL(), map[string]catalog.ComponentSettings{"app": c.settings})
			report := w.Sync()
			if diff := cmp.Diff(c.want, servedFiles(w, "app")); diff != "" {
				t.Errorf("translations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.problems, append([]string(nil), report.Components[0].Problems...)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnion holds the order and the positions of decision 11.
func TestUnion(t *testing.T) {
	repo := repoWith(t, map[string]string{
		"po/app.pot": po("One", "", "Two", ""),
		"po/cs.po":   po("Old", "Starý", "One", "Jedna"),
		"po/de.po":   po("Two", "Zwei", "Older", "Älter", "Old", "Alt"),
	})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot"}})
	w.Sync()
	want := []string{"1 One", "2 Two", "3 Old", "4 Older"}
	if diff := cmp.Diff(want, sourceStrings(w, "app")); diff != "" {
		t.Errorf("source units: %s", diff)
	}
	// The last file that has it drops it: the source translation does, too.
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/de.po": po("Two", "Zwei", "Old", "Alt")}})
	w.Sync()
	if diff := cmp.Diff(want[:3], sourceStrings(w, "app")); diff != "" {
		t.Errorf("source units after a removal: %s", diff)
	}
	// Without the POT all comes from the files.
	repo.Commit(t, testrepos.Change{Delete: []string{"po/app.pot"}})
	w.Sync()
	if diff := cmp.Diff([]string{"1 Old", "2 One", "3 Two"}, byPosition(sourceStrings(w, "app"))); diff != "" {
		t.Errorf("source units without the POT: %s", diff)
	}
	if diff := cmp.Diff([]string{"en=po/cs.po", "cs=po/cs.po", "de=po/de.po"}, servedFiles(w, "app")); diff != "" {
		t.Errorf("translations without the POT: %s", diff)
	}
}

// sourceStrings are position and source of the source units, in id order.
func sourceStrings(w *catalogtest.Puller, component string) []string {
	var list []string
	w.EachUnit(func(c *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		if c.Slug == component && t.IsSource {
			list = append(list, fmt.Sprintf("%d %s", u.Position, u.Source))
		}
	})
	return list
}

func byPosition(list []string) []string {
	sorted := append([]string(nil), list...)
	for i := range sorted {
		for j := i; j > 0 && sorted[j] < sorted[j-1]; j-- {
			sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
		}
	}
	return sorted
}

// TestBrokenFilesKeepTheirState: a POT and a language file break and are
// repaired; meanwhile the last good state is served (DESIGN, invariant 7).
func TestBrokenFilesKeepTheirState(t *testing.T) {
	repo := repoWith(t, map[string]string{
		"po/app.pot": po("One", "", "Two", ""),
		"po/cs.po":   po("One", "Jedna", "Two", "Dvě"),
	})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot"}})
	w.Sync()
	before := w.ServedUnits()
	repo.Commit(t, testrepos.Change{Files: map[string]string{
		"po/app.pot": "<<<<<<< HEAD\n" + po("One", ""),
		"po/cs.po":   po("One", "Jedna") + "msgid \"Two\nmsgstr \"\"\n",
		"po/de.po":   "garbage",
	}})
	report := w.Sync()
	if n := len(report.Components[0].Problems); n != 3 {
		t.Errorf("%d problems, want 3: %q", n, report.Components[0].Problems)
	}
	if diff := cmp.Diff(before, w.ServedUnits()); diff != "" {
		t.Errorf("broken files changed what is served:\n%s", diff)
	}
	// Another file changes meanwhile: the last good POT still is the source.
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/de.po": po("Three", "Drei")}})
	w.Sync()
	if diff := cmp.Diff([]string{"1 One", "2 Two", "3 Three"}, sourceStrings(w, "app")); diff != "" {
		t.Errorf("source units: %s", diff)
	}
	repo.Commit(t, testrepos.Change{Files: map[string]string{
		"po/app.pot": po("One", "", "Two", ""),
		"po/cs.po":   po("One", "Jedna", "Two", "Dva"),
	}})
	if problems := w.Sync().Components[0].Problems; len(problems) != 0 {
		t.Errorf("problems stay: %q", problems)
	}
}

// TestSettingsChange: another filemask is read against what is stored: units
// of the same language keep their ids.
func TestSettingsChange(t *testing.T) {
	repo := repoWith(t, map[string]string{
		"po/cs.po":     po("One", "Jedna"),
		"locale/cs.po": po("One", "Jeden"),
		"locale/de.po": po("One", "Eins"),
	})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	before := make(map[int64]string)
	w.Targets(before)
	_, last := w.ChangesAfter(0)
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"app": {Filemask: "locale/*.po"}})
	w.Sync()
	after := make(map[int64]string)
	w.Targets(after)
	for id, target := range before {
		if _, ok := after[id]; !ok {
			t.Errorf("unit %d (%s) has another id", id, target)
		}
	}
	if diff := cmp.Diff([]string{"en=locale/cs.po", "cs=locale/cs.po", "de=locale/de.po"}, servedFiles(w, "app")); diff != "" {
		t.Errorf("translations: %s", diff)
	}
	text, _ := w.ChangesAfter(last)
	for _, want := range []string{`59 app/cs`, `"Jedna" -> 20 "Jeden"`, "48 app", "31 app/de"} {
		if !strings.Contains(text, want) {
			t.Errorf("entries lack %q:\n%s", want, text)
		}
	}
	// The flag read-only changes states without any commit.
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"app": {Filemask: "locale/*.po", CheckFlags: "read-only"}})
	w.Sync()
	w.EachUnit(func(_ *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		if u.State != catalog.StateReadOnly {
			t.Errorf("%s: %q has state %d", tr.Language, u.Source, u.State)
		}
	})
}

// TestSourceLanguageStays: another source language would make every unit
// another one.
func TestSourceLanguageStays(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	before := w.ServedUnits()
	w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"app": {SourceLanguage: "de"}})
	_, err := w.Syncer.Sync(t.Context(), w.Branch)
	if !errors.Is(err, catalog.ErrInvalid) || !strings.Contains(err.Error(), "component demo/app: source_language cannot change from en to de") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(before, w.ServedUnits()); diff != "" {
		t.Errorf("units changed: %s", diff)
	}
}

// TestDiscovery holds the rules of {component}.
func TestDiscovery(t *testing.T) {
	repo := repoWith(t, map[string]string{
		"locale/cs/LC_MESSAGES/intro.po":      po("One", "Jedna"),
		"locale/cs/LC_MESSAGES/a b.po":        po("One", "Jedna"),
		"locale/cs/LC_MESSAGES/a+b.po":        po("One", "Jedna"),
		"locale/cs/LC_MESSAGES/deep/topic.po": po("One", "Jedna"),
		"locale/de/LC_MESSAGES/intro.po":      po("One", "Eins"),
	})
	settings := map[string]catalog.ComponentSettings{"docs-{component}": {Name: "Docs: {component}", Filemask: "locale/*/LC_MESSAGES/{component}.po"}}
	w := catalogtest.NewPuller(t, repo.URL(), settings)
	w.Sync()
	want := []string{"docs-a-b|Docs: a b", "docs-a-b-2|Docs: a+b", "docs-deep-topic|Docs: deep/topic", "docs-intro|Docs: intro"}
	if diff := cmp.Diff(want, componentNames(w)); diff != "" {
		t.Errorf("components: %s", diff)
	}
	w.Read(func(ctx context.Context, s *store.Snapshot) error {
		c, err := s.Component(ctx, "demo", "docs-a-b")
		made := catalog.Discovery{Slug: "docs-{component}", Name: "Docs: {component}", Filemask: "locale/*/LC_MESSAGES/{component}.po"}
		if c.Settings.Discovery != made {
			t.Errorf("made by %+v", c.Settings.Discovery)
		}
		return err
	})
	repo.Commit(t, testrepos.Change{Files: map[string]string{"locale/cs/LC_MESSAGES/a*b.po": po("One", "1"), "locale/cs/LC_MESSAGES/a!b.po": po("One", "1")}, Delete: []string{"locale/cs/LC_MESSAGES/deep"}})
	report := w.Sync()
	want = append(want, "docs-a-b-3|Docs: a!b")
	if diff := cmp.Diff(want, componentNames(w)); diff != "" {
		t.Errorf("components after a pull: %s", diff)
	}
	vanished := ""
	for _, c := range report.Components {
		if c.Slug == "docs-deep-topic" {
			vanished = strings.Join(c.Problems, "\n")
		}
	}
	if !strings.Contains(vanished, "matches no file") {
		t.Errorf("a vanished component is not reported: %q", vanished)
	}
	if again := w.Sync(); again.Steps != 0 {
		t.Errorf("a pull of nothing made %d steps", again.Steps)
	}
}

// TestShownCommit: what people are shown of the head follows it, along every
// road on which it moves.
func TestShownCommit(t *testing.T) {
	for _, history := range []catalog.History{{}, {Full: true}} {
		w, repo := app(t, catalog.ComponentSettings{History: history}, map[string]string{"po/cs.po": po("One", "Jedna")})
		want := func(path, text, message string) {
			t.Helper()
			repo.Commit(t, testrepos.Change{Message: message, Files: map[string]string{path: text}})
			w.Sync()
			w.Read(func(ctx context.Context, s *store.Snapshot) error {
				c, err := s.Component(ctx, "demo", "app")
				if err != nil {
					return err
				}
				got, err := s.HeadCommit(ctx, c.ID)
				switch {
				case got == nil:
					t.Errorf("%s: nothing is known of the head", path)
				case got.Hash != c.Head || got.Summary() != strings.SplitN(message, "\n", 2)[0] || got.Author == "" || got.CommitTime.IsZero() || strings.Contains(got.Message, "@"):
					t.Errorf("%s: %+v at %s", path, got, c.Head)
				}
				return err
			})
		}
		want("po/cs.po", po("One", "Jeden"), "A translation\n\nCo-authored-by: Jane <jane@example.org>")
		want("README", "read me", "No file of ours")
	}
}

func componentNames(w *catalogtest.Puller) []string {
	var list []string
	w.Read(func(ctx context.Context, s *store.Snapshot) error {
		components, err := s.Components(ctx, "demo")
		for _, c := range components {
			list = append(list, c.Slug+"|"+c.Settings.Name)
		}
		return err
	})
	return list
}

// TestSpellOfFailure: a repository that cannot be reached makes one entry 22,
// however often it is tried; what was served stays.
func TestSpellOfFailure(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	before := w.ServedUnits()
	_, last := w.ChangesAfter(0)
	away := repo.Path() + ".away"
	for spell := range 2 {
		if err := os.Rename(repo.Path(), away); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := w.Syncer.Sync(t.Context(), w.Branch); !errors.Is(err, remote.ErrUnreachable) {
				t.Fatalf("error %v, want ErrUnreachable", err)
			}
		}
		text, now := w.ChangesAfter(last)
		if n := strings.Count(text, "\n"); n != 1 || !strings.HasPrefix(text, "22 app") {
			t.Errorf("spell %d: %d entries, want one 22:\n%s", spell, n, text)
		}
		last = now
		if err := os.Rename(away, repo.Path()); err != nil {
			t.Fatal(err)
		}
		w.Sync()
	}
	if diff := cmp.Diff(before, w.ServedUnits()); diff != "" {
		t.Errorf("units changed: %s", diff)
	}
	if strings.Contains(w.Dump(), `problem "pull`) {
		t.Error("the problem stays after recovery")
	}
}

// TestLostMirror: the mirror is a cache. Without it, and with a head that the
// remote does not have any more, one step leads on and ids stay.
func TestLostMirror(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna", "Two", "Dvě")})
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	before := make(map[int64]string)
	w.Targets(before)
	_, last := w.ChangesAfter(0)
	if err := os.RemoveAll(repo.Path()); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(w.Dir, "mirrors")); err != nil {
		t.Fatal(err)
	}
	other := repoWith(t, map[string]string{"po/cs.po": po("One", "Jeden", "Two", "Dvě")})
	if err := os.Rename(other.Path(), repo.Path()); err != nil {
		t.Fatal(err)
	}
	w.DB.Close()
	w.Open() // as after a restart
	report := w.Sync()
	if report.Steps != 1 {
		t.Errorf("%d steps, want 1", report.Steps)
	}
	after := make(map[int64]string)
	w.Targets(after)
	if len(after) != len(before) {
		t.Errorf("%d units, want %d", len(after), len(before))
	}
	for id := range before {
		if _, ok := after[id]; !ok {
			t.Errorf("unit %d lost its id", id)
		}
	}
	text, _ := w.ChangesAfter(last)
	if n := strings.Count(text, "\n"); n != 1 || !strings.Contains(text, `59 app/cs`) {
		t.Errorf("entries:\n%s", text)
	}
}

// TestErrorsNameTheRemedy: what a maintainer does wrong is said in one line
// that names the component or the repository.
func TestErrorsNameTheRemedy(t *testing.T) {
	empty := testrepos.Empty(t)
	full := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	for name, c := range map[string]struct {
		repo, branch string
		settings     catalog.ComponentSettings
		want         error
		say          string
	}{
		"no repository":     {repo: "/nonexistent/x.git", want: remote.ErrUnreachable, say: "/nonexistent/x.git"},
		"no branch":         {repo: full.Path(), branch: "nope", want: remote.ErrBranchMissing, say: "nope"},
		"empty repository":  {repo: empty.Path(), want: remote.ErrEmptyRepository, say: empty.Path()},
		"secret in address": {repo: "https://user:hunter2@127.0.0.1:1/x.git", want: remote.ErrUnreachable, say: "127.0.0.1:1/x.git"},
		"bad mask":          {repo: full.Path(), settings: catalog.ComponentSettings{Filemask: "po/../*.po"}, want: filemask.ErrInvalid, say: "demo/app"},
		"bad regex":         {repo: full.Path(), settings: catalog.ComponentSettings{LanguageRegex: "("}, say: "demo/app"},
	} {
		t.Run(name, func(t *testing.T) {
			w := catalogtest.NewPuller(t, full.Path(), map[string]catalog.ComponentSettings{"app": {}})
			w.Configure(c.repo, c.branch, map[string]catalog.ComponentSettings{"app": c.settings})
			_, err := w.Syncer.Sync(t.Context(), w.Branch)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			text := err.Error()
			if !strings.Contains(text, c.say) || strings.Contains(text, "hunter2") || strings.Contains(text, "\n") {
				t.Errorf("message: %s", text)
			}
			if strings.Contains(w.Dump(), "hunter2") {
				t.Error("the password is in the store")
			}
		})
	}
}
