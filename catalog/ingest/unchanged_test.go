package ingest_test

import (
	"fmt"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// TestNothingChanged: a file that is reordered, rewrapped, encoded otherwise or
// commented otherwise gives no entry (decision 16), pulled or replayed; the last
// commit, which changes one string, gives one.
func TestNothingChanged(t *testing.T) {
	head := func(charset string) string {
		return "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=" + charset + "\\n\"\n\n"
	}
	const (
		long    = "msgid \"A long sentence that goes on\"\nmsgstr \"Dlouhá věta, která pokračuje\"\n\n"
		wrapped = "msgid \"\"\n\"A long sentence \"\n\"that goes on\"\nmsgstr \"\"\n\"Dlouhá věta, \"\n\"která pokračuje\"\n\n"
		plural  = "msgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"%d soubor\"\nmsgstr[1] \"%d soubory\"\n\n"
		empty   = "msgctxt \"menu\"\nmsgid \"Open\"\nmsgstr \"\"\n\n"
	)
	latin2, err := charmap.ISO8859_2.NewEncoder().String(head("ISO-8859-2") + long + plural + empty)
	if err != nil {
		t.Fatal(err)
	}
	versions := []struct{ name, text string }{
		{"first", head("UTF-8") + long + plural + empty},
		{"reordered", head("UTF-8") + empty + plural + long},
		{"rewrapped", head("UTF-8") + wrapped + plural + empty},
		{"encoded otherwise", latin2},
		{"commented", head("UTF-8") + "# translator\n#. extracted\n#: src/a.c:7\n" + long + "#: src/b.c:9\n" + plural + empty + "#~ msgid \"Gone\"\n#~ msgstr \"Pryč\"\n"},
		{"other references and flags", head("UTF-8") + "#: src/z.c:1\n#, no-wrap\n" + long + plural + empty},
		{"with CR LF and another header", "# Title\r\nmsgid \"\"\r\nmsgstr \"Last-Translator: X\\n\"\r\n\"Content-Type: text/plain; charset=UTF-8\\n\"\r\n\r\nmsgid \"A long sentence that goes on\"\r\nmsgstr \"Dlouhá věta, která pokračuje\"\r\n\r\n" + plural + empty},
		{"changed", head("UTF-8") + long + plural + "msgctxt \"menu\"\nmsgid \"Open\"\nmsgstr \"Otevřít\"\n\n"},
	}
	repo := testrepos.Empty(t)
	var hashes []string
	names := map[string]string{}
	for _, v := range versions {
		hash := repo.Commit(t, testrepos.Change{Branch: "main", Message: v.name, Files: map[string]string{"po/cs.po": v.text}})
		hashes = append(hashes, hash)
		names[hash] = v.name
	}
	settings := map[string]catalog.ComponentSettings{"app": {History: catalog.History{Full: true}}}
	for _, road := range []string{"replayed", "pulled"} {
		t.Run(road, func(t *testing.T) {
			if road == "pulled" {
				repo.ForcePush(t, "main", hashes[0])
			}
			w := catalogtest.NewPuller(t, repo.URL(), settings)
			w.Sync()
			if road == "pulled" {
				for _, hash := range hashes[1:] {
					repo.ForcePush(t, "main", hash)
					w.Sync()
				}
			}
			got := map[string]int{}
			w.EachChange(0, func(c *catalog.Change) { got[names[c.Commit]]++ })
			// 51, 48 and three strings in two languages; then the one string.
			if want := map[string]int{"first": 8, "changed": 1}; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("entries %v, want %v", got, want)
			}
		})
	}
}
