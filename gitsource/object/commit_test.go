package object

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

func TestCommit(t *testing.T) {
	u := newUpstream(t)
	tree := u.Tree(files{"x": "1"})
	text := "tree " + tree.String() + "\n" +
		"author Jos\xe9 <jose@example.org> 1600000000 +0530\n" +
		"committer  Evil\x01 Name  <> 99999999999999 -9999\n" +
		"encoding ISO-8859-1\ngpgsig -----BEGIN\n tree of lies\n parent 1\n -----END\n\nSujet \xe9t\xe9\n\nBody\n\n"
	h := u.Object(plumbing.CommitObject, []byte(text))
	s := openStore(t, u.Dir)
	c, err := s.Commit(h)
	gittest.Must(t, err)
	when := time.Unix(1600000000, 0).In(time.FixedZone("", 19800))
	want := Commit{
		Hash: h, Tree: tree, Message: "Sujet été\n\nBody",
		Author:    Signature{"José", "jose@example.org", when},
		Committer: Signature{"Evil Name", "", time.Unix(lastSecond, 0).UTC()},
	}
	if d := cmp.Diff(want, c, cmp.Comparer(func(a, b time.Time) bool { return a.Format(time.RFC3339) == b.Format(time.RFC3339) })); d != "" {
		t.Errorf("commit (-want +got):\n%s", d)
	}
	if c.Subject() != "Sujet été" {
		t.Errorf("subject %q", c.Subject())
	}
	if _, err := s.Commit(tree); err == nil {
		t.Error("a directory was taken for a commit")
	}
}

func FuzzParseObjects(f *testing.F) {
	f.Add([]byte("100644 a\x0001234567890123456789"))
	f.Add([]byte("tree 0123456789012345678901234567890123456789\nauthor A <b> 1 +0000\n\nx"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if list, err := parseTree(data); err == nil {
			for i, e := range list {
				bad := e.Name == "" || e.Name == "." || e.Name == ".." || strings.ContainsAny(e.Name, "/\x00\n\x7f") || !utf8.ValidString(e.Name)
				if bad || i > 0 && list[i-1].Name >= e.Name {
					t.Fatalf("tree entries %q", e.Name)
				}
			}
		}
		if head, err := parseCommit(data); err == nil {
			author, committer := parseSignature(toUTF8(head.author, head.charset)), parseSignature(toUTF8(head.committer, head.charset))
			if y := author.When.Year(); !author.When.IsZero() && (y < 1969 || y > 10000) {
				t.Fatalf("year %d", y)
			}
			if strings.ContainsFunc(author.Name+author.Email+committer.Name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Fatalf("author %q", author)
			}
		}
	})
}

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
