package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/testrepos"
)

// TestWLCLines: every command of wlc on README.md and in the FAQ works as it is there, also
// once the server has a token.
func TestWLCLines(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("wlc"); err != nil {
		t.Skip("skipped: wlc is not installed (apt-get install wlc)")
	}
	repo := testrepos.Empty(t)
	const header = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": header + "msgid \"One\"\nmsgstr \"Jedna\"\n"}})
	reader := newReader(t)
	must(t, os.WriteFile(filepath.Join(reader.root, "repoglot.yaml"), []byte("projects: [{slug: demo, components: [{slug: app, repo: "+repo.Path()+", filemask: po/*.po}]}]\n"), 0o600))
	reader.serve(t, []string{"--config", "repoglot.yaml"}, "…")
	reader.run(t, "repoglot token create --config repoglot.yaml jana")
	for _, page := range []string{"../../README.md", "../../docs/faq.md"} {
		text, err := os.ReadFile(page)
		must(t, err)
		lines := regexp.MustCompile("(?m)(?:^|`)(wlc --url [^`\n]*)").FindAllStringSubmatch(string(text), -1)
		if len(lines) == 0 {
			t.Errorf("%s has no command of wlc", page)
		}
		for _, line := range lines {
			if got := reader.run(t, line[1]); !strings.Contains(got, "filename: po/cs.po") {
				t.Errorf("%s: %s prints\n%s", page, line[1], got)
			}
		}
	}
}
