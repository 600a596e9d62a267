package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// driven is a repository of git that merges PO files by this program.
type driven struct {
	t   *testing.T
	dir string
}

func newDriven(t *testing.T) *driven {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	bin := t.TempDir()
	must(t, os.Symlink(exe, filepath.Join(bin, "repoglot")))
	t.Setenv(childVar, "1")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	d := &driven{t, t.TempDir()}
	d.git("init", "-q", "-b", "main")
	d.git("config", "user.name", "Jana")
	d.git("config", "user.email", "jana@example.org")
	d.git("config", "core.autocrlf", "false")
	cmd := exec.Command("repoglot", "merge", "--install", "--local")
	cmd.Dir = d.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("install: %v\n%s", err, out)
	}
	d.git("add", ".")
	d.commit("attributes", "")
	return d
}

// try calls git, and returns what it says and whether it succeeded.
func (d *driven) try(args ...string) (string, bool) {
	cmd := exec.Command("git", args...)
	cmd.Dir = d.dir
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

func (d *driven) git(args ...string) {
	d.t.Helper()
	if out, ok := d.try(args...); !ok {
		d.t.Fatalf("git %v:\n%s", args, out)
	}
}

func (d *driven) write(text string) {
	d.t.Helper()
	must(d.t, os.WriteFile(filepath.Join(d.dir, "cs.po"), []byte(text), 0o600))
}

// commit commits cs.po with a text; "" leaves it.
func (d *driven) commit(message, text string) {
	d.t.Helper()
	if text != "" {
		d.write(text)
		d.git("add", "cs.po")
	}
	d.git("commit", "-q", "--allow-empty", "-m", message)
}

func (d *driven) file() string {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, "cs.po"))
	must(d.t, err)
	return string(data)
}

// drivenPO is a file revised on a day, whose strings "A", "B", "C" have these texts.
func drivenPO(day string, texts ...string) string {
	var b strings.Builder
	b.WriteString("msgid \"\"\nmsgstr \"\"\n\"POT-Creation-Date: 2026-10-01 10:00+0000\\n\"\n\"PO-Revision-Date: 2026-10-" + day + " 10:00+0000\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n")
	for i, text := range texts {
		b.WriteString("\nmsgid \"" + string(rune('A'+i)) + "\"\nmsgstr \"" + text + "\"\n")
	}
	return b.String()
}

// TestMergeDriver: git calls the driver for merge, rebase, cherry-pick and stash pop, of
// files with line ends of Windows, too; what both sides changed is the only conflict.
func TestMergeDriver(t *testing.T) {
	for _, end := range []string{"\n", "\r\n"} {
		po := func(day string, texts ...string) string {
			return strings.ReplaceAll(drivenPO(day, texts...), "\n", end)
		}
		d := newDriven(t)
		d.commit("base", po("01", "", "", "c"))
		d.git("tag", "base")
		d.git("switch", "-qc", "other")
		d.commit("other", po("03", "", "b", "c"))
		d.git("switch", "-q", "main")
		d.commit("main", po("02", "a", "", "c"))
		d.git("tag", "ours")
		want := po("03", "a", "b", "c")
		for _, call := range [][]string{{"merge", "-q", "other"}, {"cherry-pick", "other"}, {"rebase", "-q", "other"}} {
			d.git("reset", "-q", "--hard", "ours")
			d.git(call...)
			if got := d.file(); got != want {
				t.Errorf("%v:\n%q, want\n%q", call, got, want)
			}
		}
		d.git("reset", "-q", "--hard", "base")
		d.write(po("02", "a", "", "c"))
		d.git("stash", "-q")
		d.git("reset", "-q", "--hard", "other")
		d.git("stash", "pop", "-q")
		if got := d.file(); got != want {
			t.Errorf("stash pop:\n%q, want\n%q", got, want)
		}
		d.git("reset", "-q", "--hard", "ours")
		d.commit("clash", po("04", "a", "", "ours"))
		d.git("switch", "-q", "other")
		d.commit("clash", po("05", "", "b", "theirs"))
		d.git("switch", "-q", "main")
		out, ok := d.try("merge", "-q", "other")
		marked := "<<<<<<< ours" + end + "msgstr \"ours\"" + end + "=======" + end + "msgstr \"theirs\"" + end + ">>>>>>> theirs" + end
		if got := d.file(); ok || !strings.Contains(out, "cs.po: 1 string has conflict markers") ||
			got != strings.Replace(po("05", "a", "b", "X"), "msgstr \"X\""+end, marked, 1) {
			t.Errorf("clash: %v %s\n%q", ok, out, got)
		}
	}
}

// TestMergeDriverCrissCross: a base that is itself a merge with a conflict has no markers.
func TestMergeDriverCrissCross(t *testing.T) {
	d := newDriven(t)
	d.commit("base", drivenPO("01", "", "", "c"))
	d.git("switch", "-qc", "other")
	d.commit("other", drivenPO("01", "two", "", "c"))
	d.git("switch", "-q", "main")
	d.commit("main", drivenPO("01", "one", "", "c"))
	d.git("tag", "before")
	if _, ok := d.try("merge", "-q", "other"); ok {
		t.Fatal("two texts of one string are merged")
	}
	d.commit("merged", drivenPO("02", "one", "b", "c"))
	d.git("switch", "-q", "other")
	if _, ok := d.try("merge", "-q", "before"); ok {
		t.Fatal("two texts of one string are merged")
	}
	d.commit("merged", drivenPO("03", "one", "", "other"))
	d.git("switch", "-q", "main")
	out, ok := d.try("merge", "-q", "other")
	if got, want := d.file(), drivenPO("03", "one", "b", "other"); !ok || got != want {
		t.Errorf("%v %s\n%s", ok, out, got)
	}
}

// TestMergeDriverUnreadable: a side that is no PO file is merged by lines, and stderr says why.
func TestMergeDriverUnreadable(t *testing.T) {
	d := newDriven(t)
	d.commit("base", drivenPO("01", "", "", "c"))
	d.git("switch", "-qc", "other")
	broken := strings.Replace(drivenPO("01", "", "", "c"), "msgid \"C\"", "msgid C", 1)
	d.commit("other", broken)
	d.git("switch", "-q", "main")
	d.commit("main", drivenPO("02", "", "", "c"))
	out, ok := d.try("merge", "-q", "other")
	if got := d.file(); !ok || got != strings.Replace(broken, "10-01 10:00+0000\\n\"\n\"Content", "10-02 10:00+0000\\n\"\n\"Content", 1) ||
		!strings.Contains(out, "git's merge of lines was taken") {
		t.Errorf("%v %s\n%s", ok, out, got)
	}
}

// TestMergeByHand: the exit status says whether all is merged, and what is printed.
func TestMergeByHand(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"base": drivenPO("01", "", "c"), "ours": drivenPO("02", "a", "c"), "theirs": drivenPO("01", "", "t"), "clash": drivenPO("01", "b", "c"), "marked": "<<<<<<< x\n" + drivenPO("01", "b", "c"), "none.txt": "text\n", "binary": "msgid \"\x00\"\n"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Chdir(dir)
	merged := drivenPO("02", "a", "t")
	for _, tt := range []struct {
		args   string
		want   int
		stdout string // the beginning
		stderr string // a part
	}{
		{"base ours theirs", exitOK, merged, ""},
		{"missing ours ours", exitOK, drivenPO("02", "a", "c"), ""},
		{"base ours clash --path po/cs.po", exitFailure, strings.Replace(drivenPO("02", "X", "c"), "msgstr \"X\"\n", "<<<<<<< ours\nmsgstr \"a\"\n=======\nmsgstr \"b\"\n>>>>>>> theirs\n", 1), "po/cs.po: 1 string has conflict markers"},
		{"base ours clash --favor theirs", exitOK, drivenPO("02", "b", "c"), ""},
		{"base ours marked", exitFailure, "<<<<<<< x\n", "ours: not merged by meaning: theirs: line 1: this looks like a merge conflict"},
		{"base ours none.txt", exitFailure, "<<<<<<<", "git's merge of lines was taken"},
		{"base ours binary", exitFailure, drivenPO("02", "a", "c"), "ours: git takes it for binary: it is ours"},
		{"base ours theirs -o " + dir, exitUnmerged, "", "is a directory"},
		{"base ours missing", exitUnmerged, "", "missing"},
		{"base ours", exitUnmerged, "", "three files"},
		{"base ours theirs --favor none", exitUnmerged, "", "write ours, theirs or fuzzy"},
		{"base ours theirs --nonsense", exitUnmerged, "", "nonsense"},
		{"--install", exitOK, "git config --global merge.repoglot.name 'PO files by string'\ngit config --global merge.repoglot.driver 'repoglot merge %O %A %B -o %A --path %P --marker-size %L'\ngit config --global merge.repoglot.recursive 'binary'\nprintf '%s\\n' '*.po merge=repoglot' '*.pot merge=repoglot' >> .gitattributes\n", ""},
		{"--install --global --local", exitUsage, "", "give one of them"},
	} {
		var stdout, stderr bytes.Buffer
		got := run(t.Context(), append([]string{"merge"}, strings.Fields(tt.args)...), nil, &stdout, &stderr)
		if got != tt.want || !strings.HasPrefix(stdout.String(), tt.stdout) || !strings.Contains(stderr.String(), tt.stderr) || tt.stdout == "" && stdout.Len() > 0 {
			t.Errorf("%s: %d, want %d\n%s\n%s", tt.args, got, tt.want, stdout.String(), stderr.String())
		}
	}
}

// panics is an output that finds a mistake of the program.
type panics struct{}

func (panics) Write([]byte) (int, error) { panic("nothing is written") }

// TestMergePanics: a panic has no exit status that git takes for a result.
func TestMergePanics(t *testing.T) {
	name := filepath.Join(t.TempDir(), "cs.po")
	must(t, os.WriteFile(name, []byte(drivenPO("01", "a")), 0o600))
	var stderr bytes.Buffer
	got := run(t.Context(), []string{"merge", name, name, name}, nil, panics{}, &stderr)
	if got != exitUnmerged || !strings.Contains(stderr.String(), "nothing is written") || !strings.Contains(stderr.String(), "command_merge.go") {
		t.Errorf("%d: %s", got, stderr.String())
	}
}

// TestMergeInstall: what is written for one repository and for all makes git call the driver,
// and is written once.
func TestMergeInstall(t *testing.T) {
	d := newDriven(t)
	t.Setenv("XDG_CONFIG_HOME", "")
	home := os.Getenv("HOME")
	must(t, os.MkdirAll(filepath.Join(home, ".config", "git"), 0o700))
	must(t, os.WriteFile(filepath.Join(home, ".config", "git", "attributes"), []byte("*.txt text"), 0o600))
	t.Chdir(d.dir)
	for _, tt := range []struct{ scope, attributes, want string }{
		{"--local", filepath.Join(d.dir, ".gitattributes"), "*.po merge=repoglot\n*.pot merge=repoglot\n"},
		{"--global", filepath.Join(home, ".config", "git", "attributes"), "*.txt text\n*.po merge=repoglot\n*.pot merge=repoglot\n"},
	} {
		for range 2 {
			var stdout, stderr bytes.Buffer
			if got := run(t.Context(), []string{"merge", "--install", tt.scope}, nil, &stdout, &stderr); got != exitOK || !strings.Contains(stdout.String(), tt.attributes) {
				t.Fatalf("%s: %d %s%s", tt.scope, got, stdout.String(), stderr.String())
			}
		}
		data, err := os.ReadFile(tt.attributes)
		if must(t, err); string(data) != tt.want {
			t.Errorf("%s: attributes %q, want %q", tt.scope, data, tt.want)
		}
		out, _ := d.try("config", tt.scope, "--get-all", "merge.repoglot.driver")
		if out != "repoglot merge %O %A %B -o %A --path %P --marker-size %L\n" {
			t.Errorf("%s: the driver is %q", tt.scope, out)
		}
	}
}
