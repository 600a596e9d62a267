package api

import (
	"bytes"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestWLC lets Weblate's own command-line client (Debian package wlc) read the
// demo world over HTTP: its contract with us, as it ships.
func TestWLC(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	wlc(t, w.serve(Options{}), []wlcCase{
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
// of every entry that has one, also in a world where a file is gone.
func TestWLCChanges(t *testing.T) {
	t.Parallel()
	w := openWorld(t)
	w.bigWorld(3)
	gone := demoWorld(t)
	wlc(t, gone.serve(Options{}), []wlcCase{
		{[]string{"changes", "demo/app"}, 0, []string{`"action_name": "Removed translation"`, `"target": "\u00d6ffnen"`}},
		{[]string{"changes", "demo"}, 0, []string{`"action_name": "Removed translation"`, `"target": "\u00d6ffnen"`}},
	})
	wlc(t, w.serve(Options{}), []wlcCase{
		{[]string{"changes", "big/big/cs"}, 0, []string{`"action_name": "New string added"`, `va 3"`}},
		{[]string{"changes", "big/big"}, 0, []string{`"action_name": "Created component"`, `va 3"`}},
		{[]string{"changes", "big"}, 0, []string{`"action_name": "Created component"`, `va 3"`}},
	})
}

// wlcCase is a call of wlc: its exit status, and parts of what it prints.
type wlcCase struct {
	args   []string
	status int
	want   []string
}

// wlc runs the cases against a server.
func wlc(t *testing.T, s *Server, cases []wlcCase) {
	t.Helper()
	if _, err := exec.LookPath("wlc"); err != nil {
		t.Skip("skipped: wlc is not installed (apt-get install wlc)")
	}
	ts := httptest.NewServer(s)
	t.Cleanup(ts.Close)
	home := t.TempDir()
	for _, tc := range cases {
		args := append([]string{"--url", ts.URL + "/api/", "--key", "k", "--format", "json"}, tc.args...)
		cmd := exec.CommandContext(t.Context(), "wlc", args...)
		cmd.Dir = home // it reads .weblate* upwards
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != tc.status {
			t.Errorf("wlc %v: %v\n%s", tc.args, err, out.String())
		}
		for _, want := range tc.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("wlc %v: no %s in\n%.2000s", tc.args, want, out.String())
			}
		}
	}
}
