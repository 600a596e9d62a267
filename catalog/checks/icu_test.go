package checks_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
)

// TestICUNesting: sub-messages and tags may be nested fifty deep, and no depth costs
// more than that.
func TestICUNesting(t *testing.T) {
	for _, piece := range []struct{ opening, closing string }{{"{a, select, other {", "}}"}, {"<a>", "</a>"}} {
		for depth, want := range map[int]bool{50: false, 51: true, 1_000_000: true} {
			text := strings.Repeat(piece.opening, depth) + "x" + strings.Repeat(piece.closing, depth)
			u := &checks.Unit{IsSource: true, Sources: []string{text}, Flags: "icu-message-format, icu-flags:xml"}
			if got := set("en", english).Run(u).Has(number("icu_message_format_syntax")); got != want {
				t.Errorf("%d of %s: %v", depth, piece.opening, got)
			}
		}
	}
}

// TestICUMany: a message with more names, types or selectors than are kept is not
// checked; one with a few less is.
func TestICUMany(t *testing.T) {
	for _, n := range []int{60_000, 70_000} {
		var names, types, selectors strings.Builder
		for i := range n {
			number := strconv.Itoa(i)
			names.WriteString("{" + number + "}")
			types.WriteString("{a," + number + "}")
			selectors.WriteString(" " + number + "{}")
		}
		for _, text := range []string{names.String(), types.String(), "{a,select" + ",other{}" + selectors.String() + "}"} {
			u := &checks.Unit{
				Sources: []string{"{surplus}"}, Targets: []string{text}, Flags: "icu-message-format", State: catalog.StateTranslated,
			}
			if got := set("de", english).Run(u).Has(number("icu_message_format")); got != (n < 1<<16) {
				t.Errorf("%d of %.20s: %v", n, text, got)
			}
		}
	}
}

// TestICUIgnore: one flag turns off both checks, as in Weblate.
func TestICUIgnore(t *testing.T) {
	for _, flags := range []string{"icu-message-format", "icu-message-format, ignore-icu-message-format"} {
		want := !strings.Contains(flags, "ignore")
		u := &checks.Unit{Sources: []string{"{"}, Targets: []string{"{"}, Flags: flags, State: catalog.StateTranslated}
		if got := set("de", english).Run(u).Has(number("icu_message_format")); got != want {
			t.Errorf("%s: target %v", flags, got)
		}
		u.IsSource = true
		if got := set("de", english).Run(u).Has(number("icu_message_format_syntax")); got != want {
			t.Errorf("%s: source %v", flags, got)
		}
	}
}

// TestICUAllocations: text without arguments costs no allocation.
func TestICUAllocations(t *testing.T) {
	s := set("cs", czech)
	u := &checks.Unit{
		Sources: []string{"one file", "files it's"}, Targets: []string{"jeden soubor", "soubory '' x", "souborů"},
		Flags: "icu-message-format, icu-flags:xml", State: catalog.StateTranslated,
	}
	if got := s.Run(u); !got.IsZero() {
		t.Fatal(names(got))
	}
	if n := testing.AllocsPerRun(200, func() { s.Run(u) }); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}
