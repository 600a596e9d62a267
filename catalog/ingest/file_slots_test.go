package ingest_test

import (
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

func TestSourceTranslationsAndVariants(t *testing.T) {
	pot := po("One", "", "Two", "")
	for name, c := range map[string]struct {
		files    map[string]string
		settings catalog.ComponentSettings
		want     []string
		problems []string
	}{
		"with a POT a file of the source language is reported": {
			files:    map[string]string{"po/app.pot": pot, "po/en.po": po("One", "One!"), "po/cs.po": po("One", "Jedna")},
			settings: catalog.ComponentSettings{NewBase: "po/app.pot"},
			want:     []string{"en=po/app.pot", "cs=po/cs.po"},
			problems: []string{"po/en.po: not served: the source translation is read from new_base po/app.pot; exclude this file by language_regex or remove new_base"},
		},
		"without a POT the file of the source language is the source": {
			files: map[string]string{"po/en.po": po("One", "One!"), "po/cs.po": po("One", "Jedna")},
			want:  []string{"en=po/en.po", "cs=po/cs.po"},
		},
		"without either the first file lends its name": {
			files: map[string]string{"po/de.po": po("One", "Eins"), "po/cs.po": po("One", "Jedna")},
			want:  []string{"en=po/cs.po", "cs=po/cs.po", "de=po/de.po"},
		},
		"a second file of a language has its own code": {
			files: map[string]string{"po/pt_BR.po": po("One", "Um"), "po/pt-br.po": po("One", "Um"), "po/ptbr.po": po("One", "Um")},
			want:  []string{"en=po/pt-br.po", "pt-br=po/pt-br.po", "pt_BR=po/pt_BR.po", "ptbr=po/ptbr.po"},
		},
		"a code twice is reported": {
			files:    map[string]string{"a/cs/x.po": po("One", "1"), "b/cs/x.po": po("One", "2")},
			settings: catalog.ComponentSettings{Filemask: "*/*/x.po"},
			want:     []string{"en=a/cs/x.po", "cs=a/cs/x.po"},
			problems: []string{"b/cs/x.po: not served: language cs is already read from a/cs/x.po; narrow the filemask"},
		},
		"the code source, other codes and templates are no languages": {
			files: map[string]string{"po/source.po": po("One", ""), "po/cs.po": po("One", "Jedna"), "po/cs.old.po": po("One", "Jedna")},
			want:  []string{"en=po/cs.po", "cs=po/cs.po"},
		},
		"one language": {
			files:    map[string]string{"manual/intro.po": po("One", "Uno")},
			settings: catalog.ComponentSettings{Filemask: "manual/intro.po", Language: "es"},
			want:     []string{"en=manual/intro.po", "es=manual/intro.po"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.settings.LanguageRegex = "^[^.]+$"
			w := catalogtest.NewPuller(t, repoWith(t, c.files).URL(), map[string]catalog.ComponentSettings{"app": c.settings})
			report := w.Sync()
			equal(t, c.want, servedFiles(w, "app"), "translations")
			equal(t, c.problems, append([]string(nil), report.Components[0].Problems...), "problems")
		})
	}
}
