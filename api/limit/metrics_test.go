package limit

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestPoolMetrics: metrics have what is in use and what was refused, and why; one
// registry takes several Pools.
func TestPoolMetrics(t *testing.T) {
	t.Parallel()
	a, b := NewPool("a", 3, 2), NewPool("b", 1, 1)
	one, other := a.Lease("one"), a.Lease("other")
	for _, err := range []error{one.Take(2), one.Take(1), other.Take(2), other.Take(1), one.Take(1)} {
		_ = err // the metrics have them
	}
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(Pools{a}, Pools{b})
	const want = `
# HELP repoglot_share_refused_total Requests that got none: the client held its share (client), or all was in use, or the wait took too long (all).
# TYPE repoglot_share_refused_total counter
repoglot_share_refused_total{pool="a",reason="all"} 1
repoglot_share_refused_total{pool="a",reason="client"} 2
repoglot_share_refused_total{pool="b",reason="all"} 0
repoglot_share_refused_total{pool="b",reason="client"} 0
# HELP repoglot_share_total How much of it all clients together may hold.
# TYPE repoglot_share_total gauge
repoglot_share_total{pool="a"} 3
repoglot_share_total{pool="b"} 1
# HELP repoglot_share_used How much of what clients share is in use: bytes, connections, turns.
# TYPE repoglot_share_used gauge
repoglot_share_used{pool="a"} 3
repoglot_share_used{pool="b"} 0
# HELP repoglot_share_waiting Requests that wait for some of it.
# TYPE repoglot_share_waiting gauge
repoglot_share_waiting{pool="a"} 0
repoglot_share_waiting{pool="b"} 0
`
	if err := testutil.GatherAndCompare(r, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
