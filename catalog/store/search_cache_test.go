package store

import (
	"fmt"
	"testing"
)

// The cache stays within its limits and returns what was put.
func TestSearchCache(t *testing.T) {
	c := newSearchCache()
	big := &searchPlan{spans: make([]searchSpan, maxPlanBytes/64-100)}
	for i := range 10 {
		c.put(fmt.Sprint(i), big)
	}
	if c.bytes > maxFoundBytes || c.get("9") != big || c.get("0") != nil || len(c.plans) != len(c.order) {
		t.Errorf("%d bytes in %d plans", c.bytes, len(c.plans))
	}
	c.put("huge", &searchPlan{spans: make([]searchSpan, maxPlanBytes/64+1)})
	if c.get("huge") != nil {
		t.Error("a huge plan was kept")
	}
}
