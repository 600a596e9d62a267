package gitsource

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
)

func TestParseHash(t *testing.T) {
	id := "0123456789abcdef0123456789ABCDEF01234567"
	h, err := ParseHash(id)
	if err != nil || h.String() != strings.ToLower(id) || h.IsZero() || h.Compare(Hash{}) != 1 {
		t.Errorf("%v, %v", h, err)
	}
	for _, bad := range []string{"", "01", id + "0", strings.Repeat("g", 40), strings.Repeat("0", 64)} {
		if _, err := ParseHash(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestSnapshot(t *testing.T) {
	u := newUpstream(t)
	c := u.commit("A", files{
		"po/de.po": "1", "po/cs.po": "->de.po", "po/abs.po": "->/etc/passwd", "po/out.po": "->../../x", "po/up.po": "->../po/./de.po",
		"po-x/a.po": "2", "po.po": "3", "sub": "@", "deep/a/b/c.po": "4", "skip/x.po": "5",
	})
	u.set("main", c)
	r := reader(t, u.mirror(Options{}))
	var entered []string
	list, err := r.Snapshot(context.Background(), c, poMask.Want, func(dir string) bool {
		entered = append(entered, dir)
		return dir == "skip"
	})
	must(t, err)
	blob := func(text string) Hash { return Hash(plumbing.ComputeHash(plumbing.BlobObject, []byte(text))) }
	want := []File{
		{Path: "deep/a/b/c.po", Blob: blob("4")},
		{Path: "po-x/a.po", Blob: blob("2")},
		{Path: "po.po", Blob: blob("3")},
		{Path: "po/abs.po", Blob: blob("/etc/passwd"), Link: "/etc/passwd"},
		{Path: "po/cs.po", Blob: blob("de.po"), Link: "de.po", Target: "po/de.po"},
		{Path: "po/de.po", Blob: blob("1")},
		{Path: "po/out.po", Blob: blob("../../x"), Link: "../../x"},
		{Path: "po/up.po", Blob: blob("../po/./de.po"), Link: "../po/./de.po", Target: "po/de.po"},
	}
	if d := cmp.Diff(want, list); d != "" {
		t.Errorf("snapshot (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"deep", "deep/a", "deep/a/b", "po", "po-x", "skip"}, entered); d != "" {
		t.Errorf("directories asked for:\n%s", d)
	}
	regular, links := WithoutLinks(list)
	if len(regular) != 4 || len(links) != 4 {
		t.Errorf("%d files, %d links", len(regular), len(links))
	}
	if _, err := r.Snapshot(context.Background(), Hash{5}, nil, nil); !errors.Is(err, ErrUnknownCommit) {
		t.Errorf("unknown commit: %v", err)
	}
	if _, err := r.Snapshot(context.Background(), blob("4"), nil, nil); err == nil {
		t.Error("a file was taken for a commit")
	}
}

func TestHostileTrees(t *testing.T) {
	u := newUpstream(t)
	b, other := u.blob("good"), u.blob("bad")
	good := u.rawTree(raw{"100644", "x.po", b})
	evil := u.rawTree(
		raw{"100644", "z.po", b}, raw{"100644", "a.po", b}, // not sorted
		raw{"100644", "a.po", other}, // a second time
		raw{"40000", "..", good}, raw{"40000", ".", good}, raw{"40000", "", good}, raw{"40000", ".GIT", good}, raw{"40000", "a/b", good},
		raw{"100644", "../up.po", b}, raw{"160000", "sub.po", b}, raw{"123456", "odd.po", b},
		raw{"100664", "old.po", b}, raw{"040000", "padded", good},
		raw{"100644", "\xff.po", b}, raw{"100644", "back\\slash.po", b}, raw{"100644", "new\nline.po", b},
	)
	c := u.commitTree("A", evil)
	u.set("main", c)
	r := reader(t, u.mirror(Options{}))
	po := mask(t, "{component}.po")
	masks := MatchMasks([]Filemask{po})
	// What must not be read is listed, so that it can be reported, under a
	// name that is fit to be shown and that no mask matches.
	want := files{
		"a.po": "good", "z.po": "good", "old.po": "good", "padded/x.po": "good",
		`\x2e\x2e/x.po`: "refused", `\x2e/x.po`: "refused", `\x00/x.po`: "refused", `\x2e\x47\x49\x54/x.po`: "refused",
		`a\x2fb/x.po`: "refused", `..\x2fup.po`: "refused", `\xff.po`: "refused", `back\x5cslash.po`: "refused", `new\x0aline.po`: "refused",
	}
	got := files{}
	for p, text := range contents(t, r, c, masks) {
		if po.Refuses(p) != "" {
			text = "refused"
			if _, ok := po.Match(p); ok || (strings.Contains(p, "\n") || strings.Contains(p, "\xff")) {
				t.Errorf("%q, matches: %v", p, ok)
			}
		}
		got[p] = text
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("snapshot (-want +got):\n%s", d)
	}
	clear(got)
	for _, s := range steps(t, r, Hash{}, c, masks) {
		for _, c := range s.Changes {
			got[c.Path] = "good"
			if po.Refuses(c.Path) != "" {
				got[c.Path] = "refused"
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("steps (-want +got):\n%s", d)
	}

	for name, data := range map[string]string{"cut": "100644 a\x00abc", "no name": "100644", "long mode": "1000000000644 a\x00" + strings.Repeat("x", 20)} {
		bad := u.commitTree("B", u.object(plumbing.TreeObject, []byte(data)))
		if _, err := initGeneration(t, u, bad).Snapshot(context.Background(), bad, nil, nil); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s tree: %v", name, err)
		}
	}
}

func TestTreesAreBounded(t *testing.T) {
	u := newUpstream(t)
	tree := u.rawTree(raw{"100644", "x.po", u.blob("1")})
	for range 3 * maxDepth { // deeper than any real tree
		tree = u.rawTree(raw{"40000", "d", tree}, raw{"100644", "x.po", u.blob("1")})
	}
	deep := u.commitTree("Deep", tree)
	bomb := u.rawTree(raw{"100644", "x", u.blob("1")})
	for range 12 { // 20^12 paths in 12 objects
		var entries []raw
		for i := range 20 {
			entries = append(entries, raw{"40000", fmt.Sprintf("d%02d", i), bomb})
		}
		bomb = u.rawTree(entries...)
	}
	bombed := u.commitTree("Bomb", bomb, deep)
	u.set("main", bombed)
	r := reader(t, u.mirror(Options{}))
	list, err := r.Snapshot(context.Background(), deep, nil, nil)
	if err != nil || len(list) != maxDepth+1 {
		t.Errorf("deep tree: %d files, %v", len(list), err)
	}
	if _, err := r.Snapshot(context.Background(), bombed, poMask.Want, nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("tree bomb: %v", err)
	}
	for _, err := range r.Steps(context.Background(), deep, bombed, poMask) {
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("tree bomb in a step: %v", err)
		}
	}
	// A mask keeps out of it.
	masks := MatchMasks([]Filemask{mask(t, "po/*.po")})
	if list, err := r.Snapshot(context.Background(), bombed, masks.Want, masks.Prune); err != nil || len(list) != 0 {
		t.Errorf("with a mask: %v, %v", list, err)
	}
}

func TestBlobLimit(t *testing.T) {
	u := newUpstream(t)
	c := u.commit("A", files{"small": "12345", "big": strings.Repeat("x", 3<<20)})
	u.set("main", c)
	r := reader(t, u.mirror(Options{}))
	list, err := r.Snapshot(context.Background(), c, nil, nil)
	must(t, err)
	big, small := list[0].Blob, list[1].Blob
	if _, err := r.Blob(context.Background(), big, 1<<20); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "3145728 bytes, limit 1048576") {
		t.Errorf("too large: %v", err)
	}
	if data, err := r.Blob(context.Background(), big, 3<<20); err != nil || len(data) != 3<<20 {
		t.Errorf("just at the limit: %d, %v", len(data), err)
	}
	if data, err := r.Blob(context.Background(), small, 0); err != nil || string(data) != "12345" {
		t.Errorf("%q, %v", data, err)
	}
	if n, err := r.Size(context.Background(), big); err != nil || n != 3<<20 {
		t.Errorf("size %d, %v", n, err)
	}
	for _, h := range []Hash{{}, {1}, c} {
		if _, err := r.Blob(context.Background(), h, 0); !errors.Is(err, ErrUnknownObject) {
			t.Errorf("%s: %v, want ErrUnknownObject", h, err)
		}
	}
}

func TestDamagedObjects(t *testing.T) {
	u := newUpstream(t)
	c := u.commit("A", files{"x": strings.Repeat("text ", 1000)})
	u.set("main", c)
	r := reader(t, u.mirror(Options{}))
	list, err := r.Snapshot(context.Background(), c, nil, nil)
	must(t, err)
	name := filepath.Join(r.objects.dirs[0], looseName(list[0].Blob))
	whole, err := os.ReadFile(name)
	must(t, err)
	var lying bytes.Buffer // says 10 bytes, holds 4 MiB
	z := zlib.NewWriter(&lying)
	_, _ = z.Write([]byte("blob 10\x00"))
	for range 4 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	must(t, z.Close())
	must(t, os.Remove(name))
	for what, data := range map[string][]byte{"empty": nil, "cut": whole[:len(whole)/2], "garbage": []byte("garbage"), "lying": lying.Bytes(), "flipped": flip(whole)} {
		must(t, os.WriteFile(name, data, 0o600))
		r, err := openReader(filepath.Dir(r.objects.dirs[0]), Head{}, func() {})
		must(t, err)
		got, err := r.Blob(context.Background(), list[0].Blob, 0)
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %d bytes, %v; want ErrCorrupt", what, len(got), err)
		}
		must(t, r.Close())
	}
}

func flip(data []byte) []byte {
	data = bytes.Clone(data)
	data[len(data)/2] ^= 0x55
	return data
}

func TestSourceObjectsAreChecked(t *testing.T) {
	u := newUpstream(t)
	c1 := u.commit("A", files{"x": "1"})
	u.set("main", c1)
	m := u.mirror(Options{})
	_, err := m.Fetch(context.Background())
	must(t, err)
	blob := u.blob("the text that the id is of")
	c2 := u.commit("B", files{"x": "the text that the id is of"}, c1)
	other := u.blob("another text")
	data, err := os.ReadFile(filepath.Join(u.dir, "objects", looseName(other)))
	must(t, err)
	name := filepath.Join(u.dir, "objects", looseName(blob))
	must(t, os.Remove(name))
	must(t, os.WriteFile(name, data, 0o600))
	u.set("main", c2)
	c := &objectCopy{from: openObjects(u.dir), to: openObjects(m.dir), target: filepath.Join(t.TempDir(), "o"), limit: 100, done: map[Hash]struct{}{}}
	if err := c.blob(context.Background(), blob); !errors.Is(err, errSource) {
		t.Errorf("a forged object: %v", err)
	}
}

func TestCommit(t *testing.T) {
	u := newUpstream(t)
	tree := u.tree(files{"x": "1"})
	text := "tree " + tree.String() + "\n" +
		"author Jos\xe9 <jose@example.org> 1600000000 +0530\n" +
		"committer  Evil\x01 Name  <> 99999999999999 -9999\n" +
		"encoding ISO-8859-1\ngpgsig -----BEGIN\n tree of lies\n parent 1\n -----END\n\nSujet \xe9t\xe9\n\nBody\n\n"
	h := u.object(plumbing.CommitObject, []byte(text))
	u.set("main", h)
	r := reader(t, u.mirror(Options{}))
	c, err := r.Commit(context.Background(), h)
	must(t, err)
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
	if _, err := r.Commit(context.Background(), tree); err == nil {
		t.Error("a directory was taken for a commit")
	}
}

func TestShallowSource(t *testing.T) {
	u := newUpstream(t)
	lost := Hash{7, 7}
	cut := u.commit("Cut", files{"de.po": "1"}, lost)
	c2 := u.commit("B", files{"de.po": "2"}, cut)
	u.set("main", c2)
	u.write("shallow", cut.String()+"\n")
	m := u.mirror(Options{})
	r := checkFetch(t, m, "main", files{"de.po": "2"})
	if d := cmp.Diff([]string{"Cut: +de.po | Cut[]", "B: ~de.po | B[-1]"}, describe(steps(t, r, Hash{}, c2, poMask))); d != "" {
		t.Errorf("steps (-want +got):\n%s", d)
	}
	c3 := u.commit("C", files{"de.po": "3"}, c2)
	u.set("main", c3)
	r = checkFetch(t, m, "main", files{"de.po": "3"})
	if got := describe(steps(t, r, c2, c3, poMask)); len(got) != 1 {
		t.Errorf("steps %v", got)
	}
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

func TestMailmap(t *testing.T) {
	u := newUpstream(t)
	without := u.commit("A", files{"x": "1"})
	link := u.commit("A", files{".mailmap": "->x"}, without)
	c := u.commit("A", files{".mailmap": mailmapText}, link)
	u.set("main", c)
	r := reader(t, u.mirror(Options{}))
	for _, h := range []Hash{without, link} {
		m, err := r.Mailmap(context.Background(), h)
		if name, email := m.Lookup("a", "anna@example.org"); err != nil || name != "a" || email != "anna@example.org" {
			t.Errorf("without a mailmap: %q %q %v", name, email, err)
		}
	}
	m, err := r.Mailmap(context.Background(), c)
	must(t, err)
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
		runGit(t, dir, "init", "-q", "--bare")
		must(t, os.WriteFile(filepath.Join(dir, "map"), []byte(mailmapText), 0o600))
		for in, want := range people {
			if got := runGit(t, dir, "-c", "mailmap.file="+filepath.Join(dir, "map"), "check-mailmap", in); got != want {
				t.Errorf("git says that %s is %s, not %s", in, got, want)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("100644 a\x0001234567890123456789"))
	f.Add([]byte("tree 0123456789012345678901234567890123456789\nauthor A <b> 1 +0000\n\nx"))
	f.Add([]byte(mailmapText))
	f.Add([]byte("machine a login b password c\nref: refs/heads/x\tHEAD"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if list, err := parseTree(data); err == nil {
			for i, e := range list {
				bad := e.name == "" || e.name == "." || e.name == ".." || strings.ContainsAny(e.name, "/\x00\n\x7f") || !utf8.ValidString(e.name)
				if bad || i > 0 && list[i-1].name >= e.name {
					t.Fatalf("tree entries %q", e.name)
				}
			}
		}
		if c, err := parseCommit(Hash{}, data); err == nil {
			if y := c.Author.When.Year(); !c.Author.When.IsZero() && (y < 1969 || y > 10000) {
				t.Fatalf("year %d", y)
			}
			if strings.ContainsFunc(c.Author.Name+c.Author.Email+c.Committer.Name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Fatalf("author %q", c.Author)
			}
		}
		ParseMailmap(string(data)).Lookup("a", "b")
		_, _ = parseLsRemote(string(data), "HEAD")
		if s := RedactURL("https://user:" + "hunter2" + "@" + string(data)); strings.Contains(s, "hunter2") {
			t.Fatalf("secret in %q", s)
		}
	})
}
