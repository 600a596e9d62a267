package checks_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
)

// TestExpat holds the checks of XML to testdata/expat.jsonl: pairs of a source
// and a translation with the verdict of expat 2, which Weblate reads XML with
// (Python's xml.etree.ElementTree): "not XML" if it reads the source neither
// within an element nor by itself, "invalid" if it does not read the
// translation in the same way, "tags" if the elements or their attributes
// differ, else "same".
func TestExpat(t *testing.T) {
	f, err := os.Open("testdata/expat.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := set("cs", czech)
	verdicts := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var pair [3]string
		if err := json.Unmarshal(lines.Bytes(), &pair); err != nil {
			t.Fatal(err)
		}
		u := &checks.Unit{Sources: pair[:1], Targets: pair[1:2], State: catalog.StateTranslated}
		failed := s.Run(u)
		want := pair[2]
		verdicts[want]++
		if pair[1] == "" { // an empty translation is not looked at
			want = "same"
		}
		if failed.Has(number("xml-invalid")) != (want == "invalid") || failed.Has(number("xml-tags")) != (want == "tags") {
			t.Errorf("%q → %q: %s, want %s", pair[0], pair[1], names(failed), want)
		}
	}
	for _, verdict := range []string{"not XML", "invalid", "tags", "same"} {
		if verdicts[verdict] < 5 {
			t.Errorf("%d pairs are %s", verdicts[verdict], verdict)
		}
	}
}
