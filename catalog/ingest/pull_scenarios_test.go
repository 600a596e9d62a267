package ingest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestScenarios pulls every push of a scenario and compares units and entries
// with a golden file that a person checked.
func TestScenarios(t *testing.T) {
	const (
		mallory = `Mallory "x" onerror='alert(1)' &amp; Co; -- <mallory@hostile.example>`
		head    = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
	)
	var huge strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&huge, "\n#: huge.c:%d\nmsgid \"String number %[1]d of a file that is large, but valid: %07[1]d\"\nmsgstr \"Řetězec číslo %[1]d\"\n", i+1)
	}
	bomb := "\nmsgid \"bomb\"\nmsgstr \"\"\n" + strings.Repeat("\""+strings.Repeat("a", 60)+"\"\n", 50000)
	large := []testrepos.Change{ // which the scenario has not
		{Author: mallory, When: time.Date(2024, 7, 7, 9, 0, 0, 0, time.UTC), Message: "A file of two megabytes", Files: map[string]string{"po/huge.po": head + huge.String()}},
		{Author: mallory, When: time.Date(2024, 7, 8, 9, 0, 0, 0, time.UTC), Message: "One string of many lines, which compresses well", Files: map[string]string{"po/bomb.po": head + bomb}},
	}
	for name, settings := range map[string]map[string]catalog.ComponentSettings{
		"lifecycle": {"kettle": {NewBase: "po/kettle.pot"}},
		"merges":    {"merges": {}},
		"forcepush": {"force": {}},
		"hostile":   {"hostile": {}},
	} {
		t.Run(name, func(t *testing.T) {
			if underRace && name == "hostile" {
				t.Skip("skipped under the race detector: large files, read one after the other")
			}
			t.Parallel()
			repo := testrepos.Load(t, name)
			pushes := repo.Rest()
			w := catalogtest.NewPuller(t, repo.URL(), settings)
			var b strings.Builder
			var last int64
			for n := 0; ; n++ {
				report := w.Sync()
				var text string
				text, last = w.ChangesAfter(last)
				fmt.Fprintf(&b, "== pull %d: %d steps\n%s", n, report.Steps, text)
				for _, c := range report.Components {
					for _, p := range c.Problems {
						fmt.Fprintf(&b, "problem: %s\n", p)
					}
				}
				if more := n - pushes; more < 0 {
					repo.Advance(t)
				} else if name == "hostile" && more < len(large) {
					repo.Commit(t, large[more])
				} else {
					break
				}
			}
			b.WriteString(dump(w))
			golden(t, name, b.String())
		})
	}
}

// golden compares text with a golden file.
func golden(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	must(t, err)
	equal(t, string(want), text, "%s differs (go test -update rewrites it)", path)
}
