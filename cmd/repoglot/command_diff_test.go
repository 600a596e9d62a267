package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/diff"
	"github.com/repoglot/repoglot/poparse/msgmerge"
)

// diffRepo is a git repository that is the current folder.
type diffRepo struct {
	*testing.T
	dir string
}

func newDiffRepo(t *testing.T) diffRepo {
	t.Helper()
	r := diffRepo{t, t.TempDir()}
	t.Chdir(r.dir)
	r.git("init", "-q", "-b", "main")
	return r
}

func (r diffRepo) git(args ...string) string { r.Helper(); return gittest.RunGit(r, r.dir, args...) }

func (r diffRepo) write(name, text string) {
	r.Helper()
	must(r.T, os.MkdirAll(filepath.Dir(filepath.Join(r.dir, name)), 0o755))
	must(r.T, os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600))
}

func (r diffRepo) commit(message string) {
	r.Helper()
	r.git("add", ".")
	r.git("commit", "-q", "-m", message)
}

// repoglot runs a command here, and checks its exit status.
func (r diffRepo) repoglot(want int, args ...string) (stdout, stderr string) {
	r.Helper()
	var out, errs bytes.Buffer
	if code := run(r.Context(), args, strings.NewReader(""), &out, &errs); code != want {
		r.Errorf("%q: exit status %d, want %d: %s%s", args, code, want, &errs, &out)
	}
	return out.String(), errs.String()
}

// sourcesPO is a file with some strings; each is "msgid" or "msgid=msgstr".
func sourcesPO(language, date string, list ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "msgid \"\"\nmsgstr \"\"\n\"POT-Creation-Date: %s\\n\"\n\"Language: %s\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n", date, language)
	for i, s := range list {
		id, str, _ := strings.Cut(s, "=")
		fmt.Fprintf(&b, "\n#: src/%s.c:%d\nmsgid %q\nmsgstr %q\n", date, i, id, str)
	}
	return b.String()
}

// updated is a file after msgmerge.
func updated(t *testing.T, file, template string) string {
	t.Helper()
	f, err := poparse.Parse("x.po", []byte(file))
	must(t, err)
	pot, err := poparse.Parse("x.pot", []byte(template))
	must(t, err)
	r, err := msgmerge.Merge(f, pot, msgmerge.Options{Previous: true})
	must(t, err)
	var b strings.Builder
	_, err = r.File.WriteTo(&b)
	must(t, err)
	return b.String()
}

// TestDiffHundred: what msgmerge does to a hundred languages is told in a line.
func TestDiffHundred(t *testing.T) {
	r := newDiffRepo(t)
	var before, after []string
	for i := range 300 {
		s := fmt.Sprintf("The message of number %d, which says %x to everybody", i, i*i*7919)
		if i == 100 {
			s = "Press any key when you want to go on, to everybody"
		}
		before = append(before, s)
		if i == 100 {
			after = append(after, "Quite a new one", "Something else", "And this")
			s = strings.Replace(s, "to everybody", "to all of you", 1)
		}
		after = append(after, s)
	}
	template := sourcesPO("", "2024-02-02", after...)
	r.write("locale/app.pot", sourcesPO("", "2024-01-01", before...))
	files := map[string]string{}
	for n := range 100 {
		language := string([]byte{'a' + byte(n/10), 'a' + byte(n%10), 'a'})
		translated := slices.Clone(before)
		for i := range translated {
			if (i+n)%3 == 0 && i != 100 {
				translated[i] += "=" + language + " " + translated[i]
			}
		}
		files["locale/"+language+"/LC_MESSAGES/app.po"] = sourcesPO(language, "2024-01-01", translated...)
	}
	for name, text := range files {
		r.write(name, text)
	}
	r.commit("before")
	r.git("update-ref", "refs/remotes/origin/main", "HEAD")
	r.write("locale/app.pot", template)
	for name, text := range files {
		r.write(name, updated(t, text, template))
	}
	r.commit("msgmerge")
	begin := time.Now()
	text, _ := r.repoglot(1, "diff", "--base", "origin/main", "--format", "markdown")
	if !strings.HasPrefix(text, "### Translations: 3 strings added, 1 reworded\n") || len(text) > 20_000 || strings.Count(text, "\n- ") != 4 {
		t.Errorf("%d bytes: %.3000s", len(text), text)
	}
	lines := strings.Count(r.git("diff", "origin/main"), "\n")
	t.Logf("git has %d lines, %d bytes are told in %v", lines, len(text), time.Since(begin))
	if lines < 100_000 {
		t.Errorf("git has %d lines", lines)
	}
	var report diff.Report
	out, _ := r.repoglot(1, "diff", "--base", "origin/main", "--format", "json")
	must(t, json.Unmarshal([]byte(out), &report))
	if c := report.Counts; c.Added != 303 || c.Reworded != 101 || report.Sources.Added != 3 || len(report.Files) != 101 || report.Ignored.Dates != 101 || report.Ignored.References != 101*300 {
		t.Errorf("%+v %+v", c, report.Ignored)
	}
}

// TestDiffGit: commits, the work tree, and the commit at which histories part.
func TestDiffGit(t *testing.T) {
	r := newDiffRepo(t)
	r.write("po/app.pot", sourcesPO("", "1", "Open", "Close"))
	r.write("po/de.po", sourcesPO("de", "1", "Open=Öffnen", "Close"))
	r.write("po/cs.po", sourcesPO("cs", "1", "Open", "Close"))
	r.write("test/data.po", "oops")
	r.commit("first")
	r.git("branch", "work")
	r.write("po/cs.po", sourcesPO("cs", "1", "Open=Otevřít", "Close"))
	r.commit("on main")
	r.git("checkout", "-q", "work")
	if out, errs := r.repoglot(0, "diff", "--base", "main"); out != "no difference in meaning\n" || !strings.HasPrefix(errs, "repoglot: compared with ") {
		t.Errorf("%s %s", out, errs)
	}
	if out, _ := r.repoglot(1, "diff", "--base", "main", "--direct"); !strings.HasPrefix(out, "1 text removed\n") {
		t.Error(out)
	}
	r.write("po/de.po", sourcesPO("de", "2", "Close=Schließen!", "Open=Öffnen"))
	r.write("po/fr.po", sourcesPO("fr", "2", "Open=Ouvrir", "Close"))
	r.git("add", "po/fr.po")
	r.write("po/untracked.po", "oops")
	out, _ := r.repoglot(1, "diff", "--base", "main")
	if want := "1 text new, 1 check newly failing, 1 file added\nOnly counted: 2 references, 1 date, 1 moved string.\n\npo/de.po: 1 text new, 1 check newly failing\n  * Close (text new)\n      text: {+Schließen!+}\n" +
		"  ! Close: Mismatched exclamation mark: Only one of source and translation ends with an exclamation mark. Here: source: \"e\"; translation: \"!\".\n\npo/fr.po: is new: 2 strings, 1 translated, 0 fuzzy\n"; out != want {
		t.Errorf("%s", out)
	}
	if out, _ := r.repoglot(1, "diff", "--base", "main", "--check-flags", "ignore-end-exclamation"); strings.Contains(out, "failing") {
		t.Error(out)
	}
	if out, _ := r.repoglot(1, "diff", "--base", "main", "--format", "html"); !strings.Contains(out, "<ins>Schließen!</ins>") {
		t.Error(out)
	}
	r.write("repoglot.yaml", "projects: [{slug: a, components: [{slug: a, repo: /r, filemask: po/f*.po, language_regex: ^r$}]}]\n")
	if out, _ := r.repoglot(1, "diff", "--base", "main", "--config", "repoglot.yaml"); !strings.HasPrefix(out, "1 file added\n") {
		t.Error(out)
	}
	r.git("update-ref", "refs/heads/none", r.git("commit-tree", "-m", "empty", "4b825dc642cb6eb9a060e54bf8d69288fbee4904")) // git knows this tree, and does not store it
	if out, _ := r.repoglot(1, "diff", "--base", "refs/heads/none"); !strings.HasPrefix(out, "4 files added\n") {
		t.Error(out)
	}
	must(t, os.Remove("po/cs.po"))
	r.write("po/de.po", "msgid oops")
	if out, errs := r.repoglot(2, "diff", "--base", "main"); !strings.Contains(out, "po/de.po: cannot be read: po/de.po:1:7: ") || !strings.Contains(out, "po/cs.po: is removed: 2 strings") || !strings.HasSuffix(errs, "repoglot: not all files can be read\n") {
		t.Errorf("%s %s", out, errs)
	}
	for _, args := range [][]string{{"--base", "no"}, {"--base", "main", "no"}, {"--frozen", "no"}, {"--base", "main", "a", "b"}, {"--base", "main", "--frozen", "main"}, {"a"}, {}, {"--comment", "1", "a", "b"}, {"--base", "main", "--comment", "0"}, {"--base", "main", "--comment=-1"}, {"--base", "main", "--format", "xml"}, {"--base", "main", "--color", "no"}, {"--base", "main", "--source-language", "none"}, {"--base", "main", "--comment", "1"}} {
		if out, errs := r.repoglot(2, append([]string{"diff"}, args...)...); out != "" && args[len(args)-1] != "1" || errs == "" {
			t.Errorf("%q: %s %s", args, out, errs)
		}
	}
}

// TestDiffFrozen: new and reworded strings with who brought them, also through merges and without a
// template.
func TestDiffFrozen(t *testing.T) {
	for _, template := range []string{"po/app.pot", ""} {
		r := newDiffRepo(t)
		all := func(list ...string) {
			if template != "" {
				r.write(template, sourcesPO("", "1", list...))
			}
			r.write("po/de.po", sourcesPO("de", "1", list...))
			r.write("po/cs.po", sourcesPO("cs", "1", list...))
		}
		all("Open the file", "Close")
		r.commit("first")
		r.git("tag", "-a", "-m", "frozen", "freeze")
		r.git("checkout", "-q", "-b", "side")
		all("Open the file", "Close", "Brought by the side")
		r.git("add", ".")
		r.git("commit", "-q", "-m", "by the side", "--author", "Sid E <sid@example.org>")
		id := r.git("rev-parse", "--short=12", "HEAD")
		r.git("checkout", "-q", "main")
		r.write("README", "x")
		r.commit("else")
		r.git("merge", "-q", "--no-ff", "-m", "merge", "side")
		r.write("po/de.po", sourcesPO("de", "2", "Open the file=Öffnen", "Close", "Brought by the side"))
		r.write("po/fr.po", sourcesPO("fr", "2", "Open the file", "Close"))
		r.commit("translated")
		out, _ := r.repoglot(1, "diff", "--frozen", "freeze")
		if !strings.HasPrefix(out, "1 string added\n") || !strings.Contains(out, "  + Brought by the side\n      from: "+id+" by Sid E <sid@example.org>, 2023-11-14: by the side\n") {
			t.Errorf("%q: %s", template, out)
		}
		all("Open a file", "Close", "Brought by the side")
		out, _ = r.repoglot(1, "diff", "--frozen", "freeze")
		if !strings.HasPrefix(out, "1 string added, 1 reworded\n") || !strings.Contains(out, "  ~ Open [-the-]{+a+} file (83 % alike)\n      from: the work tree\n") {
			t.Errorf("%q: %s", template, out)
		}
		if out, _ := r.repoglot(0, "diff", "--frozen", "side", "HEAD"); out != "no difference in meaning\n" {
			t.Error(out)
		}
	}
}

// TestDiffPaths compares files and folders.
func TestDiffPaths(t *testing.T) {
	r := newDiffRepo(t)
	r.write("a/de.po", sourcesPO("de", "1", "Open=Öffnen"))
	r.write("b/de.po", sourcesPO("de", "2", "Open=Öffne"))
	r.write("b/.hidden/cs.po", "oops")
	for _, args := range [][]string{{"a/de.po", "b/de.po"}, {"a", "b"}, {"b", "a"}} {
		if out, _ := r.repoglot(1, "diff", args[0], args[1]); !strings.HasPrefix(out, "1 text changed\nOnly counted: 1 reference, 1 date.\n") {
			t.Error(out)
		}
	}
	r.repoglot(0, "diff", "a", "a")
	r.repoglot(0, "diff", "a/de.po", "a/de.po")
	r.repoglot(2, "diff", "a", "b/de.po")
	r.repoglot(2, "diff", "a/de.po", "none.po")
	r.repoglot(2, "diff", "a/de.po", "b/.hidden/cs.po")
}

// TestShow: git shows with it what changed, and a broken file as it is.
func TestShow(t *testing.T) {
	r := newDiffRepo(t)
	shell := filepath.Join(installHere(t, filepath.Join(t.TempDir(), "bin")), "repoglot")
	t.Setenv(childVar, "1")
	r.git("config", "diff.po.textconv", shell+" show")
	r.write(".gitattributes", "*.po diff=po\n")
	r.write("de.po", sourcesPO("de", "1", "Open", "Close", "A string that is long enough to be broken into two lines by the usual programs"))
	r.commit("first")
	r.write("de.po", strings.Replace(sourcesPO("de", "2", "Open=Öffnen", "Close", "A string that is long enough to be broken into two lines by the usual programs"), "msgid \"A string that is ", "msgid \"\"\n\"A string \"\n\"that is ", 1))
	out := r.git("diff", "-U0")
	if lines := strings.Split(out, "\n"); len(lines) != 7 || lines[5] != `-msgstr ""` || lines[6] != `+msgstr "Öffnen"` {
		t.Errorf("%s", out)
	}
	r.write("de.po", "oops\n")
	if out := r.git("diff"); !strings.Contains(out, "+oops\n") && !strings.HasSuffix(out, "+oops") {
		t.Errorf("%s", out)
	}
	r.repoglot(1, "show", "none.po")
}

// BenchmarkDiff compares a hundred files of 5,000 strings after msgmerge, out of git.
func BenchmarkDiff(b *testing.B) {
	dir := b.TempDir()
	b.Chdir(dir)
	gittest.RunGit(b, dir, "init", "-q", "-b", "main")
	write := func(date string, reworded string) {
		var list []string
		for i := range 5000 {
			list = append(list, fmt.Sprintf("Message %d of the program, which says %x=Nachricht %d des Programms, die %x sagt", i, i*i*7919, i, i*i*7919))
		}
		list[2500] = reworded
		for n := range 100 {
			language := string([]byte{'a' + byte(n/10), 'a' + byte(n%10), 'a'})
			folder := filepath.Join(dir, language, "LC_MESSAGES")
			gittest.Must(b, os.MkdirAll(folder, 0o755))
			gittest.Must(b, os.WriteFile(filepath.Join(folder, "a.po"), []byte(sourcesPO(language, date, list...)), 0o600))
		}
		gittest.RunGit(b, dir, "add", ".")
		gittest.RunGit(b, dir, "commit", "-q", "-m", date)
	}
	write("1", "Some old message=Alt")
	write("2", "Some new message=Alt")
	for b.Loop() {
		var out bytes.Buffer
		if code := run(b.Context(), []string{"diff", "--base", "HEAD~1", "--format", "markdown"}, strings.NewReader(""), &out, &out); code != 1 || !strings.HasPrefix(out.String(), "### Translations: 1 string reworded\n") {
			b.Fatalf("%d %.300s", code, &out)
		}
	}
}
