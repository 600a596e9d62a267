package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
)

// TestAppendedTranslations: lists of translations are the same whether what they share
// is encoded once or each time.
func TestAppendedTranslations(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return anyText().Draw(t, name) }
		l := Links{Base: "http://x&<\">", Format: "api"}
		languages := []*Language{nil, NewLanguage(l, lang.Language{Code: "cs", Name: text("language")}), NewLanguage(l, lang.Language{Code: "de"})}
		within := []*Component{nil}
		for range rapid.IntRange(0, 2).Draw(t, "components") {
			c := NewComponent(l, &catalog.Component{Slug: text("slug"), Settings: catalog.ComponentSettings{Name: text("name")}}, "p&")
			c.SourceLanguage = languages[1]
			within = append(within, c)
		}
		var list []*Translation
		for range rapid.IntRange(0, 4).Draw(t, "translations") {
			tr := catalog.Translation{ID: rapid.Int64().Draw(t, "id"), Language: "a" + text("code"), Filename: text("file"), LastAuthor: text("author")}
			tr.Stats.Total.Units = rapid.Int64Range(0, 9).Draw(t, "units")
			list = append(list, NewTranslation(l, rapid.SampledFrom(languages).Draw(t, "language"), &tr, &catalog.Translation{}, "p&", "c", rapid.SampledFrom(within).Draw(t, "within")))
		}
		want := &List{Count: 3, Results: list}
		if list == nil {
			want.Results = []*Translation{}
		}
		plain, err := JSON(want, 0)
		if err != nil {
			t.Fatal(err)
		}
		page := NewTranslationPage(list)
		if diff := cmp.Diff(string(plain), string(AppendList(nil, want, page))); diff != "" {
			t.Fatalf("(-each time +once)\n%s", diff)
		}
	})
}
