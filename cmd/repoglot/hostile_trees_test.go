package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// hostileTrees are trees that are large, deep, or have names that lead elsewhere.
func hostileTrees() []hostileKind {
	return []hostileKind{
		{Name: "many-files", Fails: "quotas.files allows", make: func(w *hostileWriter) {
			po := w.blob(smallPO)
			var lines []treeLine
			for i := range 100_000 {
				lines = append(lines, treeLine{modeFile, fmt.Sprintf("l%06d.po", i), po})
			}
			w.served(lines...)
		}},
		{Name: "subtree-bomb", Slug: "app-{component}", Filemask: "{component}/*.po", Fails: "narrow the filemask", make: func(w *hostileWriter) {
			dir := w.tree(treeLine{modeFile, "cs.po", w.blob(smallPO)})
			for range 12 { // 10^12 paths
				dir = w.ten(dir, "d")
			}
			w.commit(dir)
		}},
		{Name: "name-bomb", Slug: "app-{component}", Filemask: "{component}/*.po", Fails: "narrow the filemask", make: func(w *hostileWriter) {
			dir := w.tree(treeLine{modeFile, "cs.po", w.blob(smallPO)})
			for range 5 { // 10^5 paths of 3,500 bytes
				dir = w.ten(dir, strings.Repeat("n", 700))
			}
			w.commit(dir)
		}},
		{Name: "deep", Slug: "app-{component}", Filemask: "{component}/*.po", make: func(w *hostileWriter) {
			dir := w.tree(treeLine{modeFile, "cs.po", w.blob(smallPO)})
			for range 1_100 {
				dir = w.tree(treeLine{modeDir, "d", dir})
			}
			w.commit(w.tree(treeLine{modeDir, "deep", dir}, treeLine{modeDir, "flat", w.tree(treeLine{modeFile, "cs.po", w.blob(smallPO)})}))
		}},
		{Name: "many-components", Slug: "app-{component}", Filemask: "{component}/*.po", Fails: "quotas.components allows", make: func(w *hostileWriter) {
			dir := w.tree(treeLine{modeFile, "cs.po", w.blob(smallPO)})
			var lines []treeLine
			for i := range 30_000 {
				lines = append(lines, treeLine{modeDir, fmt.Sprintf("c%06d", i), dir})
			}
			w.commit(w.tree(lines...))
		}},
		{Name: "odd-components", Slug: "app-{component}", Filemask: "{component}/*.po", make: func(w *hostileWriter) {
			dir := w.tree(treeLine{modeFile, "cs.po", w.blob(smallPO)})
			var lines []treeLine
			for _, name := range append([]string{"*", "{component}", "a*b", "=HYPERLINK(1)", "<img src=x>", "%2e%2e", "\u202eevil"}, oddNames()...) {
				lines = append(lines, treeLine{modeDir, name, dir})
			}
			w.commit(w.tree(lines...))
		}},
		{Name: "odd-names", make: func(w *hostileWriter) {
			po := w.blob(smallPO)
			lines := []treeLine{{modeFile, "cs.po", po}}
			for _, name := range oddNames() {
				lines = append(lines, treeLine{modeFile, name + ".po", po}, treeLine{modeDir, name, w.tree(treeLine{modeFile, "de.po", po})})
			}
			w.served(lines...)
		}},
		{Name: "same-names", make: func(w *hostileWriter) {
			var lines []treeLine
			for range 1000 {
				lines = append(lines, treeLine{modeFile, "cs.po", w.blob(smallPO)})
			}
			w.served(lines...)
		}},
		{Name: "symlinks", make: func(w *hostileWriter) {
			w.served(
				treeLine{modeLink, "ab.po", w.blob("/etc/passwd")}, treeLine{modeLink, "cs.po", w.blob("../../outside/secret")},
				treeLine{modeLink, "de.po", w.blob("de.po")}, treeLine{modeLink, "fr.po", w.blob(w.outside + "/secret")},
				treeLine{modeLink, "it.po", w.blob("")}, treeLine{modeLink, "nl.po", w.blob(strings.Repeat("../", 3000))},
				treeLine{modeFile, "pl.po", w.blob(smallPO)})
		}},
		{Name: "links-for-git", make: func(w *hostileWriter) { // files that git reads itself
			var lines []treeLine
			for _, name := range []string{".gitattributes", ".gitignore", ".gitmodules", ".mailmap"} {
				lines = append(lines, treeLine{modeLink, name, w.blob(w.outside + "/secret")})
			}
			w.commit(w.tree(append(lines, treeLine{modeDir, "po", w.tree(append(lines, treeLine{modeFile, "cs.po", w.blob(smallPO)})...)})...))
		}},
		{Name: "null-file", make: func(w *hostileWriter) {
			w.served(treeLine{modeFile, "cs.po", plumbing.Hash{}})
		}},
		{Name: "empty-name", make: func(w *hostileWriter) {
			w.served(treeLine{modeFile, "", w.blob(smallPO)}, treeLine{modeFile, "cs.po", w.blob(smallPO)})
		}},
		{Name: "linked-folder", make: func(w *hostileWriter) {
			w.commit(w.tree(treeLine{modeLink, "po", w.blob("../outside")}))
		}},
		{Name: "submodules", make: func(w *hostileWriter) {
			w.commit(w.tree(
				treeLine{modeFile, ".gitmodules", w.blob("[submodule \"../../x\"]\n\tpath = po\n\turl = --upload-pack=touch\n")},
				treeLine{modeModule, "po", plumbing.Hash{1}}))
		}},
		{Name: "odd-modes", Fails: "run git fsck", make: func(w *hostileWriter) {
			po := w.blob(smallPO)
			var lines []treeLine
			for i, mode := range []string{"0", "7", "020644", "060644", "100777", "104755", "140000", "10000000000", "-1", "9"} {
				lines = append(lines, treeLine{mode, fmt.Sprintf("%c%c.po", 'a'+i, 'a'+i), po})
			}
			w.served(lines...)
		}},
		{Name: "file-as-tree", Fails: "run git fsck", make: func(w *hostileWriter) {
			w.commit(w.tree(treeLine{modeDir, "po", w.blob("not a tree")}))
		}},
	}
}

// ten is a tree of ten times the same directory.
func (w *hostileWriter) ten(dir plumbing.Hash, name string) plumbing.Hash {
	var lines []treeLine
	for i := range 10 {
		lines = append(lines, treeLine{modeDir, fmt.Sprint(name, i), dir})
	}
	return w.tree(lines...)
}

// oddNames are names that git's fsck knows, and others that lead out of a folder, forge
// a header or run something on some system.
func oddNames() []string {
	return []string{
		".", "..", ".git", ".GIT", ".git ", "git~1", "GIT~1", ".g\u200cit", ".gitmodules", "a/b", "../x", "/abs", "a\\b", "..\\x",
		"con", "aux.txt", "-oProxyCommand=x", "--upload-pack=x", "a\nb", "a\r\nSet-Cookie: x", "a\x1b[31m", "a\"b", "a;b", "a%00b",
		"\xff\xfe", "a:b", "~", "$HOME", "$(id)", "`id`", "  ", strings.Repeat("z", 5000),
	}
}

const poHeader = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\""

// one makes a kind with one served file of a text.
func one(name, text string) hostileKind {
	return hostileKind{Name: name, make: func(w *hostileWriter) { w.served(treeLine{modeFile, "cs.po", w.blob(text)}) }}
}

// withPlurals is a file whose header has a formula, and one plural string.
func withPlurals(formula string) string {
	return poHeader + "\n\"Plural-Forms: " + formula + "\\n\"\n\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"a\"\nmsgstr[1] \"b\"\n"
}

// hostileFiles are PO files.
func hostileFiles() []hostileKind {
	deep := 100_000
	entries := func(n int, msgid func(i int) string) string {
		var b strings.Builder
		b.WriteString(poHeader + "\n")
		for i := range n {
			fmt.Fprintf(&b, "\nmsgid %q\nmsgstr \"x\"\n", msgid(i))
		}
		return b.String()
	}
	list := []hostileKind{
		{Name: "huge-file", make: func(w *hostileWriter) {
			const size = 200 << 20
			zeros := w.stream(plumbing.BlobObject, size, io.LimitReader(zeroReader{}, size))
			w.served(treeLine{modeFile, "cs.po", zeros}, treeLine{modeFile, "de.po", w.blob(smallPO)})
		}},
		{Name: "many-strings", Fails: "quotas.units allows", make: func(w *hostileWriter) {
			w.served(treeLine{modeFile, "cs.po", w.blob(entries(60_000, func(i int) string { return fmt.Sprint("s", i) }))})
		}},
		{Name: "much-growth", Fails: "quotas.growth allows", make: func(w *hostileWriter) {
			text := strings.Repeat("x", 4000)
			w.served(treeLine{modeFile, "cs.po", w.blob(entries(3_500, func(i int) string { return fmt.Sprint(text, i) }))})
		}},
		one("long-line", poHeader+"\n\nmsgid \""+strings.Repeat("y", 2<<20)+"\"\nmsgstr \"x\"\n"),
		one("duplicates", entries(50_000, func(int) string { return "same" })),
		one("open-strings", poHeader+"\n\nmsgid \""+strings.Repeat("\"\n\"", deep)),
		one("backslashes", poHeader+"\n\nmsgid \""+strings.Repeat("\\\\", deep)+"\"\nmsgstr \""+strings.Repeat("\\777", deep)+"\"\n"),
		one("comments", strings.Repeat("#: a.c:1\n", deep)+smallPO),
		one("broken-everywhere", strings.Repeat("msgid\n", deep)),
		one("plural-count", withPlurals("nplurals=1000000000; plural=n;")),
		one("plural-number", withPlurals("nplurals=99999999999999999999999; plural=99999999999999999999999;")),
		one("plural-deep", withPlurals("nplurals=2; plural="+strings.Repeat("(", deep)+"n"+strings.Repeat(")", deep)+";")),
		one("plural-not", withPlurals("nplurals=2; plural="+strings.Repeat("!", deep)+"n;")),
		one("plural-long", withPlurals("nplurals=2; plural=n"+strings.Repeat("+n?n:n", deep)+";")),
		one("plural-zero", withPlurals("nplurals=2; plural=n%0/0;")),
		one("forms", strings.Replace(withPlurals("nplurals=2; plural=n!=1;"), "msgstr[1]", "msgstr[999999999]", 1)),
		one("charset", strings.Replace(smallPO, "UTF-8", strings.Repeat("X", deep), 1)),
		one("utf-16", "\xff\xfe"+strings.Repeat("m\x00", deep)),
		one("nul", strings.Repeat("\x00", deep)),
	}
	for name, bomb := range map[string]string{
		"braces": "{", "icu": "{n,plural,other{", "tags": "<b>", "entities": "&amp;", "percent": "%", "brackets": "[url=", "backticks": "`*_", "marks": "a\u0300\u0301",
	} {
		text := strings.Repeat(bomb, 20_000)
		flags := "#, c-format, icu-message-format, md-text, xml-text, bbcode-text, python-brace-format, regex:(a+)+$, placeholders:r\"(x+)+\"\n"
		h := one("check-"+name, fmt.Sprintf("%s\n\n%smsgid %q\nmsgstr %q\n", poHeader, flags, text, text+"x"))
		list = append(list, h)
	}
	return list
}

// zeroReader reads zeros.
type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// hostileFolders are git directories on this machine whose files are not what they
// should be.
func hostileFolders() []hostileKind {
	const repair = "repair the repository"
	list := []hostileKind{
		{Name: "gitdir-file", Fails: "use the repository that it leads to", make: func(w *hostileWriter) {
			other := *w
			other.dir = w.outside + "/other.git"
			other.write("HEAD", "ref: refs/heads/main\n")
			other.mkdir("objects")
			other.served(treeLine{modeFile, "cs.po", other.blob(strings.Replace(smallPO, "Jedna", hostileCanary, 1))})
			w.remove("")
			w.write(".git", "gitdir: "+other.dir+"\n")
			w.fail(other.err)
		}},
		{Name: "head-link", Fails: repair, make: func(w *hostileWriter) { w.sound(); w.link("HEAD", w.outside+"/secret") }},
		{Name: "ref-link", Fails: "push a first commit", make: func(w *hostileWriter) { w.sound(); w.link("refs/heads/main", w.outside+"/secret") }},
		{Name: "ref-text", Fails: repair, make: func(w *hostileWriter) { w.sound(); w.write("refs/heads/main", hostileCanary+"\n") }},
		{Name: "ref-large", Fails: "push a first commit", make: func(w *hostileWriter) {
			w.sound()
			w.write("refs/heads/main", strings.Repeat("0", 64<<20))
		}},
		{Name: "packed-refs-link", make: func(w *hostileWriter) { w.sound(); w.link("packed-refs", w.outside+"/secret") }},
		{Name: "objects-link", Fails: "use the repository that it leads to", make: func(w *hostileWriter) { w.sound(); w.link("objects", w.outside) }},
		{Name: "head-odd", Fails: repair, make: func(w *hostileWriter) { w.sound(); w.write("HEAD", "ref: refs/heads/../../../outside/secret\n") }},
		{Name: "head-loop", Fails: repair, make: func(w *hostileWriter) { w.sound(); w.write("HEAD", "ref: HEAD\n") }},
		{Name: "odd-refs", make: func(w *hostileWriter) {
			id := w.sound()
			for _, name := range []string{"-x", "a..b", "a@{b", "x.lock", "ba d", "a\nb", "a~1", "a^", "a:b", "\x7f", strings.Repeat("r", 200)} {
				w.write("refs/heads/"+name, id.String()+"\n")
			}
			var b strings.Builder
			for i := range 200_000 {
				fmt.Fprintf(&b, "%s refs/heads/many/%d\n", id, i)
			}
			w.write("packed-refs", b.String())
		}},
		{Name: "shallow-large", Fails: repair, make: func(w *hostileWriter) {
			w.sound()
			w.write("shallow", "")
			w.fail(os.Truncate(w.path("shallow"), 800<<20))
		}},
		{Name: "config-large", make: func(w *hostileWriter) { w.sound(); w.fail(os.Truncate(w.path("config"), 800<<20)) }},
	}
	const leads = "use the repository that it leads to"
	for _, l := range []struct{ file, target, fails string }{
		{"commondir", "outside", leads},
		{"commondir", "self", "correct the address"},
		{"commondir", "many", ""},
		{"commondir", "secret", leads},
		{"objects/info/alternates", "outside", leads},
		{"objects/info/alternates", "self", ""},
		{"objects/info/alternates", "many", ""},
		{"objects/info/alternates", "secret", ""},
	} {
		list = append(list, hostileKind{Name: strings.ReplaceAll(l.file, "/", "-") + "-" + l.target, Fails: l.fails, make: func(w *hostileWriter) {
			w.sound()
			w.write(l.file, map[string]string{
				"outside": w.outside + "\n", "self": w.dir + "\n" + w.dir + "/objects\n",
				"many": strings.Repeat(w.dir+"/objects\n", 100_000), "secret": w.outside + "/secret\n",
			}[l.target])
		}})
	}
	pack := "objects/pack/pack-" + strings.Repeat("5", 40) + ".pack"
	for _, l := range []struct{ file, fails string }{
		{"HEAD", repair},
		{"refs/heads/main", "push a first commit"},
		{"packed-refs", ""},
		{"shallow", repair},
		{"commondir", ""},
		{"config", ""},
		{"objects/info/alternates", ""},
		{"objects/pack", repair},
		{pack, "run git fsck there"},
	} {
		list = append(list, hostileKind{Name: "pipe-" + strings.ReplaceAll(l.file, "/", "-"), Fails: l.fails, make: func(w *hostileWriter) {
			w.sound()
			w.remove(l.file)
			w.write(l.file+".x", "") // makes the folder
			w.remove(l.file + ".x")
			w.fail(makePipe(w.path(l.file)))
		}})
	}
	return list
}
