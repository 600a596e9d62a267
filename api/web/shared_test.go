package web_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

// The helpers of others by short names.
var (
	must    = gittest.Must
	request = catalogtest.Request
	send    = catalogtest.Send
)

const browser = catalogtest.Browser

// bare makes a server of a store.
func bare(s *catalogtest.Store, opts api.Options) *api.Server {
	opts.DB, opts.Languages, opts.Logger = s.DB, s.Languages, catalogtest.Logger(s.TB, slog.LevelError)
	if opts.Now == nil {
		opts.Now = catalogtest.Now
	}
	return api.New(opts)
}

// oddCzech are strings with every field, character and state that is easy to show wrongly.
const oddCzech = `msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=3; plural=n==1 ? 0 : n>=2 && n<=4 ? 1 : 2;\n"

#. TRANSLATORS: one
#. two
#: src/a.c:1 src/b.c:2
#, c-format, no-wrap
msgid "Hello, <b>world</b> & all!\n"
msgstr "Ahoj, <b>světe</b> & vy!\n"

#: src/a.c:3
msgid "%d banana"
msgid_plural "%d bananas"
msgstr[0] "%d banán"
msgstr[1] "%d banány"
msgstr[2] "%d banánů"

msgid "%d file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""
msgstr[2] ""

msgctxt "menu"
msgid "Open"
msgstr "Otevřít"

#, fuzzy
#| msgid "Old text"
msgid "New text"
msgstr "Starý text"

msgid "Untranslated."
msgstr ""

msgid "Ends."
msgstr "Končí"

#, priority:120, read-only
msgid "Do not touch"
msgstr "Do not touch"

msgid "quote\" back\\slash\ttab 日本語 👍"
msgstr "<i>control</i>\001"
`

// demo is a store with some of everything: the components app, which Karel changed last,
// and docs, of another repository.
func demo(t *testing.T) *catalogtest.Store {
	t.Helper()
	var czech strings.Builder
	czech.WriteString(oddCzech)
	for i := range 36 {
		fmt.Fprintf(&czech, "\n#: src/m.c:%d\nmsgid \"Message %d\"\nmsgstr \"Zpráva %d\"\n", 10*i, i, i)
	}
	app, docs := gittest.NewUpstream[object.Hash](t), gittest.NewUpstream[object.Hash](t)
	files := gittest.Files{"po/app.pot": oddCzech, "po/cs.po": czech.String(), "po/cs_CZ.po": oddCzech, "po/sr@latin.po": catalogtest.PO(), "po/de.po": catalogtest.PO()}
	docs.Push("Mallory", gittest.Files{"po/cs.po": catalogtest.PO("One", "Jedna")})
	p := catalogtest.NewPuller(t, app.Dir, nil)
	branch, specs, _ := catalogtest.BranchOf(app.Dir, "main", map[string]catalog.ComponentSettings{"app": {Name: "App", NewBase: "po/app.pot"}})
	other, more, _ := catalogtest.BranchOf(docs.Dir, "main", map[string]catalog.ComponentSettings{"docs": {}})
	project := catalog.Project{Slug: "demo", Settings: catalog.ProjectSettings{Name: "Demo <project>", Web: "https://example.org/?a=1&b=2"}}
	must(t, p.DB.Configure(t.Context(), []catalog.Project{project}, append(specs, more...), nil))
	p.Branch = other
	p.Sync()
	p.Branch = branch
	first := app.Push("Jane", files)
	p.Sync()
	files["po/cs.po"] = strings.Replace(czech.String(), "Otevřít", "Otevři", 1)
	delete(files, "po/de.po")
	app.Push("Karel", files, first)
	p.Sync()
	return p.Store
}
