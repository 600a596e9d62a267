package merge

import (
	"slices"
	"strings"

	"github.com/repoglot/repoglot/poparse"
)

// Text is the translation of a string and its state.
type Text struct {
	// Forms are the plural forms, or the only one. Empty ones at the end do not count.
	Forms []string
	// Fuzzy says that the text needs editing; it does not count without a text.
	Fuzzy bool
	// Absent says that there is no such string; of a base only.
	Absent bool
}

// TextOf returns the text of an entry, an absent one for nil.
func TextOf(e *poparse.Entry) Text {
	if e == nil {
		return Text{Absent: true}
	}
	return Text{Forms: e.Str, Fuzzy: e.Fuzzy}
}

// Empty reports whether no form has a text.
func (t Text) Empty() bool { return len(trim(t.Forms)) == 0 }

// Translated reports whether it is a text that nobody marked.
func (t Text) Translated() bool { return !t.Empty() && !t.Fuzzy }

// Equal reports whether two texts are the same, in the same state.
func (t Text) Equal(o Text) bool { return t.same(o) && (t.Fuzzy == o.Fuzzy || t.Empty()) }

// same reports whether two texts have the same forms.
func (t Text) same(o Text) bool { return slices.Equal(trim(t.Forms), trim(o.Forms)) }

func trim(forms []string) []string {
	for len(forms) > 0 && forms[len(forms)-1] == "" {
		forms = forms[:len(forms)-1]
	}
	return forms
}

// Choose is the rule of one text; its rows are in the package comment. It is symmetric. It
// returns the side whose text a merged string has, Base if both have the same, or that only a
// person can say.
func Choose(base, ours, theirs Text) (of Side, clash bool) {
	oursIsBase, theirsIsBase := !base.Absent && ours.same(base), !base.Absent && theirs.same(base)
	switch {
	case ours.Equal(theirs):
		return Base, false
	case oursIsBase && ours.Equal(base):
		return Theirs, false
	case theirsIsBase && theirs.Equal(base):
		return Ours, false
	case ours.same(theirs):
		return take(!ours.Fuzzy), false
	case ours.Empty() || theirs.Empty():
		return take(!ours.Empty()), false
	case oursIsBase && ours.Fuzzy:
		return Theirs, false
	case theirsIsBase && theirs.Fuzzy:
		return Ours, false
	case base.Absent && ours.Fuzzy != theirs.Fuzzy:
		return take(!ours.Fuzzy), false
	}
	return Base, true
}

func take(ours bool) Side {
	if ours {
		return Ours
	}
	return Theirs
}

// unite is the three-way merge of lines of which none depends on another: those that either
// side removed are gone, and those that they added are there, ours first.
func unite(base, ours, theirs []string) []string {
	kept := slices.DeleteFunc(slices.Clone(ours), func(line string) bool { return slices.Contains(base, line) && !slices.Contains(theirs, line) })
	added := slices.DeleteFunc(slices.Clone(theirs), func(line string) bool { return slices.Contains(base, line) || slices.Contains(ours, line) })
	return append(kept, added...)
}

// lines splits comments, each of which may have several lines.
func lines(comments []string) []string {
	if len(comments) == 0 {
		return nil
	}
	return strings.Split(strings.Join(comments, "\n"), "\n")
}
