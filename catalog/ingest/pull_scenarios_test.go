package ingest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestScenarios pulls every push of a scenario and compares units and entries
// with a golden file that a person checked.
func TestScenarios(t *testing.T) {
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
				if repo.Rest() == 0 {
					break
				}
				repo.Advance(t)
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
