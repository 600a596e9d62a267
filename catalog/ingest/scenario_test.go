package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/testrepos"
)

// TestScenarios pulls every push of a scenario and compares units and entries
// with what a person wrote down as right.
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
			w := newWorld(t, repo.URL(), settings)
			var b strings.Builder
			var last int64
			for n := 0; ; n++ {
				report := w.sync()
				var text string
				text, last = w.changesAfter(last)
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
			b.WriteString(w.dump())
			golden(t, name, b.String())
		})
	}
}
