package checks_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/lang"
)

var (
	english = lang.Plural{Number: 2, Formula: "n != 1"}
	czech   = lang.Plural{Number: 3, Formula: "(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2"}
	french  = lang.Plural{Number: 2, Formula: "n > 1"}
)

func set(code string, plural lang.Plural) *checks.Set {
	return checks.New(checks.Options{Language: code, Plural: plural, SourcePlural: english})
}

func names(m checks.Mask) string {
	var all []string
	for id := range m.All() {
		all = append(all, id.String())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestRun holds each rule at strings that fail and at their neighbours that
// do not.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		language, flags, source, target, want string
	}{
		{"de", "", "It works well.", "Es geht gut", "end_stop"},
		{"de", "", "It works well.", "Es geht gut.", ""},
		{"ja", "", "It works well.", "動きます。", ""},
		{"hi", "", "It works well.", "यह काम करता है।", ""},
		{"th", "", "It works well.", "ใช้งานได้", ""},
		{"ar", "", "Really sure?", "متأكد؟", ""},
		{"ar", "", "house", "منـزل", "kashida"},
		{"ar", "", "Ellipse", "بـا", ""},
		{"el", "", "Really sure?", "Σίγουρα;", ""},
		{"hy", "", "Really sure?", "Իսկապե՞ս", "end_question end_stop"},
		{"zh_Hans", "", "Size:", "大小：", ""},
		{"zh_Hans", "", "Size:", "大小", "end_colon"},
		{"eu", "", "Welcome!", "¡Ongi etorri! bai", ""},
		{"de", "", "Wait...", "Warte…", ""},
		{"de", "", "Wait…", "Warte...", "end_ellipsis end_stop"},
		{"de", "", "a &amp;", "b", ""},
		{"de", "", "one;", "eins", "end_semicolon"},
		{"de", "", "\nMenu", "Menü", "begin_newline newline-count"},
		{"de", "", "Menu\n", "Menü", "end_newline newline-count"},
		{"de", "", "  item", " Eintrag", "begin_space"},
		{"de", "", "Name ", "Jmeno", "end_space"},
		{"de", "", "a tree", "ein  Baum", "double_space"},
		{"de", "", `a\nb`, "a b", "escaped_newline"},
		{"de", "", `C:\new and more`, "neues mehr", ""},
		{"de", "", "word", "Wo\u200brt", "zero-width-space"},
		{"km", "", "word", "Wo\u200brt", ""},
		{"fr", "", "Why not: yes", "Pourquoi pas: oui", "punctuation_spacing"},
		{"fr", "", "Why not: yes", "Pourquoi pas\u00a0: oui", ""},
		{"fr_CA", "", "Why not: yes", "Pourquoi pas: oui", ""},
		{"fr", "", "see it", "voir http://example.org", ""},
		{"de", "", "the tree", "der der Baum", "duplicate"},
		{"fr", "", "you", "vous vous", ""},
		{"es", "c-format", "# %s", "Historia de %s (de hoy)", "duplicate"},
		{"ja", "c-format", "%ld of %ld", "%ld %ld 行", ""},
		{"fr", "", "?", "???", "punctuation_spacing"},
		{"de", "c-format", "%s: %d", "%d: %s", "c_format"},
		{"de", "c-format", "%s: %d", "%2$d: %1$s", "c_format"},
		{"de", "c-format", "%1$s: %2$d", "%2$d: %1$s", ""},
		{"de", "", "%s: %d", "%d: %s", ""},
		{"de", "c-format", "100%% of %s", "alles von %s", ""},
		{"de", "python-format", "%(n)s files", "Dateien", "python_format"},
		{"de", "python-format", "%(n)s of %(m)d", "%(m)d von %(n)s", ""},
		{"de", "python-brace-format", "{n} files", "{m} Dateien", "python_brace_format"},
		{"de", "python-brace-format", "{n} {{x}}", "{n} y", ""},
		{"de", "qt-format", "%1 of %2", "%2 von %1", ""},
		{"de", "qt-format", "%1 of %2", "%1", "qt_format"},
		{"de", "max-length:4", "Save", "Speichern", "max-length"},
		{"de", "max-length:4", "Save", "Über", ""},
		{"de", "", "Save the file", "Save the file", "same"},
		{"en_GB", "", "Save the file", "Save the file", ""},
		{"de", "", "Weblate", "Weblate", ""},
		{"de", "", "German (Austria)", "German (Austria)", ""},
		{"de", "", "https://example.org/a", "https://example.org/a", ""},
		{"de", "", "HTTP ERROR", "HTTP ERROR", ""},
		{"de", "c-format", "%s: %d", "%s: %d", ""},
		{"de", "strict-same", "HTTP ERROR", "HTTP ERROR", "same"},
		{"de", "", "[b]bold[/b] text", "fetter Text", "bbcode"},
		{"de", "", "[b]bold[/b] text", "[b]fetter[/b] Text", ""},
		{"de", "", "[b]bold[/b] text", "[i]fetter[/i] Text", "bbcode"},
		{"de", "", "a <b>bold</b> word", "ein <b>fettes</b> Wort", ""},
		{"ja", "", "a <b>bold</b> word", "<b>太い</b>言葉", ""},
		{"he", "", "a <b>bold</b> word", "מילה <b>מודגשת", "xml-invalid"},
		{"he", "", "a <b>bold</b> word", "מילה <i>מודגשת</i>", "xml-tags"},
		{"de", "", "type <Esc> now", "jetzt <Esc tippen", ""},
		{"de", "xml-text", "a word", "ein <Wort", "xml-invalid"},
		{"de", "c-sharp-format", "{0,5:N} of {1}", "{1} von {0,5:N}", ""},
		{"de", "c-sharp-format", "{0} of {1}", "{0} von", "c_sharp_format"},
		{"de", "java-format", "{0,number} x", "{1,number} x", "java_format"},
		{"pl", "object-pascal-format", "%d of %s", "%s z %d", "object_pascal_format"},
		{"pl", "object-pascal-format", "%0:d of %1:s", "%1:s z %0:d", ""},
		{"de", "ruby-format", "%{a} %<b>d", "%<b>d %{a}", ""},
		{"de", "ruby-format", "%{a} x", "%{b} y", "ruby_format"},
		{"ja", "es-format", "${ a } x", "${a} 個", ""},
		{"ja", "es-format", "${a} x", "個", "es_format"},
		{"de", "angularjs-format", "{{ a }} x", "{{b}} y", "angularjs_format"},
		{"de", "ignore-end-stop", "It works well.", "Es geht gut", ""},
		{"de", "ignore-all-checks", "It works well.", "Es  geht gut", ""},
	} {
		s := set(c.language, english)
		u := &checks.Unit{Sources: []string{c.source}, Targets: []string{c.target}, Flags: c.flags, State: catalog.StateFuzzy}
		got := s.Run(u)
		if names(got) != c.want {
			t.Errorf("%s %q → %q (%s): %q, want %q", c.language, c.source, c.target, c.flags, names(got), c.want)
		}
		for _, check := range checks.All() {
			if failures := s.Explain(u, check.ID); (len(failures) > 0) != got.Has(check.ID) {
				t.Errorf("%q → %q: %s: Explain says %v, Run %v", c.source, c.target, check.Name, failures, got.Has(check.ID))
			}
		}
	}
}

func TestPlurals(t *testing.T) {
	source := []string{"one file", "%d files"}
	for _, c := range []struct {
		plural  lang.Plural
		sources []string
		targets []string
		want    string
	}{
		{czech, source, []string{"jeden soubor", "%d soubory", "%d souborů"}, ""},
		{czech, source, []string{"jeden soubor", "soubory", "%d souborů"}, "c_format"},
		{czech, source, []string{"jeden soubor", "%d soubory", ""}, "plurals"},
		{czech, source, []string{"%d x", "%d x", "%d x"}, "same-plurals"},
		{czech, []string{"%d file", "%d files"}, []string{"soubor", "%d soubory", "%d souborů"}, ""},
		{french, []string{"%d file", "%d files"}, []string{"un fichier", "%d fichiers"}, ""},
		{czech, []string{"one", "%d files."}, []string{"jeden", "%d soubory.", "%d souborů."}, ""},
	} {
		u := &checks.Unit{Sources: c.sources, Targets: c.targets, Flags: "c-format", State: catalog.StateTranslated}
		if got := names(set("cs", c.plural).Run(u)); got != c.want {
			t.Errorf("%q: %q, want %q", c.targets, got, c.want)
		}
	}
}

func TestSourceChecks(t *testing.T) {
	for _, c := range []struct{ flags, source, want string }{
		{"", "%d file(s)", "optional_plural"},
		{"", "list(string)", ""},
		{"", "f(s)x", ""},
		{"", "Open...", "ellipsis"},
		{"c-format", "%s in %s", "unnamed_format"},
		{"c-format", "%1$s in %2$s", ""},
		{"", "%s in %s", ""},
	} {
		u := &checks.Unit{IsSource: true, Sources: []string{c.source}, Targets: []string{""}, Flags: c.flags, State: catalog.StateReadOnly}
		if got := names(set("en", english).Run(u)); got != c.want {
			t.Errorf("%q: %q, want %q", c.source, got, c.want)
		}
	}
}

func TestSpans(t *testing.T) {
	u := &checks.Unit{Sources: []string{"größer."}, Targets: []string{"größer  é"}, State: catalog.StateTranslated}
	s := set("cs", english)
	for id, want := range map[checks.ID]checks.Failure{
		checks.EndStop:     {Source: checks.Span{From: 6, To: 7}, Target: checks.Span{From: 8, To: 9}},
		checks.DoubleSpace: {Target: checks.Span{From: 6, To: 8}},
	} {
		if got := s.Explain(u, id); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v, want %+v", id, got, want)
		}
	}
}

// TestStates: facts §11.1.
func TestStates(t *testing.T) {
	for state, want := range map[catalog.State]string{
		catalog.StateEmpty: "", catalog.StateReadOnly: "", catalog.StateFuzzy: "end_stop", catalog.StateTranslated: "end_stop",
	} {
		u := &checks.Unit{Sources: []string{"It works."}, Targets: []string{"x"}, State: state}
		if got := names(set("de", english).Run(u)); got != want {
			t.Errorf("state %d: %q, want %q", state, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	for i, c := range checks.All() {
		id, ok := checks.ByName(c.Name)
		if !ok || id != checks.ID(i) || c.ID != id || id.String() != c.Name || c.Title == "" || c.Description == "" {
			t.Errorf("check %d: %+v", i, c)
		}
	}
	if _, ok := checks.ByName("nothing"); ok {
		t.Error("a check that is none was found")
	}
	// Numbers are stored: these may never change.
	for id, name := range map[checks.ID]string{0: "begin_newline", 5: "end_stop", 18: "duplicate", 22: "c_format", 35: "inconsistent", 39: "long_untranslated"} {
		if id.String() != name {
			t.Errorf("check %d is %s, was %s", id, id, name)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	s := set("cs", czech)
	u := &checks.Unit{
		Sources: []string{"one file.", "%d files."}, Targets: []string{"jeden soubor.", "%d soubory.", "%d souborů."},
		Flags: "c-format", State: catalog.StateTranslated,
	}
	if got := s.Run(u); !got.IsZero() {
		t.Fatal(names(got))
	}
	if n := testing.AllocsPerRun(200, func() { s.Run(u) }); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}
