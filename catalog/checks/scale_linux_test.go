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

// scale is how much longer the second of two texts is. Linear work takes that
// much longer, too, and quadratic work its square; slack lies between.
const (
	scale = 16
	slack = 4
)

// TestScale runs every check on texts of 64 KiB and a sixteenth of it, some on
// 1 MiB, and compares the time that the processor needed for each.
func TestScale(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	terms := []checks.Term{{Source: "a", Target: "b"}, {Source: "a a", Target: "b"}, {Source: "木", Target: "a"}, {Source: "木木木", Target: "a"}}
	s := checks.New(checks.Options{Language: "fr", Plural: english, SourcePlural: english, Terms: terms})
	for _, piece := range hostile {
		size := 64 << 10
		if !testing.Short() && slices.Contains([]string{"<", "{", "%(", "[a][/", "\u0301", "a a "}, piece) {
			size = 1 << 20
		}
		for _, c := range []struct{ flags, source string }{{allFlags, ""}, {allFlags + ", safe-html", "A [b]word[/b] %s [a](b) `c` a."}, {"", "<b>bold</b> a."}} {
			for try := 0; ; try++ {
				large, small := cost(s, piece, size, c.flags, c.source), cost(s, piece, size/scale, c.flags, c.source)
				if large <= scale*slack*max(small, time.Millisecond) {
					break
				}
				if try == 4 {
					t.Errorf("%q: %v for %d bytes, %v for %d times as many", piece, small, size/scale, large, scale)
					break
				}
			}
		}
	}
}

// cost is the time of all checks of a text that consists of pieces, with
// another source or the same.
func cost(s *checks.Set, piece string, size int, flags, source string) time.Duration {
	text := strings.Repeat(piece, size/len(piece))
	if source == "" {
		source = text
	}
	u := &checks.Unit{Sources: []string{source}, Targets: []string{text}, Flags: flags, State: catalog.StateTranslated}
	from := threadTime()
	s.Run(u)
	u.IsSource = true
	s.Run(u)
	return threadTime() - from
}

// rusageThread is RUSAGE_THREAD of getrusage(2).
const rusageThread = 1

// threadTime is what the thread has used of a processor: other processes do
// not count.
func threadTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
