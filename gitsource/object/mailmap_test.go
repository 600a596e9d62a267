package object

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

const mailmapText = `# comment
Proper Anna <anna@example.org>
Proper Bert <bert@example.org> <B.Old@example.org>
<carl@example.org> <carl@old.example.org>
Proper Dora <dora@example.org> dora <shared@example.org>
Proper Emil <emil@example.org> Emil <shared@example.org>
Shared Desk <shared@example.org>
not a mapping
Broken <x@example.org
Later Anna <ANNA@example.org>
<only@example.org>
`

func FuzzParseMailmap(f *testing.F) {
	f.Add(mailmapText)
	f.Fuzz(func(_ *testing.T, text string) { ParseMailmap(text).Lookup("a", "b") })
}

func TestMailmap(t *testing.T) {
	m := ParseMailmap(mailmapText)
	people := map[string]string{
		"a <anna@example.org>":       "Later Anna <anna@example.org>",
		"b <b.old@example.org>":      "Proper Bert <bert@example.org>",
		"c <carl@old.example.org>":   "c <carl@example.org>",
		"DORA <shared@example.org>":  "Proper Dora <dora@example.org>",
		"Emil <Shared@example.org>":  "Proper Emil <emil@example.org>",
		"Other <shared@example.org>": "Shared Desk <shared@example.org>",
		"f <f@example.org>":          "f <f@example.org>",
		"o <only@example.org>":       "o <only@example.org>",
	}
	for in, want := range people {
		name, email, _, _ := cutPerson(in)
		name, email = m.Lookup(name, email)
		if got := name + " <" + email + ">"; got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
	t.Run("git check-mailmap", func(t *testing.T) {
		dir := t.TempDir()
		gittest.RunGit(t, dir, "init", "-q", "--bare")
		gittest.Must(t, os.WriteFile(filepath.Join(dir, "map"), []byte(mailmapText), 0o600))
		for in, want := range people {
			if got := gittest.RunGit(t, dir, "-c", "mailmap.file="+filepath.Join(dir, "map"), "check-mailmap", in); got != want {
				t.Errorf("git says that %s is %s, not %s", in, got, want)
			}
		}
	})
}
