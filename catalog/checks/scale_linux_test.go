package checks_test

import (
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
)

// scale is how much longer the second of two texts is. Linear work takes that much
// longer as well, quadratic work the square of it; slack is between the two.
const (
	scale = 16
	slack = 4
)

// TestScale runs every check on texts of 32 or 64 KiB and a sixteenth of it, some
// on 1 MiB, and compares the time that the processor needed for each.
func TestScale(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine and a clock: nothing for the race detector")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	terms := []checks.Term{{Source: "a", Target: "b"}, {Source: "a a", Target: "b"}, {Source: "木", Target: "a"}, {Source: "木木木", Target: "a"}}
	s := checks.New(checks.Options{Language: "fr", Plural: english, SourcePlural: english, Terms: terms})
	for _, piece := range hostile {
		size := 64 << 10
		if slices.Contains([]string{"<", "{", "%(", "[a][/", "\u0301", "a a "}, piece) {
			size = 1 << 20
		}
		scales(t, s, scaled{piece: piece, flags: allFlags}, size)
		scales(t, s, scaled{piece: piece, flags: allFlags + ", safe-html", source: "A [b]word[/b] %s [a](b) `c` a."}, 32<<10)
		scales(t, s, scaled{piece: piece, source: "<b>bold</b> a."}, 32<<10)
	}
}

// TestScaleClosed has texts with many opening marks and one closing mark at the end.
// A search for that end from each opening mark is quadratic, which shows only from
// 128 KiB on.
func TestScaleClosed(t *testing.T) {
	if testing.Short() {
		t.Skip("reads long texts")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := set("fr", english)
	for _, piece := range hostile {
		if strings.ContainsAny(piece, "<{([%$&_*`~") && !strings.HasPrefix(piece, "<a") {
			scales(t, s, scaled{piece: piece, flags: allFlags + ", safe-html", end: "\"-->}})] `_*~~</a>[/a]"}, 128<<10)
		}
	}
}

// scales compares the cost of a text and that of a sixteenth of it.
func scales(t *testing.T, s *checks.Set, c scaled, size int) {
	t.Helper()
	for try := 0; ; try++ {
		large, small := c.cost(s, size), c.cost(s, size/scale)
		if large <= scale*slack*max(small, time.Millisecond) {
			return
		}
		if try == 4 {
			t.Errorf("%q: %v for %d bytes, %v for %d times as many", c.piece, small, size/scale, large, scale)
			return
		}
	}
}

// scaled is a text of repeated pieces and an end, with the same source or another.
type scaled struct{ piece, end, flags, source string }

// cost is the time of all checks.
func (c scaled) cost(s *checks.Set, size int) time.Duration {
	text, source := strings.Repeat(c.piece, size/len(c.piece))+c.end, c.source
	if source == "" {
		source = text
	}
	u := &checks.Unit{Sources: []string{source}, Targets: []string{text}, Flags: c.flags, State: catalog.StateTranslated}
	from := threadTime()
	s.Run(u)
	u.IsSource = true
	s.Run(u)
	return threadTime() - from
}

// rusageThread is RUSAGE_THREAD of getrusage(2).
const rusageThread = 1

// threadTime is the processor time of this thread.
func threadTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
