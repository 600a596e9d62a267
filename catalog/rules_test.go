package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
)

func TestCountWords(t *testing.T) {
	for _, c := range []struct {
		source     string
		plain, cjk int
	}{
		{"", 0, 0},
		{"Hello, world!\n", 2, 2},
		{"a-b c_d", 2, 2},
		{"Orangutan has %d banana.\n\x1e\x1eOrangutan has %d bananas.\n", 8, 8},
		{"<unused singular (hash=ab)>\x1e\x1e%d files left", 3, 3},
		{"one\u00a0two\u3000three\u200bfour", 3, 3},
		{"a\x1cb\x1fc", 3, 3},
		{"日本語 test テスト", 3, 7},
		{"日本語、テスト。abc", 1, 9},
		{"한국어 문장", 2, 5},
	} {
		if got := catalog.CountWords(c.source, false); got != c.plain {
			t.Errorf("CountWords(%q, false) = %d, want %d", c.source, got, c.plain)
		}
		if got := catalog.CountWords(c.source, true); got != c.cjk {
			t.Errorf("CountWords(%q, true) = %d, want %d", c.source, got, c.cjk)
		}
	}
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		n, total int64
		empty    catalog.Tenths
		want     catalog.Tenths
	}{
		{0, 0, 1000, 1000},
		{0, 0, 0, 0},
		{1, 3, 1000, 333},
		{2, 3, 1000, 666},
		{1, 2000, 0, 0},
		{1999, 2000, 1000, 999},
		{116, 121, 1000, 958},
		{5, 5, 0, 1000},
	} {
		if got := catalog.Percent(c.n, c.total, c.empty); got != c.want {
			t.Errorf("Percent(%d, %d, %d) = %d, want %d", c.n, c.total, c.empty, got, c.want)
		}
	}
}

func TestTargetForms(t *testing.T) {
	for _, c := range []struct {
		source, target string
		number         int
		want           []string
	}{
		{"one", "jeden", 3, []string{"jeden"}},
		{"one", "", 3, []string{""}},
		{"one\x1e\x1emany", "", 3, []string{"", "", ""}},
		{"one\x1e\x1emany", "a\x1e\x1eb", 3, []string{"a", "b", ""}},
		{"one\x1e\x1emany", "a\x1e\x1eb\x1e\x1ec", 2, []string{"a", "b"}},
		{"one\x1e\x1emany", "a", 0, []string{"a"}},
	} {
		if diff := cmp.Diff(c.want, catalog.TargetForms(c.source, c.target, c.number)); diff != "" {
			t.Errorf("TargetForms(%q, %q, %d): %s", c.source, c.target, c.number, diff)
		}
	}
}

func TestStats(t *testing.T) {
	var s catalog.Stats
	for _, u := range []catalog.Unit{
		{State: catalog.StateEmpty, Words: 1, Chars: 10},
		{State: catalog.StateFuzzy, Words: 2, Chars: 20},
		{State: catalog.StateTranslated, Words: 4, Chars: 40},
		{State: catalog.StateReadOnly, Words: 8, Chars: 80},
	} {
		s.AddUnit(&u)
	}
	want := catalog.Stats{
		Total:      catalog.Count{Units: 4, Words: 15, Chars: 150},
		Translated: catalog.Count{Units: 2, Words: 12, Chars: 120},
		Fuzzy:      catalog.Count{Units: 1, Words: 2, Chars: 20},
		ReadOnly:   catalog.Count{Units: 1, Words: 8, Chars: 80},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}

func TestUsername(t *testing.T) {
	for name, want := range map[string]string{
		"Jana Nováková":    "jana-novakova",
		"  ":               "author",
		"山田太郎":             "山田太郎",
		"A.  B. (bot) <x>": "a-b-bot-x",
		"Đorđe":            "đorđe",
	} {
		if got := catalog.Username(name); got != want {
			t.Errorf("Username(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestDiff(t *testing.T) {
	id := func(n int64) catalog.Identity { return catalog.Identity{Hash: n, Key: n} }
	known := []catalog.Known{
		{ID: 1, Identity: id(1), Text: 1, Meta: 1},
		{ID: 2, Identity: id(2), Text: 1, Meta: 1},
		{ID: 3, Identity: id(3), Text: 1, Meta: 1},
		{ID: 4, Identity: id(4), Text: 1, Meta: 1},
		{ID: 5, Identity: id(5), Text: 1, Meta: 1, Removed: true},
		{ID: 6, Identity: id(6), Text: 1, Meta: 1, Removed: true},
	}
	seen := []catalog.Seen{
		{Identity: id(9), Text: 1, Meta: 1}, // added
		{Identity: id(6), Text: 1, Meta: 1}, // returned
		{Identity: id(4), Text: 1, Meta: 1}, // same, moved up
		{Identity: id(2), Text: 2, Meta: 2}, // updated
		{Identity: id(3), Text: 1, Meta: 2}, // touched
	}
	want := catalog.Delta{
		Added:    []int{0},
		Returned: []catalog.Pair{{Known: 5, Seen: 1}},
		Updated:  []catalog.Pair{{Known: 1, Seen: 3}},
		Touched:  []catalog.Pair{{Known: 2, Seen: 4}},
		Same:     []catalog.Pair{{Known: 3, Seen: 2}},
		Removed:  []int{0},
	}
	got := catalog.Diff(known, seen)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !got.Changed() {
		t.Error("Changed is false")
	}
	same := catalog.Diff(known[:1], []catalog.Seen{{Identity: id(1), Text: 1, Meta: 1}})
	if same.Changed() {
		t.Error("Changed is true of equal units")
	}
}
