package main

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/testrepos"
)

// TestQuestions clicks through the answers to the questions of docs/tutorial.md: each
// page has a link to the next, or a form for it, and there are at most three.
func TestQuestions(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/tutorial.md")
	must(t, err)
	_, part, _ := strings.Cut(string(page), "\n## Ten questions\n")
	part, _, _ = strings.Cut(part, "\n## ")
	origin := serveDemo(t)
	questions := 0
	for _, row := range regexp.MustCompile(`(?m)^\| (.+\?) \| (.+) \|$`).FindAllStringSubmatch(part, -1) {
		questions++
		at, clicks := "/", 0
		text := look(t, origin+at)
		for _, next := range regexp.MustCompile("`(/[^`]*)`").FindAllStringSubmatch(row[2], -1) {
			if next[1] == "/" {
				continue
			}
			clicks++
			if !leads(text, next[1]) {
				t.Errorf("%s: %s has no link to %s, and no form for it", row[1], at, next[1])
			}
			at = next[1]
			text = look(t, origin+escapeQuery(at))
		}
		if clicks > 3 {
			t.Errorf("%s: %d clicks", row[1], clicks)
		}
	}
	if questions != 10 {
		t.Errorf("%d questions", questions)
	}
}

// leads reports whether a page has a link to an address, or a form whose fields are
// those of its query.
func leads(text, address string) bool {
	for _, link := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if target := html.UnescapeString(link[1]); target == address || target == escapeQuery(address) {
			return true
		}
	}
	path, query, _ := strings.Cut(address, "?")
	values, err := url.ParseQuery(query)
	if err != nil || query == "" {
		return false
	}
	for _, form := range regexp.MustCompile(`(?s)<form[^>]* action="([^"]*)".*?</form>`).FindAllStringSubmatch(text, -1) {
		fits := form[1] == path
		for name := range values {
			fits = fits && (strings.Contains(form[0], `name="`+name+`"`) || name == "lang")
		}
		if fits {
			return true
		}
	}
	return false
}

// escapeQuery escapes the values of an address that is written for people.
func escapeQuery(address string) string {
	path, query, ok := strings.Cut(address, "?")
	if !ok {
		return address
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return address
	}
	return path + "?" + values.Encode()
}

// look returns a page as a browser gets it.
func look(t *testing.T, address string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	must(t, err)
	req.Header.Set("Accept", "text/html")
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d\n%.500s", address, resp.StatusCode, body)
	}
	return string(body)
}

// serveDemo serves the repositories of the demo and returns the server's origin.
func serveDemo(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, scenario := range map[string]string{"app": "demo", "docs": "demo-docs", "glossary": "demo-glossary"} {
		_, err := testrepos.Create(filepath.Join(root, name+".git"), scenario)
		must(t, err)
	}
	must(t, os.WriteFile(filepath.Join(root, "repoglot.yaml"), []byte(`projects:
  - slug: demo
    components:
      - {slug: app, repo: app.git, filemask: po/*.po, new_base: po/paperboat.pot}
      - {slug: "docs-{component}", repo: docs.git, filemask: "locale/*/LC_MESSAGES/{component}.po"}
      - {slug: glossary, repo: glossary.git, filemask: glossary/*.po, is_glossary: true}
`), 0o600))
	exe, err := os.Executable()
	must(t, err)
	c := &child{cmd: exec.Command(exe, "serve", "--listen", "127.0.0.1:0", "--config", filepath.Join(root, "repoglot.yaml")), out: &output{}, err: &output{}, ended: make(chan error, 1)}
	c.cmd.Env, c.cmd.Stdout, c.cmd.Stderr = []string{childVar + "=1", "HOME=" + root, "PATH=" + os.Getenv("PATH")}, c.out, c.err
	must(t, c.cmd.Start())
	go func() { c.ended <- c.cmd.Wait() }()
	t.Cleanup(func() {
		must(t, c.cmd.Process.Signal(os.Interrupt))
		if err := <-c.ended; err != nil {
			t.Errorf("repoglot serve: %v\n%s", err, c.err)
		}
	})
	origin := ""
	if !until(func() bool {
		if match := servesOn.FindStringSubmatch(c.out.String()); match != nil {
			origin = match[1]
		}
		return origin != "" && get(fmt.Sprint(http.StatusOK), origin+"/readyz", "", nil) == ""
	}) {
		t.Fatalf("repoglot serve: %s%s", c.out, c.err)
	}
	return origin
}
