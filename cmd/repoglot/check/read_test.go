package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/sync/semaphore"
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
	c := newChecker(Options{Workers: 8}, limit)
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
	r := reader{limit: 10, budget: semaphore.NewWeighted(10)}
	if !r.budget.TryAcquire(10) {
		t.Fatal("not free")
	}
	if got, ok := r.check(ctx, "a.po"); ok {
		t.Errorf("checked: %+v", got)
	}
}

// TestRead reads whole files, whatever their expected size, and does not keep the
// buffer of a large one.
func TestRead(t *testing.T) {
	var r reader
	for _, size := range []int{0, 1, 511, 512, 513, 100_000, 3, keptBuffer + 1, 5} {
		data := bytes.Repeat([]byte{'x'}, size)
		for _, said := range []int64{int64(size), 0, int64(size) / 2, int64(size) + 100} {
			if err := r.read(iotest.HalfReader(bytes.NewReader(data)), said); err != nil || !bytes.Equal(r.buf, data) {
				t.Fatalf("size %d, said %d: %d bytes, %v", size, said, len(r.buf), err)
			}
		}
	}
	if r.free(); cap(r.buf) != 0 {
		t.Errorf("a buffer of %d bytes is kept", cap(r.buf))
	}
	if err := r.read(bytes.NewReader(make([]byte, 1000)), 1000); err != nil {
		t.Fatal(err)
	}
	if r.free(); cap(r.buf) == 0 {
		t.Error("a small buffer is not kept")
	}
	broken := errors.New("broken")
	if err := r.read(iotest.ErrReader(broken), 10); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if err := r.read(bytes.NewReader(nil), 1<<63-1); err == nil {
		t.Error("a file of 8 EiB was read")
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
		if got := (directory{Counts: tt.c}).percent(); got != tt.want {
			t.Errorf("%+v: %d%%, want %d%%", tt.c, got, tt.want)
		}
	}
}
