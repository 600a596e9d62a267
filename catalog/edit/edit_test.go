package edit

import (
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

const (
	empty = catalog.StateEmpty
	fuzzy = catalog.StateFuzzy
	done  = catalog.StateTranslated
)

// forms joins plural forms.
func forms(list ...string) string { return catalog.JoinForms(list) }

// TestMerge has one row for each rule and for each way that a request may end.
func TestMerge(t *testing.T) {
	there := func(target string, state catalog.State) Theirs {
		return Theirs{Text: Text{target, state}, Found: true, Forms: 1}
	}
	plural := func(n int, target string, state catalog.State) Theirs {
		return Theirs{Text: Text{target, state}, Found: true, Forms: n}
	}
	for _, tt := range []struct {
		name   string
		base   Text
		theirs Theirs
		ours   Text
		want   Outcome // with on_conflict: repository
		edit   Outcome // with on_conflict: edit, 0 for the same
	}{
		{"nothing happened there", Text{"a", done}, there("a", done), Text{"b", done}, Applied, 0},
		{"first translation", Text{"", empty}, there("", empty), Text{"b", done}, Applied, 0},
		{"approved text that needed editing", Text{"a", fuzzy}, there("a", fuzzy), Text{"a", done}, Applied, 0},
		{"marked as needing editing", Text{"a", done}, there("a", done), Text{"a", fuzzy}, Applied, 0},
		{"emptied", Text{"a", done}, there("a", done), Text{"", empty}, Applied, 0},
		{"merged, squashed, rebased or cherry-picked", Text{"a", done}, there("b", done), Text{"b", done}, Done, 0},
		{"merged, then marked by the maintainer", Text{"a", done}, there("b", fuzzy), Text{"b", done}, Done, 0},
		{"merged, then confirmed by the maintainer", Text{"a", done}, there("b", done), Text{"b", fuzzy}, Done, 0},
		{"edited by the maintainer first", Text{"a", done}, there("c", done), Text{"b", done}, Conflict, Overruled},
		{"somebody translated it meanwhile", Text{"", empty}, there("c", done), Text{"b", done}, Conflict, Overruled},
		{"somebody translated it, unsure", Text{"", empty}, there("c", fuzzy), Text{"b", done}, Conflict, Overruled},
		{"somebody emptied it", Text{"a", done}, there("", empty), Text{"b", done}, Conflict, Overruled},
		{"somebody marked the old text", Text{"a", done}, there("a", fuzzy), Text{"b", done}, Applied, 0},
		{"somebody confirmed the old text", Text{"a", fuzzy}, there("a", done), Text{"b", done}, Conflict, Overruled},
		{"both confirmed the old text", Text{"a", fuzzy}, there("a", done), Text{"a", done}, Done, 0},
		{"both marked it", Text{"a", done}, there("a", fuzzy), Text{"a", fuzzy}, Done, 0},
		{"marked what somebody replaced", Text{"a", done}, there("c", done), Text{"a", fuzzy}, Conflict, Overruled},
		{"left the template", Text{"a", done}, Theirs{}, Text{"b", done}, Gone, 0},
		{"read-only", Text{"a", done}, Theirs{Text{"a", done}, true, true, 1}, Text{"b", done}, ReadOnly, 0},
		{"read-only with our text", Text{"a", done}, Theirs{Text{"b", done}, true, true, 1}, Text{"b", done}, Done, 0},
		{"plural", Text{"", empty}, plural(3, "", empty), Text{forms("x", "y", "z"), done}, Applied, 0},
		{"fewer forms than before", Text{"", empty}, plural(2, "", empty), Text{forms("x", "y", "z"), done}, PluralConflict, 0},
		{"more forms than before", Text{"x", done}, plural(2, "x", done), Text{"z", done}, PluralConflict, 0},
		{"number of forms not known", Text{"", empty}, plural(0, "", empty), Text{forms("x", "y"), done}, Applied, 0},
		{"other forms, but our text", Text{"", empty}, plural(2, forms("x", "y", "z"), done), Text{forms("x", "y", "z"), done}, Done, 0},
		{"empty forms at the end", Text{forms("x", "", ""), done}, plural(3, "x", done), Text{forms("x", "y", "z"), done}, Applied, 0},
		{"plural emptied", Text{forms("x", "y"), done}, plural(2, forms("x", "y"), done), Text{forms("", ""), empty}, Applied, 0},
		{"first form empty counts as untranslated", Text{forms("", "y"), empty}, plural(2, forms("", "y"), done), Text{forms("x", "y"), done}, Applied, 0},
		{"brought back what the repository has", Text{"a", done}, there("a", done), Text{"a", done}, Done, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Merge(tt.base, nil, tt.theirs, tt.ours, false); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			want := tt.edit
			if want == 0 {
				want = tt.want
			}
			if got := Merge(tt.base, nil, tt.theirs, tt.ours, true); got != want {
				t.Errorf("on_conflict: edit: got %v, want %v", got, want)
			}
		})
	}
}

// TestMergeSent has a row for each rule about a text that was sent before.
func TestMergeSent(t *testing.T) {
	a, b, c := Text{"a", done}, Text{"b", done}, Text{"c", done}
	there := func(t Text) Theirs { return Theirs{Text: t, Found: true, Forms: 1} }
	for _, tt := range []struct {
		name   string
		base   Text
		sent   []Text
		theirs Theirs
		ours   Text
		want   Outcome
		edit   Outcome // with on_conflict: edit, 0 for the same
	}{
		{"it arrived", a, []Text{b}, there(b), c, Applied, 0},
		{"the first of two arrived", a, []Text{b, c}, there(b), Text{"d", done}, Applied, 0},
		{"it has not arrived", a, []Text{b}, there(a), c, Applied, 0},
		{"somebody else was faster", a, []Text{b}, there(Text{"x", done}), c, Conflict, Overruled},
		{"it arrived, marked by the maintainer", a, []Text{b}, there(Text{"b", fuzzy}), c, Applied, 0},
		{"it arrived, and is marked by us", a, []Text{b}, there(b), Text{"b", fuzzy}, Applied, 0},
		{"it arrived as we sent it, to be confirmed", a, []Text{{"b", fuzzy}}, there(Text{"b", fuzzy}), b, Applied, 0},
		{"the last one arrived, marked by the maintainer", a, []Text{b}, there(Text{"b", fuzzy}), b, Done, 0},
		{"the last one arrived", a, []Text{b, c}, there(c), c, Done, 0},
		{"an older one that was entered again", a, []Text{b, c}, there(b), b, Done, 0},
		{"taken back, and it arrived", a, []Text{b}, there(b), a, Applied, 0},
		{"taken back, and it did not", a, []Text{b}, there(a), a, Done, 0},
		{"left the template", a, []Text{b}, Theirs{}, c, Gone, 0},
		{"it arrived, and is read-only", a, []Text{b}, Theirs{b, true, true, 1}, c, ReadOnly, 0},
		{"it arrived in a file with other forms", a, []Text{b}, Theirs{b, true, false, 3}, c, PluralConflict, 0},
		{"empty forms at the end", a, []Text{{forms("x", ""), done}}, Theirs{Text{"x", done}, true, false, 2}, Text{forms("x", "y"), done}, Applied, 0},
		{"an emptied one arrived", a, []Text{{"", empty}}, there(Text{"", empty}), c, Applied, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.edit == 0 {
				tt.edit = tt.want
			}
			if got := Merge(tt.base, tt.sent, tt.theirs, tt.ours, false); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if got := Merge(tt.base, tt.sent, tt.theirs, tt.ours, true); got != tt.edit {
				t.Errorf("on_conflict: edit: got %v, want %v", got, tt.edit)
			}
		})
	}
	for _, tt := range []struct {
		sent  []Text
		their Text
		at    int
		exact bool
	}{
		{nil, a, -1, false},
		{[]Text{a, b, a}, a, 2, true},
		{[]Text{{"a", fuzzy}, a}, Text{"a", fuzzy}, 0, true},
		{[]Text{a, b}, Text{"a", fuzzy}, 0, false},
	} {
		if at, exact := Arrived(tt.sent, tt.their); at != tt.at || exact != tt.exact {
			t.Errorf("%v in %v: %d, %v", tt.their, tt.sent, at, exact)
		}
	}
}

// TestOutcomes checks the names of all outcomes.
func TestOutcomes(t *testing.T) {
	seen := map[string]bool{}
	for o := Applied; o <= Unwritable; o++ {
		if o.String() == "" || seen[o.String()] {
			t.Errorf("outcome %d has the name %q", o, o)
		}
		seen[o.String()] = true
		if o.Written() != (o == Applied || o == Overruled) {
			t.Errorf("%v: written %v", o, o.Written())
		}
	}
	if Outcome(0).String() != "" || Outcome(99).String() != "" {
		t.Error("a number without a meaning has a name")
	}
}

// TestEdit: an edit is of a string, by its last author, and nothing exactly if it brings the
// base back.
func TestEdit(t *testing.T) {
	jana, petr := Author{Name: "Jana"}, Author{Name: "Petr"}
	e := Edit{Source: "s", Context: "c", Base: Text{"a", done}, Ours: Text{"d", done}, Authors: []Author{petr, jana}}
	if e.Last() != jana || (Edit{}).Last() != (Author{}) {
		t.Errorf("last author %v", e.Last())
	}
	if back := (Edit{Base: e.Base, Ours: e.Base}); e.Nothing() || !back.Nothing() {
		t.Error("an edit is nothing exactly if it brings the base back")
	}
	var h catalog.Hasher
	if e.Identity() != h.Identity("s", "c") {
		t.Error("not the identity of the string")
	}
}

// TestNewText lists the errors of edits.
func TestNewText(t *testing.T) {
	long := make([]byte, MaxText+1)
	for i := range long {
		long[i] = 'a'
	}
	for _, tt := range []struct {
		target []string
		state  catalog.State
		forms  int
		want   string
	}{
		{[]string{"a"}, done, 1, ""},
		{[]string{" a\t\nb "}, fuzzy, 1, ""},
		{[]string{"", ""}, empty, 2, ""},
		{[]string{"a", ""}, done, 2, ""},
		{[]string{"", "b"}, done, 2, "target: The first plural form is empty: a PO file would have the string untranslated"},
		{[]string{"", "b"}, fuzzy, 2, "target: The first plural form is empty: a PO file would have the string untranslated"},
		{[]string{"a"}, done, 2, "target: Number of plurals does not match"},
		{[]string{"a", "b"}, done, 1, "target: Number of plurals does not match"},
		{nil, empty, 1, "target: Number of plurals does not match"},
		{[]string{"a"}, 30, 1, "state: Invalid state"},
		{[]string{"a"}, 100, 1, "state: Invalid state"},
		{[]string{"a"}, 5, 1, "state: Invalid state"},
		{[]string{"a"}, empty, 1, "state: Can not use empty state with non empty target"},
		{[]string{"", "b"}, empty, 2, "state: Can not use empty state with non empty target"},
		{[]string{""}, done, 1, "state: Can not use non empty state with empty target"},
		{[]string{"", ""}, fuzzy, 2, "state: Can not use non empty state with empty target"},
		{[]string{"a\x00"}, done, 1, "target: Control characters other than tab and line feed are not allowed, found U+0000"},
		{[]string{"a\rb"}, done, 1, "target: Control characters other than tab and line feed are not allowed, found U+000D"},
		{[]string{"a\x1e\x1eb"}, done, 1, "target: Control characters other than tab and line feed are not allowed, found U+001E"},
		{[]string{"a\u0085b"}, done, 1, "target: Control characters other than tab and line feed are not allowed, found U+0085"},
		{[]string{"a\xff"}, done, 1, "target: The text is not valid UTF-8"},
		{[]string{string(long)}, done, 1, "target: Translation text too long, at most 262144 bytes are stored"},
	} {
		text, err := NewText(tt.target, tt.state, tt.forms)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%.20q %d: got %q, want %q", tt.target, tt.state, got, tt.want)
		}
		if err == nil && text != (Text{catalog.JoinForms(tt.target), tt.state}) {
			t.Errorf("%q: stored as %v", tt.target, text)
		}
	}
}
