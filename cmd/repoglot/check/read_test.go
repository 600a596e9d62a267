package check

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestBudget checks files that are many times larger than the budget, and releases
// all of it.
func TestBudget(t *testing.T) {
	t.Chdir(t.TempDir())
	for i := range 50 {
		text := strings.Repeat("msgid \"a\"\nmsgstr \"b\"\n\n", 1+i)
		if err := os.WriteFile(fmt.Sprintf("%02d.po", i), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const limit = 100
	c := newRunner(Options{Workers: 8}, limit)
	files := 0
	if err := c.run(t.Context(), func(r Result) error {
		if r.Counts.Translated != 1 || !r.Parsed {
			t.Errorf("%+v", r)
		}
		files++
		return nil
	}); err != nil || files != 50 {
		t.Errorf("%d files, %v", files, err)
	}
	if !c.budget.TryAcquire(limit) {
		t.Error("something is still acquired")
	}
}

// TestBudgetCancel: waiting for memory ends with the context.
func TestBudgetCancel(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.po", []byte("msgid \"a\"\nmsgstr \"b\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := newRunner(Options{}, 10)
	if !c.budget.TryAcquire(10) {
		t.Fatal("not free")
	}
	if got, ok := c.check(ctx, "a.po"); ok {
		t.Errorf("checked: %+v", got)
	}
}

// TestPercent: percentages are rounded down, so that 100% means all.
func TestPercent(t *testing.T) {
	for _, tt := range []struct {
		c    Counts
		want int
	}{
		{Counts{}, 100},
		{Counts{Translated: 999, Untranslated: 1}, 99},
		{Counts{Translated: 1, Fuzzy: 2}, 33},
		{Counts{Translated: 5}, 100},
	} {
		if got := (sum{Counts: tt.c}).percent(); got != tt.want {
			t.Errorf("%+v: %d%%, want %d%%", tt.c, got, tt.want)
		}
	}
}
