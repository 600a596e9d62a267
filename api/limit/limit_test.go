package limit

import (
	"net/netip"
	"strconv"
	"testing"
	"time"
)

// TestTake walks through a span and into the next.
func TestTake(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	l := New(Rate{Count: 2, Per: time.Minute}, func() time.Time { return now })
	expect := func(client string, want Answer) {
		t.Helper()
		if got, counted := l.Take(client); got != want || !counted {
			t.Errorf("%s: %+v, want %+v", client, got, want)
		}
	}
	expect("a", Answer{Allowed: true, Limit: 2, Remaining: 1, Reset: 60})
	now = now.Add(10*time.Second + time.Nanosecond)
	expect("a", Answer{Allowed: true, Limit: 2, Remaining: 0, Reset: 50})
	expect("a", Answer{Limit: 2, Reset: 50})
	expect("b", Answer{Allowed: true, Limit: 2, Remaining: 1, Reset: 60})
	now = now.Add(49 * time.Second)
	expect("a", Answer{Limit: 2, Reset: 1})
	now = now.Add(time.Second)
	expect("a", Answer{Allowed: true, Limit: 2, Remaining: 1, Reset: 60}) // at the time of Reset
	expect("b", Answer{Allowed: true, Limit: 2, Remaining: 0, Reset: 10})
	if _, counted := New(Rate{}, nil).Take("a"); counted {
		t.Error("without a rate requests are counted")
	}
}

// TestBound: the number of clients in memory is bounded.
func TestBound(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	l := New(Rate{Count: 1, Per: time.Hour}, func() time.Time { return now })
	l.max = 100
	for i := range 1000 {
		l.Take(strconv.Itoa(i))
		if len(l.clients) > 100 || len(l.order) > 100 {
			t.Fatalf("%d clients, %d spans", len(l.clients), len(l.order))
		}
	}
	if a, _ := l.Take("999"); a.Allowed {
		t.Error("the newest client was forgotten")
	}
	now = now.Add(time.Hour)
	l.Take("x")
	if len(l.clients) != 1 || len(l.order) != 1 {
		t.Errorf("%d clients, %d spans after all ended", len(l.clients), len(l.order))
	}
}

// TestAddress: which addresses are one client.
func TestAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2:3::4": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64",
	} {
		if got := Address(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	if Address(netip.Addr{}) == Address(netip.MustParseAddr("0.0.0.0")) || Token(1) == Token(2) {
		t.Error("two clients are one")
	}
}
