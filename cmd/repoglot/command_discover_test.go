package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/cmd/repoglot/server"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/testrepos"
)

var updateGolden = flag.Bool("update", false, "write what is printed into testdata/discover")

// repoOf makes a repository of the paths of a case. A line "path code" is a file
// whose header names a language.
func repoOf(t *testing.T, list string) string {
	t.Helper()
	files := map[string]string{}
	for line := range strings.Lines(list) {
		p, code, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[p] = fmt.Sprintf("msgid \"\"\nmsgstr \"\"\n\"Language: %s\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"%s\"\nmsgstr \"\"\n", code, strings.TrimSuffix(filepath.Base(p), filepath.Ext(p)))
	}
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Files: files})
	return repo.Path()
}

// discovered runs discover and returns what it prints.
func discovered(t *testing.T, repo string) string {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"discover", repo}, strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Fatalf("exit status %d: %s", code, &stderr)
	}
	if stderr.Len() > 0 {
		t.Errorf("stderr: %s", &stderr)
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("%s is still there", left[0].Name())
	}
	return stdout.String()
}

// TestDiscoverLayouts compares the configuration printed for each layout in
// testdata/discover, and the files that are served with it.
func TestDiscoverLayouts(t *testing.T) {
	cases, err := filepath.Glob("testdata/discover/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			must(t, err)
			part := map[string]string{}
			for _, f := range archive.Files {
				part[f.Name] = string(f.Data)
			}
			repo := repoOf(t, part["files"])
			text := discovered(t, repo)
			_, got, _ := strings.Cut(text, "    components:\n")
			got = strings.ReplaceAll(got, "        repo: "+repo+"\n", "")
			if *updateGolden {
				for i := range archive.Files {
					if archive.Files[i].Name == "components" {
						archive.Files[i].Data = []byte(got)
					}
				}
				must(t, os.WriteFile(path, txtar.Format(archive), 0o644))
				part["components"] = got
			}
			if diff := cmp.Diff(part["components"], got); diff != "" {
				t.Errorf("components (-want +got):\n%s", diff)
			}
			_, source, _ := strings.Cut(text, "which is read instead of ")
			source, _, _ = strings.Cut(source, "\n")
			want := []string{}
			for line := range strings.Lines(part["files"]) {
				p, _, _ := strings.Cut(strings.TrimSpace(line), " ")
				if strings.HasSuffix(p, ".po") && p != source && !strings.Contains(text, `#   "`+p+`"`) {
					want = append(want, p)
				}
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, servedWith(t, text)); diff != "" {
				t.Errorf("served files (-want +got):\n%s", diff)
			}
		})
	}
}

// servedWith pulls with a configuration and lists the files of translations.
func servedWith(t *testing.T, text string) []string {
	t.Helper()
	c, err := config.Parse(filepath.Join(t.TempDir(), "r.yaml"), []byte(text), nil)
	if err != nil {
		t.Fatalf("the configuration does not load: %v\n%s", err, text)
	}
	if len(c.Warnings()) > 0 {
		t.Errorf("warnings: %q", c.Warnings())
	}
	e, err := server.Open(t.Context(), c, server.Options{Work: server.WorkServe, Logger: slog.New(slog.DiscardHandler), Line: func(string, string) {}})
	must(t, err)
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	plan := server.NewPlan(c)
	must(t, e.Configure(t.Context(), plan))
	for i := range plan.Branches() {
		report, err := e.Pull(t.Context(), &plan.Branches()[i])
		must(t, err)
		for _, c := range report.Components {
			if len(c.Problems) > 0 && !strings.Contains(text, "which is read instead of") && !strings.Contains(text, " of them have\n") {
				t.Errorf("%s: %q", c.Slug, c.Problems)
			}
		}
	}
	served := []string{}
	db, err := store.Open(t.Context(), c.DatabaseAddress(), store.Options{Shared: true})
	must(t, err)
	defer db.Close()
	err = db.Read(t.Context(), func(ctx context.Context, snap *store.Snapshot) error {
		components, err := snap.Components(ctx, "")
		for i := range components {
			translations, err := snap.Translations(ctx, components[i].ID)
			if err != nil {
				return err
			}
			for _, tr := range translations {
				if !tr.IsSource || strings.HasSuffix(tr.Filename, "en.po") {
					served = append(served, tr.Filename)
				}
			}
		}
		return err
	})
	must(t, err)
	slices.Sort(served)
	return served
}

// TestDiscoverRealRepositories: for real repositories the configuration loads, every
// file belongs to one component or is named as left out, and no file in the table
// of msgfmt's counts is missing.
func TestDiscoverRealRepositories(t *testing.T) {
	shared := filepath.Join("..", "..", "..", "shared", "data", "repos")
	bundles, err := filepath.Glob(filepath.Join(shared, "*.bundle"))
	if err != nil || len(bundles) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("../shared/data/repos is not here")
		}
		t.Skip("skipped: the bundles of real repositories are not in the repository; looked for ../shared/data/repos")
	}
	for _, bundle := range bundles {
		name := strings.TrimSuffix(filepath.Base(bundle), ".bundle")
		t.Run(name, func(t *testing.T) {
			repo := filepath.Join(t.TempDir(), name+".git")
			if out, err := exec.Command("git", "clone", "-q", "--bare", bundle, repo).CombinedOutput(); err != nil {
				t.Skipf("git cannot unpack the bundle: %v: %s", err, out)
			}
			text := discovered(t, repo)
			c, err := config.Parse("r.yaml", []byte(text), nil)
			if err != nil {
				t.Fatalf("the configuration does not load: %v\n%s", err, text)
			}
			out, err := exec.Command("git", "-C", repo, "ls-tree", "-r", "HEAD").Output()
			must(t, err)
			times := map[string]int{}
			all := 0
			for line := range strings.Lines(string(out)) {
				meta, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
				if !strings.HasSuffix(path, ".po") || !strings.HasPrefix(meta, "100") {
					continue
				}
				all++
				for i := range c.Projects[0].Components {
					if selects(t, &c.Projects[0].Components[i], path) {
						times[path]++
					}
				}
			}
			for path, n := range times {
				if n > 1 {
					t.Errorf("%s belongs to %d components", path, n)
				}
			}
			left := 0
			if _, after, ok := strings.Cut(text, "another charset: "); ok {
				if _, err := fmt.Sscan(after, &left); err != nil {
					t.Error(err)
				}
			}
			if len(times)+left != all {
				t.Errorf("%d files are served and %d named as left out, of %d", len(times), left, all)
			}
			if left > all/2 && name != "polib" { // its files are samples for tests
				t.Errorf("most files are left out:\n%s", text)
			}
		})
	}
}

// selects reports whether a file belongs to a component.
func selects(t *testing.T, c *config.Component, path string) bool {
	t.Helper()
	mask, err := filemask.Parse(c.Filemask)
	must(t, err)
	regex, err := filemask.CompileLanguageRegex(c.LanguageRegex)
	must(t, err)
	_, ok := mask.Select(path, filemask.Rules{LanguageRegex: regex, Language: c.Language})
	return ok
}

// TestYAMLWords: YAML reads any name as it was written, and none controls a terminal.
func TestYAMLWords(t *testing.T) {
	t.Parallel()
	if got := yamlWord("a\x1b[31mb"); got != `"a\u001b[31mb"` {
		t.Errorf("an escape is printed as %q", got)
	}
	for _, s := range []string{
		"app", "no", "Null", "1.5", "*.po", "po/*.po", "{component}", "a: b", "a #b", "# a", "-a", "'", `"`, `\`, "ä/日", "a\u2028b", "<&>", "~",
		"0x1", ".inf", "git@host:path", "https://h/p.git", "https://h/p: x", "C:", "@a", "%a", "a ", " a", "", "!x", "&a", "true/x", "a*b*c", "1e5", "=", "<<",
	} {
		text := "projects:\n  - slug: x\n    name: " + yamlWord(s) + "\n"
		c, err := config.Parse("r.yaml", []byte(text), nil)
		if err != nil {
			t.Errorf("%q: %v", s, err)
			continue
		}
		if want := s; c.Projects[0].Name != want && (s != "" || c.Projects[0].Name != "x") {
			t.Errorf("%s is read as %q", text, c.Projects[0].Name)
		}
	}
}

// TestFirstHour: what stops a new user says what to do, with an example, and once.
func TestFirstHour(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "r.yaml"), []byte("data_dir: data\ndatabase: postgres://u:p@127.0.0.1:1/x\nprojects: []\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for _, tt := range []struct{ args, want, once string }{
		{"discover " + repoOf(t, "po/app.pot"), `such as with filemask: "po/*.po" and new_base: po/app.pot (https://`, "po/app.pot"},
		{"discover " + repoOf(t, "README"), `such as with filemask: "po/*.po" (https://`, "filemask:"},
		{"serve --config " + filepath.Join(dir, "r.yaml"), "check that the server runs", "dial error"},
		{"serve --data-dir " + filepath.Join(dir, "file", "data") + " " + repoOf(t, "po/cs.po"), "change data_dir (--data-dir)", "data_dir"},
	} {
		var stderr bytes.Buffer
		if code := run(t.Context(), strings.Fields(tt.args), strings.NewReader(""), io.Discard, &stderr); code != 1 || !strings.Contains(stderr.String(), tt.want) || strings.Count(stderr.String(), tt.once) != 1 {
			t.Errorf("%s: %d %s", tt.args, code, &stderr)
		}
	}
}
