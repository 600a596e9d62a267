package api

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestWLC lets Weblate's own command-line client (Debian package wlc) read the
// demo over HTTP, as it is packaged.
func TestWLC(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	wlc(t, serve(w, Options{}), []wlcCase{
		{[]string{"list-projects"}, 0, []string{`"slug": "demo"`, `"slug": "secret"`}},
		{[]string{"ls", "demo/app"}, 0, []string{`"language_code": "cs"`, `"language_code": "sr@latin"`, `"translated_percent": 93.1`}},
		{[]string{"show", "demo/app/cs"}, 0, []string{`"filename": "po/cs.po"`, `"last_author": "Karel"`, `"fuzzy_percent": 2.2`}},
		{[]string{"show", "268435503"}, 0, []string{`"%d banan`, `"state": 20`}},
		{[]string{"changes", "demo/app/cs"}, 0, []string{`"action_name": "Removed string"`, `"action_name": "String updated in the repository"`}},
		{[]string{"show", "demo/hidden"}, 1, []string{"Error: Object not found"}},
		{[]string{"show", "demo/docs/cs"}, 1, []string{"Error: "}},
	})
}

// TestWLCChanges reads change lists of all scopes; wlc asks for the translation
// of every entry that has one, also where a file is gone.
func TestWLCChanges(t *testing.T) {
	t.Parallel()
	w := bigWorld(t, 3)
	gone := demoWorld(t)
	wlc(t, serve(gone, Options{}), []wlcCase{
		{[]string{"changes", "demo/app"}, 0, []string{`"action_name": "Removed translation"`, `"target": "\u00d6ffnen"`}},
		{[]string{"changes", "demo"}, 0, []string{`"action_name": "Removed translation"`, `"target": "\u00d6ffnen"`}},
	})
	wlc(t, serve(w, Options{}), []wlcCase{
		{[]string{"changes", "big/big/cs"}, 0, []string{`"action_name": "New string added"`, `va 3"`}},
		{[]string{"changes", "big/big"}, 0, []string{`"action_name": "Created component"`, `va 3"`}},
		{[]string{"changes", "big"}, 0, []string{`"action_name": "Created component"`, `va 3"`}},
	})
}

// TestWLCReads runs every reading command in a format that wlc prints, at night in all; a
// missing field is a traceback there.
func TestWLCReads(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it starts a program for each request")
	}
	t.Parallel()
	w := bigWorld(t, 3)
	s := serve(w, Options{})
	var cases []wlcCase
	for i, tc := range []struct {
		args string
		want map[string]string // by format
	}{
		{"list-projects", map[string]string{"json": `"slug": "big"`, "csv": ",big,", "text": "slug: big\n"}},
		{"list-components", map[string]string{"json": `"filemask": "po/*.po"`, "csv": "po/*.po", "text": "filemask: po/*.po\n"}},
		{"list-components big", map[string]string{"json": `"filemask": "po/*.po"`, "csv": "po/*.po", "text": "filemask: po/*.po\n"}},
		{"list-translations", map[string]string{"json": `"translated_percent": 100.0`, "csv": "po/cs.po", "text": "translated_percent: 100.0\n"}},
		{"list-translations big/big", map[string]string{"json": `"filename": "po/cs.po"`, "csv": "po/cs.po", "text": "filename: po/cs.po\n"}},
		{"list-languages", map[string]string{"json": `"code": "cs"`, "csv": "cs,ltr,Czech", "text": "name: Czech\n"}},
		{"ls", map[string]string{"json": `"slug": "big"`, "csv": ",big,", "text": "slug: big\n"}},
		{"ls big", map[string]string{"json": `"slug": "big"`, "csv": ",big,", "text": "slug: big\n"}},
		{"ls big/big", map[string]string{"json": `"language_code": "cs"`, "csv": "po/cs.po", "text": "language_code: cs\n"}},
		{"show big", map[string]string{"json": `"name": "Big"`, "csv": "name,Big", "text": "name: Big\n"}},
		{"show big/big", map[string]string{"json": `"vcs": "git"`, "csv": "vcs,git", "text": "vcs: git\n"}},
		{"show big/big/cs", map[string]string{"json": `"last_author": "Jane"`, "csv": "last_author,Jane", "text": "last_author: Jane\n"}},
		{"show 268435460", map[string]string{"json": `"source": [`, "csv": "position,1", "text": "target: ['Zpráva 1']\n"}},
		{"changes big", map[string]string{"json": `"action_name": "Created component"`, "csv": "Created component", "text": "action_name: Created component\n"}},
		{"changes big/big", map[string]string{"json": `"action_name": "Created component"`, "csv": "New string added", "text": "target: Zpráva 3\n"}},
		{"changes big/big/cs", map[string]string{"json": `"action_name": "New string added"`, "csv": "New string added", "text": "action_name: New string added\n"}},
		{"repo big", map[string]string{"json": `"needs_push": false`, "csv": "needs_push,False", "text": "needs_push: False\n"}},
		{"repo big/big", map[string]string{"json": `"summary": "Translate"`, "csv": "needs_merge,False", "text": "nothing to commit, working tree clean"}},
		{"repo big/big/cs", map[string]string{"json": `"merge_failure": null`, "csv": "needs_commit,False", "text": "merge_failure: \n"}},
		{"stats big", map[string]string{"json": `"recent_changes": 6`, "csv": "recent_changes,6", "text": "recent_changes: 6\n"}},
		{"stats big/big", map[string]string{"json": `"last_author": "Jane"`, "csv": "Jane", "text": "last_author: Jane\n"}},
		{"stats big/big/cs", map[string]string{"json": `"recent_changes": 3`, "csv": "recent_changes,3", "text": "recent_changes: 3\n"}},
		{"lock-status big/big", map[string]string{"json": `"locked": false`, "csv": "locked,False", "text": "locked: False\n"}},
	} {
		for format, want := range tc.want {
			if !testsize.Nightly() && format != []string{"json", "csv", "text"}[i%3] {
				continue // a process of Python for each
			}
			cases = append(cases, wlcCase{append([]string{"--format", format}, strings.Fields(tc.args)...), 0, []string{want}})
		}
		if strings.HasSuffix(tc.args, "big/big") { // wlc makes HTML from the text
			cases = append(cases, wlcCase{append([]string{"--format", "html"}, strings.Fields(tc.args)...), 0, []string{"<table>", "</table>"}})
		}
	}
	cases = append(cases,
		wlcCase{[]string{"show", "nope"}, 1, []string{"Error: "}},
		wlcCase{[]string{"commit", "big/big"}, 1, []string{"Error: "}},
		wlcCase{[]string{"pull", "big/big"}, 1, []string{"Error: "}},
		wlcCase{[]string{"lock", "big/big"}, 1, []string{"Error: "}},
	)
	wlc(t, s, cases)
}

// TestWLCDownload: the bytes of the file, and of an export, on standard output.
func TestWLCDownload(t *testing.T) {
	t.Parallel()
	wlc(t, serve(demoWorld(t), Options{}), []wlcCase{
		{[]string{"download", "demo/app/cs"}, 0, []string{"# po/cs.po\n"}},
		{[]string{"download", "--convert", "po", "demo/app/cs"}, 0, []string{"msgctxt \"menu\"\nmsgid \"Open\""}},
		{[]string{"download", "--convert", "nope", "demo/app/cs"}, 1, []string{"Error: "}},
		{[]string{"download", "demo/hidden/en"}, 1, []string{"Error: "}},
	})
}

// TestWLCDownloads writes files as wlc does: a translation's own bytes, an export
// of it, archives of a component and of each of a project's.
func TestWLCDownloads(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it starts a program for each request")
	}
	t.Parallel()
	w := bigWorld(t, 3)
	dir := wlc(t, serve(w, Options{}), []wlcCase{
		{[]string{"download", "big/big/cs", "--output", "cs.po"}, 0, nil},
		{[]string{"download", "big/big/cs", "--convert", "csv", "-o", "cs.csv"}, 0, nil},
		{[]string{"download", "big/big/cs", "--convert", "xliff", "-o", "cs.xliff"}, 0, nil},
		{[]string{"download", "big/big/cs", "--convert", "mo", "-o", "cs.mo"}, 0, nil},
		{[]string{"download", "big/big", "--output", "component"}, 0, []string{"downloaded translations for component: big/big"}},
		{[]string{"download", "big/big", "--convert", "csv", "-o", "nothing"}, 1, []string{"Error: "}}, // an archive is not a CSV
		{[]string{"download", "big/big", "--convert", "zip:csv", "-o", "converted"}, 0, []string{"downloaded translations for component: big/big"}},
		{[]string{"download", "big", "--output", "project"}, 0, []string{"downloaded translations for component: big/big"}},
		{[]string{"download", "--output", "everything"}, 0, []string{"downloaded translations for component: big/big"}},
		{[]string{"download", "big/big"}, 1, []string{"Error: Output is needed for download!"}},
		{[]string{"download", "big/nope", "-o", "nope"}, 1, []string{"Error: "}},
	})
	if dir == "" {
		return
	}
	read := func(name string) []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		return data
	}
	for name, want := range map[string]string{
		"cs.po": "# po/cs.po\n", "cs.csv": "Zpráva 3", "cs.xliff": `>Zpráva 3</target>`, "cs.mo": "\xde\x12\x04\x95",
	} {
		if got := read(name); !strings.Contains(string(got), want) {
			t.Errorf("%s: no %q in %.300q", name, want, got)
		}
	}
	for name, files := range map[string]map[string]string{
		"component/big-big.zip":  {"po/cs.po": "# po/cs.po\n", "po/app.pot": "# po/app.pot\n"},
		"project/big-big.zip":    {"po/cs.po": "# po/cs.po\n"},
		"everything/big-big.zip": {"po/cs.po": "# po/cs.po\n"},
		"converted/big-big.zip":  {"csv": "Zpráva 3"},
	} {
		got := unzipped(t, read(name))
		for file, want := range files {
			found := false
			for have, text := range got {
				found = found || strings.HasSuffix(have, file) && strings.Contains(text, want)
			}
			if !found {
				t.Errorf("%s: no %s with %q in %v", name, file, want, got)
			}
		}
	}
}

// TestWLCLibrary reads all strings and entries of a translation with the library
// that wlc is made of.
func TestWLCLibrary(t *testing.T) {
	t.Parallel()
	const python, program = "/usr/bin/python3", `
import sys, wlc
t = wlc.Weblate("k", sys.argv[1]).get_translation("big/big/cs")
units, changes = list(t.units()), list(t.changes())
print(len(units), len(changes), units[44].target, changes[44].action_name, t.component.project.slug, t.language.code)`
	if err := exec.Command(python, "-c", "import wlc").Run(); err != nil {
		t.Skipf("skipped: %s has no wlc (apt-get install wlc): %v", python, err)
	}
	w := bigWorld(t, 45)
	base := listen(t, serve(w, Options{}))
	cmd := exec.CommandContext(t.Context(), python, "-c", program, base+"/api/")
	cmd.Env = append(os.Environ(), "PYTHONIOENCODING=utf-8")
	out, err := cmd.CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != "45 45 ['Zpráva 45'] New string added big cs" {
		t.Errorf("%v: %s", err, got)
	}
}

// wlcCase is a call of wlc: its exit status, and parts of what it prints.
type wlcCase struct {
	args   []string
	status int
	want   []string
}

// wlc runs the cases against a server, in a folder of their own, which it returns.
func wlc(t *testing.T, s *Server, cases []wlcCase) string {
	t.Helper()
	if _, err := exec.LookPath("wlc"); err != nil {
		t.Skip("skipped: wlc is not installed (apt-get install wlc)")
	}
	base := listen(t, s)
	home := t.TempDir()
	for _, tc := range cases {
		args := append([]string{"--url", base + "/api/", "--key", "k", "--format", "json"}, tc.args...)
		cmd := exec.CommandContext(t.Context(), "wlc", args...)
		cmd.Dir = home // it reads .weblate* upwards
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != tc.status {
			t.Errorf("wlc %v: %v\n%s", tc.args, err, out.String())
		}
		if strings.Contains(out.String(), "Traceback") {
			t.Errorf("wlc %v:\n%s", tc.args, out.String())
		}
		for _, want := range tc.want {
			if !strings.Contains(strings.ReplaceAll(out.String(), "\r\n", "\n"), want) {
				t.Errorf("wlc %v: no %s in\n%.2000s", tc.args, want, out.String())
			}
		}
	}
	return home
}
