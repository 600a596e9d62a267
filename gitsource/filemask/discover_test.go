package filemask

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/repoglot/repoglot/gitsource/object"
	"pgregory.net/rapid"
)

// known is a small language table.
func known(code string) (string, bool) {
	switch code {
	case "de", "fr", "cs", "my", "br", "pt_BR", "zh_Hans":
		return code, true
	case "pt-br":
		return "pt_BR", true
	}
	return "", false
}

// saying makes a table of the languages that files name.
func saying(says map[string]string) DiscoverOptions {
	return DiscoverOptions{Known: known, Language: func(f object.File) string { return says[f.Path] }}
}

func snapshotOf(paths ...string) []object.File {
	var list []object.File
	for _, p := range paths {
		list = append(list, object.File{Path: p})
	}
	return list
}

// shown writes a discovery: sets with their rules, then the files that are left.
func shown(d Discovery) []string {
	var list []string
	for _, f := range d.Sets {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %d %d %d %s %s %s", f.Mask, f.Components, f.Languages, f.Files, f.NewBase, f.Language, f.LanguageRegex)))
	}
	for _, p := range d.Left {
		list = append(list, "left "+p)
	}
	return list
}

func TestDiscoverLayouts(t *testing.T) {
	for name, c := range map[string]struct {
		paths []string
		says  map[string]string
		want  []string
	}{
		"the whole name is no language": {
			[]string{"l/my-app-de.po", "l/my-app-fr.po"}, nil, []string{"l/my-app-*.po 1 2 2"},
		},
		"the longest code that is one": {
			[]string{"l/wp-pt-br.po", "l/wp-de.po"}, nil, []string{"l/wp-*.po 1 2 2"},
		},
		"of three a mask each": {
			[]string{"de/a.po", "de/b.po", "de/c.po"}, nil, []string{"*/a.po 1 1 1", "*/b.po 1 1 1", "*/c.po 1 1 1"},
		},
		"of four one": {
			[]string{"de/a.po", "de/b.po", "de/c.po", "fr/d/e.po"}, nil, []string{"*/{component}.po 4 2 4"},
		},
		"of four one, though something else is there": {
			[]string{"de/a.po", "de/b.po", "de/c.po", "fr/d.po", "tests/x.po", "source/y.po"},
			nil,
			[]string{"*/{component}.po 4 2 4   " + plainCodes, "left source/y.po", "left tests/x.po"},
		},
		"not where another layout would be taken in": {
			[]string{"x/de/a.po", "x/de/b.po", "x/de/c.po", "x/de/d.po", "x/de/LC_MESSAGES/e.po"},
			nil,
			[]string{"x/*/LC_MESSAGES/e.po 1 1 1", "x/*/a.po 1 1 1", "x/*/b.po 1 1 1", "x/*/c.po 1 1 1", "x/*/d.po 1 1 1"},
		},
		"apps": {
			[]string{"a/po/de.po", "b/po/de.po", "c/d/po/fr.po", "e/po/de.po", "po/de.po", "a/po/a.pot", "b/po/b.pot", "c/d/po/d.pot"},
			nil,
			[]string{"{component}/po/*.po 4 2 4 {component}/po/{component_name}.pot", "po/*.po 1 1 1"},
		},
		"apps with a template of one name": {
			[]string{"m/a/po/de.po", "m/b/po/de.po", "m/c/po/fr.po", "m/d/po/de.po", "m/a/po/x.pot", "m/b/po/x.pot", "m/c/po/x.pot"},
			nil,
			[]string{"m/{component}/po/*.po 4 2 4 m/{component}/po/x.pot"},
		},
		"templates of few": {
			[]string{"de/a.po", "de/b.po", "de/c.po", "de/d.po", "pot/a.pot"}, nil, []string{"*/{component}.po 4 1 4"},
		},
		"what the file says wins over a path like another": {
			[]string{"c-api/my.po", "c-api/other.po"},
			map[string]string{"c-api/my.po": "fr", "c-api/other.po": "fr"},
			[]string{"{component}.po 2 1 2  fr"},
		},
		"several languages in one place": {
			[]string{"t/a.po", "t/b.po", "m/x.po", "m/y/z.po"},
			map[string]string{"t/a.po": "de", "t/b.po": "fr", "m/x.po": "cs", "m/y/z.po": "cs"},
			[]string{"m/{component}.po 2 1 2  cs", "t/a.po 1 1 1  de", "t/b.po 1 1 1  fr"},
		},
		"samples": {
			[]string{"t/a.po", "t/b.po", "t/c.po", "t/d.po"},
			map[string]string{"t/a.po": "de", "t/b.po": "fr"},
			[]string{"left t/a.po", "left t/b.po", "left t/c.po", "left t/d.po"},
		},
		"names that masks cannot hold": {
			[]string{"po/de.po", "po/{x}.po", "a*/de.po", "../de.po", "po/\xff.po"},
			nil,
			[]string{"po/*.po 1 1 1", "left ../de.po", "left a*/de.po", "left po/{x}.po", "left po/\xff.po"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := shown(Discover(snapshotOf(c.paths...), saying(c.says)))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	o := saying(nil)
	o.Default = "de"
	if diff := cmp.Diff([]string{"{component}.po 2 1 2  de"}, shown(Discover(snapshotOf("intro.po", "a/use.po"), o))); diff != "" {
		t.Errorf("a default (-want +got):\n%s", diff)
	}
}

// TestDiscoverIsExact: in any tree every file is in one set or is left,
// and a set selects as many files as it says.
func TestDiscoverIsExact(t *testing.T) {
	part := rapid.SampledFrom([]string{"de", "fr", "pt_BR", "cs.x", "de.UTF-8", "po", "locale", "LC_MESSAGES", "app", "my-app", "x", "source", "a-de", "pot"})
	rapid.Check(t, func(t *rapid.T) {
		var files []object.File
		says := map[string]string{}
		seen := map[string]bool{}
		for range rapid.IntRange(0, 40).Draw(t, "files") {
			p := strings.Join(rapid.SliceOfN(part, 1, 5).Draw(t, "path"), "/") + rapid.SampledFrom([]string{".po", ".po", ".pot"}).Draw(t, "kind")
			if seen[p] {
				continue
			}
			seen[p] = true
			files = append(files, object.File{Path: p})
			says[p] = rapid.SampledFrom([]string{"", "de", "fr"}).Draw(t, "language")
		}
		d := Discover(files, saying(says))
		owner := map[string]string{}
		for _, p := range d.Left {
			owner[p] = "left"
		}
		for _, f := range d.Sets {
			regex, err := CompileLanguageRegex(f.LanguageRegex)
			if err != nil {
				t.Fatal(err)
			}
			n, templates := 0, map[string]bool{}
			for _, file := range files {
				if _, ok := f.Mask.Select(file.Path, Rules{LanguageRegex: regex, Language: f.Language}); !ok {
					continue
				}
				n++
				if m, _ := f.Mask.Select(file.Path, Rules{LanguageRegex: regex, Language: f.Language}); f.Mask.HasComponent() && f.NewBase != "" && slices.ContainsFunc(files, func(o object.File) bool { return o.Path == Fill(f.NewBase, m.Component) }) {
					templates[m.Component] = true
				}
				if other := owner[file.Path]; other != "" {
					t.Fatalf("%s belongs to %s and %s", file.Path, other, f.Mask)
				}
				owner[file.Path] = f.Mask.String()
			}
			if n != f.Files || n == 0 {
				t.Fatalf("%s selects %d files, says %d", f.Mask, n, f.Files)
			}
			if len(templates) != f.Templates || f.NewBase != "" && f.Mask.HasComponent() && f.Templates == 0 {
				t.Fatalf("%s: %d components have the template %s, says %d", f.Mask, len(templates), f.NewBase, f.Templates)
			}
		}
		for _, file := range files {
			if strings.HasSuffix(file.Path, ".po") && owner[file.Path] == "" {
				t.Fatalf("%s is neither served nor left", file.Path)
			}
		}
	})
}

// TestDiscoverBounds: a hostile tree takes some seconds at most, not hours, and
// makes a bounded number of sets.
func TestDiscoverBounds(t *testing.T) {
	var files []object.File
	for i := range 8_000 {
		files = append(files, object.File{Path: fmt.Sprintf("de/a%d/b-%d.po", i, i)}, object.File{Path: fmt.Sprintf("x%d/de/y%d/LC_MESSAGES/de.po", i, i)}, object.File{Path: fmt.Sprintf("z%d-de.po", i)})
	}
	d := Discover(files, DiscoverOptions{Language: func(object.File) string { return "de" }})
	if len(d.Sets) > 2*maxLayouts {
		t.Errorf("%d sets", len(d.Sets))
	}
}

func TestDiscoverKinds(t *testing.T) {
	for name, c := range map[string]struct {
		paths []string
		want  []string
	}{
		"gettext":   {[]string{"po/de.po", "po/pt_BR.po", "po/sr@latin.po", "po/app.pot", "src/x.c"}, []string{"po/*.po ← po/app.pot, 3 languages, 3 files"}},
		"two pots":  {[]string{"po/de.po", "po/a.pot", "po/b.pot"}, []string{"po/*.po ← , 1 languages, 1 files"}},
		"django":    {[]string{"a/locale/de/LC_MESSAGES/django.po", "a/locale/cs/LC_MESSAGES/django.po", "a/locale/de/LC_MESSAGES/djangojs.po", "a/locale/django.pot"}, []string{"a/locale/*/LC_MESSAGES/django.po ← a/locale/django.pot, 2 languages, 2 files", "a/locale/*/LC_MESSAGES/djangojs.po ← , 1 languages, 1 files"}},
		"sphinx":    {[]string{"locales/de/LC_MESSAGES/a.po", "locales/de/LC_MESSAGES/b.po", "locales/de/LC_MESSAGES/c.po", "locales/de/LC_MESSAGES/d.po", "locales/de/LC_MESSAGES/e/f.po"}, []string{"locales/*/LC_MESSAGES/{component}.po ← , 1 languages, 5 files"}},
		"wordpress": {[]string{"languages/shop-de_DE.po", "languages/shop-cs_CZ.po", "languages/shop.pot"}, []string{"languages/shop-*.po ← languages/shop.pot, 2 languages, 2 files"}},
		"by lang":   {[]string{"po/de/app.po", "po/cs/app.po", "po/app.pot"}, []string{"po/*/app.po ← po/app.pot, 2 languages, 2 files"}},
		"help":      {[]string{"help/de/de.po", "help/cs/cs.po"}, []string{"help/*/*.po ← , 2 languages, 2 files"}},
		"root":      {[]string{"de.po", "cs.po", "x.pot"}, []string{"*.po ← x.pot, 2 languages, 2 files"}},
		"none":      {[]string{"functions.po", "a*b/de.po", "../de.po"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range Discover(snapshotOf(c.paths...), DiscoverOptions{}).Sets {
				got = append(got, fmt.Sprintf("%s ← %s, %d languages, %d files", f.Mask, f.NewBase, f.Languages, f.Files))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("masks differ (-want +got):\n%s", d)
			}
		})
	}
}
