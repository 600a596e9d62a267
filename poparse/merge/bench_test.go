package merge

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

// ofEntries is a file of many entries in which one of twenty has another text for each side.
func ofEntries(n int, side string) []byte {
	var b strings.Builder
	b.WriteString(head("POT-Creation-Date: 2026-01-01 00:00+0000", "PO-Revision-Date: 2026-01-0"+fmt.Sprint(1+len(side))+" 00:00+0000", utf8))
	for i := range n {
		text := "Der Text der Zeichenkette"
		if side != "" && i%20 == len(side) {
			text += ", " + side
		}
		fmt.Fprintf(&b, "\n#: src/file%d.c:%d src/other.c:%d\n#, c-format\nmsgid \"The text of string number %d: %%s\"\nmsgstr \"%s %d: %%s\"\n", i/50, i%50*7, i, i, text, i)
	}
	return []byte(b.String())
}

// BenchmarkFiles merges files of 5,000 entries, of which each side changed 250.
func BenchmarkFiles(b *testing.B) {
	base, ours, theirs := ofEntries(5000, ""), ofEntries(5000, "a"), ofEntries(5000, "bb")
	b.SetBytes(int64(len(base) + len(ours) + len(theirs)))
	b.ReportAllocs()
	before := processor(b)
	for b.Loop() {
		if r, err := Files(base, ours, theirs, Options{}); err != nil || r.Conflicts > 0 || r.Strings != 501 {
			b.Fatal(err, r.Conflicts, r.Strings)
		}
	}
	b.ReportMetric(float64(processor(b)-before)/1e6/float64(b.N), "cpu-ms/op")
}

// processor is the processor time of this process in nanoseconds.
func processor(b *testing.B) int64 {
	var r syscall.Rusage
	gittest.Must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return r.Utime.Nano() + r.Stime.Nano()
}
