package edit

import (
	"fmt"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse/merge"
)

// TestSharedTable compares Merge with the table of poparse/merge for all combinations of a
// few texts: the file has the same afterwards, and where the table has a conflict, the edit
// has one; but for the rows that only edits have.
func TestSharedTable(t *testing.T) {
	texts := []Text{{"", empty}, {"a", done}, {"a", fuzzy}, {"b", done}, {"b", fuzzy}, {"c", done}, {"c", fuzzy}}
	bases := append([]Text{{State: catalog.StateAbsent}}, texts...)
	rows := map[string]int{}
	for _, base := range bases {
		for _, ours := range texts {
			for _, theirs := range texts {
				got := Merge(base, nil, Theirs{Text: theirs, Found: true, Forms: 1}, ours, false)
				wins, clash := merge.Choose(base.merged(base.Absent()), ours.merged(false), theirs.merged(false))
				want, row := map[merge.Side][]Outcome{merge.Base: {Done}, merge.Ours: {Applied}, merge.Theirs: {Conflict, Done}}[wins], "shared"
				if clash {
					want = []Outcome{Conflict}
				}
				switch {
				case ours.Target == theirs.Target && theirs != base && theirs != ours:
					want, row = []Outcome{Done}, "both wrote one text: the state is the repository's, also if it is fuzzy"
				case theirs.Target == "" && base.Target != "" && wins == merge.Ours:
					want, row = []Outcome{Conflict}, "emptied in the repository: on_conflict says"
				case base.Absent() && ours.State == fuzzy && theirs.State == fuzzy && clash:
					want, row = []Outcome{Applied}, "the file lacked it: a fuzzy text there is msgmerge's"
				}
				rows[row]++
				if got != want[0] && got != want[len(want)-1] {
					t.Errorf("base %v, theirs %v, ours %v: %v, want %v (the table: %v, %t; %s)", base, theirs, ours, got, want, wins, clash, row)
				}
				if got != want[0] && wins == merge.Theirs && ours.Target != theirs.Target {
					t.Errorf("base %v, theirs %v, ours %v: %v, though the text is another one", base, theirs, ours, got)
				}
			}
		}
	}
	if len(rows) != 4 || rows["shared"] < 300 {
		t.Error(fmt.Sprint(rows))
	}
}
