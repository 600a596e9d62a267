package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// manyTargets are lists and sums over all components, and single objects beside
// them.
func manyTargets() []string {
	return []string{
		"/api/projects/", "/api/components/", "/api/projects/many/components/?page=last", "/api/translations/?page=2", "/api/languages/",
		"/api/languages/l01/", "/api/units/?page=2", "/api/projects/many/statistics/", "/api/projects/many/languages/",
		"/api/languages/l01/statistics/", "/api/projects/many/repository/", "/api/projects/many/changes/", "/api/users/", "/api/users/jane/statistics/",
		"/api/search/?q=c", "/api/addons/", "/api/translations/many/c0005/l01/", "/api/components/many/c0005/statistics/", "/api/units/268435457/translations/",
	}
}

// TestStatements: the number of statements for an answer does not grow with the
// number of components.
func TestStatements(t *testing.T) {
	t.Parallel()
	sizes := [2]int{30, 200}
	if testing.Short() {
		sizes = [2]int{20, 80}
	}
	few, many := statements(t, sizes[0]), statements(t, sizes[1])
	for target, n := range few {
		if more := many[target] - n; more > 4 { // lists of ids come in pieces of at most 256
			t.Errorf("%s: %v statements over %d components, %v over %d", target, n, sizes[0], many[target], sizes[1])
		}
	}
}

func statements(t *testing.T, components int) map[string]float64 {
	t.Helper()
	w := manyWorld(t, components, 2)
	s := serve(w, Options{})
	counter := statementCounter(t, w)
	counts := map[string]float64{}
	for _, target := range manyTargets() {
		before := testutil.ToFloat64(counter)
		if _, rec := send(s, http.MethodGet, target); rec.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", target, rec.Code, rec.Body)
		}
		counts[target] = testutil.ToFloat64(counter) - before
		if counts[target] == 0 {
			t.Errorf("%s: no statement counted", target)
		}
	}
	return counts
}

func statementCounter(t *testing.T, w *catalogtest.Writer) prometheus.Counter {
	t.Helper()
	for _, m := range w.DB.Metrics() {
		if c, ok := m.(prometheus.Counter); ok && strings.Contains(c.Desc().String(), "repoglot_store_statements_total") {
			return c
		}
	}
	t.Fatal("statements are not counted")
	return nil
}
