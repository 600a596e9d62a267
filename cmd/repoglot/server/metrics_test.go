package server

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestMetricsAreServed: each metric that the code makes is registered. Those of clusters and
// their leases are only in their processes, the times of pulls only on metrics_listen.
func TestMetricsAreServed(t *testing.T) {
	t.Parallel()
	descs := make(chan *prometheus.Desc)
	s := limitsServer(t)
	go func() {
		s.metrics.Describe(descs)
		close(descs)
	}()
	served := ""
	for d := range descs {
		served += d.String() + "\n"
	}
	families, err := s.metrics.Gather() // also of collectors that do not describe themselves
	must(t, err)
	for _, f := range families {
		served += fmt.Sprintf("fqName: %q,\n", f.GetName())
	}
	elsewhere := regexp.MustCompile(`"repoglot_(cluster|leases|last_pull)_`)
	made := 0
	for _, room := range []string{"api", "catalog", "cmd", "gitsource"} {
		err := filepath.WalkDir(filepath.Join("..", "..", "..", room), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, name := range regexp.MustCompile(`"repoglot_[a-z0-9_]+"`).FindAllString(string(text), -1) {
				if made++; !strings.Contains(served, "fqName: "+name+",") && !elsewhere.MatchString(name) {
					t.Errorf("%s: %s is not registered", path, name)
				}
			}
			return err
		})
		must(t, err)
	}
	if made < 30 {
		t.Errorf("only %d metrics are found", made)
	}
}
