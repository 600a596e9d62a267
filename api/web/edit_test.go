package web

import (
	"context"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/web/intl"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// FuzzReadForm: whatever a browser sends as a form is read, and what is done with it before
// the store is asked ends: texts are stored as they were sent, but for the line breaks of
// forms, or refused; a text to copy is one of the page; and a reader is never taken to have
// agreed to a check that the form did not name.
func FuzzReadForm(f *testing.F) {
	for _, body := range []string{
		"do=save&seen=1&target=a", "do=sure:save&asked=end_stop,c_format&target=a%0D%0Ab&target=&fuzzy=1", "copy=source", "copy=stored", "copy=s0", "copy=e-1", "copy=s",
		"copy=s18446744073709551616", "copy=%C4%8D1", "do=accept:9", "do=sure:accept:-1", "do=sure:sure:save", "do=&asked=,,&target=%FF", "target=%0D&target=%0A", "do=reject:x",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		values, err := url.ParseQuery(body)
		if err != nil {
			return
		}
		sent := readForm(values)
		if len(sent.target) != len(values["target"]) {
			t.Fatalf("%d of %d texts", len(sent.target), len(values["target"]))
		}
		for i, text := range sent.target {
			if strings.Contains(text, "\r\n") || strings.ReplaceAll(text, "\n", "") != strings.ReplaceAll(strings.ReplaceAll(values["target"][i], "\r\n", ""), "\n", "") {
				t.Errorf("%q is read as %q", values["target"][i], text)
			}
		}
		text, err := edit.NewText(sent.target, sent.state(), len(sent.target))
		if err == nil && !slices.Equal(catalog.SplitForms(text.Target), sent.target) && len(sent.target) > 0 {
			t.Errorf("%q is stored as %q", sent.target, text.Target)
		}
		o := oneString{
			Unit: catalog.Unit{Source: catalog.JoinForms([]string{"one", "many"}), Target: "jeden"}, Form: &editForm{Fields: make([]field, 3), Status: 200},
			Suggestions: []store.Suggestion{{Target: "první"}}, Elsewhere: []said{{Target: "jinde"}},
		}
		o.Row.PluralNumber = 3
		if sent.copy != "" {
			if list, ok := o.textOf(sent.copy); ok != (len(list) > 0) {
				t.Errorf("copy %q: %q", sent.copy, list)
			}
		}
		o.Form.ask(checks.Mask{}.With(checks.CheckGlossary), &sent)
		agreed := sent.sure && slices.Contains(strings.Split(sent.asked, ","), checks.All()[checks.CheckGlossary].Name)
		if (o.Form.Asks == nil) != agreed || (o.Form.Status == 200) != agreed {
			t.Errorf("asked %q, sure %t: %+v", sent.asked, sent.sure, o.Form)
		}
	})
}

// TestFindFails: a wrong search finds nothing; one that cannot be answered now is
// an error, or the page would be kept without them.
func TestFindFails(t *testing.T) {
	t.Parallel()
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": catalogtest.PO("Open", "Otevřít")}})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	err := w.DB.Read(t.Context(), func(ctx context.Context, snap *store.Snapshot) error {
		row, err := snap.Translation(ctx, "demo", "app", "cs")
		if err != nil {
			return err
		}
		count := func(ctx context.Context, q string) (n int64, err error) {
			req := httptest.NewRequest("GET", "/?"+url.Values{"q": {q}}.Encode(), nil)
			r := rest.NewRequest(req, nil, nil)
			r.Params = rest.ParseQuery(req.URL.RawQuery)
			_, err = find(ctx, snap, r, &row, func(count int64) (int, int) { n = count; return 0, 5 })
			_, err = wrongQuery(err)
			return n, err
		}
		ended, end := context.WithCancel(ctx)
		end()
		for _, tt := range []struct {
			ctx    context.Context
			q      string
			none   bool
			failed bool
		}{{ctx, "state:translated", false, false}, {ctx, "state:", true, false}, {ctx, "(", true, false}, {ended, "state:>=translated", true, true}} {
			if n, err := count(tt.ctx, tt.q); (n == 0) != tt.none || (err != nil) != tt.failed {
				t.Errorf("%s: %d strings, %v", tt.q, n, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRefusalsInWords: what a text is refused for is said in the reader's language, with the label
// of its field, and of an empty field only that.
func TestRefusalsInWords(t *testing.T) {
	t.Parallel()
	table, err := intl.New()
	must(t, err)
	for _, c := range []struct{ flag, source, target, english, german string }{
		{"c-format", "%s and %d", "%s", "Placeholders: 1 here, 2 in the source.", "Zahl der Platzhalter: 1, in der Quelle 2."},
		{"c-format", "%s", "%d", "Its placeholder 1 is of another kind than in the source.", "Sein Platzhalter 1 ist von anderer Art als in der Quelle."},
		{"c-format", "%s", "%1$s %s", "It mixes numbered or named placeholders with others.", "Er mischt nummerierte oder benannte Platzhalter mit anderen."},
		{"c-format", "%s", "%_", "It has a placeholder that is none.", "Er hat einen Platzhalter, der keiner ist."},
		{"python-brace-format", "{name}", "{nom}", "It uses {nom}, which the source does not.", "Er verwendet {nom}, die Quelle nicht."},
		{"python-brace-format", "{name}", "Name", "It does not use {name}.", "Er verwendet {name} nicht."},
		{"c-format", "%d %s\x1e\x1e%d %ss", "%d %s\x1e\x1e", "second: It is empty.", "second: Das Feld ist leer."},
		{"", "Open", "\x1e\x1eotevřít", "The first field is empty.", "Das erste Feld ist leer."},
		{"", "Open", "a\x01", "It has the control character U+0001.", "Er hat das Steuerzeichen U+0001."},
		{"", "Open", strings.Repeat("x", edit.MaxText+1), "It is longer than 262144 bytes.", "Er ist länger als 262144 Bytes."},
		{"qt-format", "%1", "%L1", "It uses the flag L or a number of two digits, which the source does not.", "Er verwendet das Zeichen L oder eine zweistellige Nummer, die Quelle nicht."},
	} {
		text, refused := edit.NewText(catalog.SplitForms(c.target), catalog.StateTranslated, len(catalog.SplitForms(c.target)))
		if refused == nil {
			refused = edit.CheckUnit(&catalog.Unit{Source: c.source, Flags: c.flag}, text, nil)
		}
		if refused == nil {
			t.Fatalf("%q is not refused", c.target)
		}
		list := []field{{Label: "first", Text: "x"}, {Label: "second"}}
		for tag, want := range map[string]string{"en": c.english, "de": c.german} {
			told, detail := toldRefusal(&view{L: table.Named(tag)}, list, refused)
			if !strings.HasSuffix(told, ": "+want) || detail != "" {
				t.Errorf("%.20q, %v: %q %q, want %q", c.target, refused, told, detail, want)
			}
		}
	}
}
