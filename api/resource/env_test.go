package resource

import (
	"encoding/json"
	"testing"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/lang"
)

// TestLanguageOfTranslation: the table's language, a new language for an
// unknown code, a variant for a second file (docs/compatibility.md#languages).
func TestLanguageOfTranslation(t *testing.T) {
	t.Parallel()
	table, err := lang.New()
	if err != nil {
		t.Fatal(err)
	}
	e := &Env{Languages: table}
	for code, want := range map[string][3]string{
		"cs":    {"cs", "Czech", "ltr"},
		"ar":    {"ar", "Arabic", "rtl"},
		"cs_CZ": {"cs_CZ", "Czech", "ltr"},
		"qqq":   {"qqq", "qqq (generated)", "ltr"},
	} {
		var l struct {
			Code, Name, Direction string
			Aliases               []string
			Plural                struct{ ID int }
		}
		text := wire.NewLanguage(wire.Links{Base: "http://x", Format: "api"}, e.Language(code)).Encoded()
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		if got := [3]string{l.Code, l.Name, l.Direction}; got != want || l.Aliases == nil || l.Plural.ID == 0 {
			t.Errorf("%s: %s", code, text)
		}
	}
}
