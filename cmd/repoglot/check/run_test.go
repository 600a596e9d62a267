package check_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/repoglot/repoglot/cmd/repoglot/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// names returns the files of results.
func names(list []check.Result) (names []string) {
	for _, r := range list {
		names = append(names, r.File)
	}
	return names
}

// TestPaths finds the files to check, in order.
func TestPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{
		"b/x.po", "b/a/y.po", "b-c.po", "a.pot", "c.txt", "UP.PO", ".git/objects/x.po", ".hidden.po", "b/.tx/x.po",
		"deep/1/2/3/4.po", "x.po/in.po", "-", "--.po",
	} {
		writeFile(t, name, nil)
	}
	links := map[string]string{"loop": ".", "b/up": "..", "link.po": "b/x.po", "self": "self", "dangling.po": "none"}
	for name, target := range links {
		if err := os.Symlink(target, name); err != nil {
			t.Skipf("skipped: no symbolic links here: %v", err)
		}
	}
	all := []string{"--.po", "UP.PO", "a.pot", "b/a/y.po", "b/x.po", "b-c.po", "deep/1/2/3/4.po", "x.po/in.po"}
	for _, tt := range []struct {
		paths, want []string
	}{
		{nil, all},
		{[]string{"."}, all},
		{[]string{"./"}, all},
		{[]string{"b"}, []string{"b/a/y.po", "b/x.po"}},
		{[]string{"b/"}, []string{"b/a/y.po", "b/x.po"}},
		{[]string{"deep", "b"}, []string{"deep/1/2/3/4.po", "b/a/y.po", "b/x.po"}},
		{[]string{"b/x.po", "b", "./b/x.po"}, []string{"b/x.po", "b/a/y.po"}},
		{[]string{"c.txt"}, []string{"c.txt"}},
		{[]string{".hidden.po", ".git"}, []string{".hidden.po", ".git/objects/x.po"}},
		{[]string{"link.po"}, []string{"link.po"}},
		{[]string{"b/up/b"}, []string{"b/up/b/a/y.po", "b/up/b/x.po"}},
		{[]string{"loop/deep"}, []string{"loop/deep/1/2/3/4.po"}},
		{[]string{"-", "-", "./-"}, []string{check.StdinName, "./-"}},
	} {
		if diff := cmp.Diff(tt.want, names(results(t, check.Options{Paths: tt.paths}))); diff != "" {
			t.Errorf("%q: -want +got:\n%s", tt.paths, diff)
		}
	}
	if got := names(results(t, check.Options{Paths: []string{"loop"}})); len(got) != len(all) || got[0] != "loop/--.po" {
		t.Errorf("a link to a folder that is named: %q", got)
	}
}

// TestUnreadable: a file that the system refuses is reported, and the others are
// checked.
func TestUnreadable(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "a.po", nil)
	for name, target := range map[string]string{"self.po": "self.po", "dangling.po": "none"} {
		if err := os.Symlink(target, name); err != nil {
			t.Skipf("skipped: no symbolic links here: %v", err)
		}
	}
	list := results(t, check.Options{Paths: []string{"none.po", "self.po", "dangling.po", "a.po/b", "a.po"}})
	want := []string{"no such file or directory", "too many levels of symbolic links", "no such file or directory", "not a directory"}
	for i, reason := range want {
		if f := list[i].Findings; len(f) != 1 || f[0].Code != check.CodeUnreadable || f[0].Severity != check.Error || f[0].Line != 1 || f[0].Message != "cannot be read: "+reason {
			t.Errorf("%s: %+v, want %s", list[i].File, f, reason)
		}
	}
	if last := list[len(list)-1]; len(list) != 5 || !last.Parsed {
		t.Errorf("last: %+v", last)
	}
}

// TestNoPermission: files after an unreadable file or folder are checked.
func TestNoPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("skipped: root may read everything")
	}
	t.Chdir(t.TempDir())
	writeFile(t, "a/x.po", nil)
	writeFile(t, "b.po", nil)
	writeFile(t, "c.po", nil)
	for _, name := range []string{"a", "b.po"} {
		must(t, os.Chmod(name, 0))
	}
	defer os.Chmod("a", 0o700) // so that it can be removed
	list := results(t, check.Options{})
	if diff := cmp.Diff([]string{"a", "b.po", "c.po"}, names(list)); diff != "" {
		t.Fatal(diff)
	}
	for i := range 2 {
		if f := list[i].Findings; len(f) != 1 || f[0].Message != "cannot be read: permission denied" {
			t.Errorf("%+v", list[i])
		}
	}
}

// failing is a reader that breaks.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the line is dead") }

func TestStdin(t *testing.T) {
	for _, tt := range []struct {
		stdin io.Reader
		want  string
	}{
		{nil, ""},
		{strings.NewReader(header + singular), ""},
		{strings.NewReader("garbage"), "1 unknown-keyword"},
		{failing{}, "1 unreadable"},
	} {
		list := results(t, check.Options{Paths: []string{"-"}, Stdin: tt.stdin})
		if len(list) != 1 || list[0].File != check.StdinName || codes(list[0]) != tt.want {
			t.Errorf("%+v, want %q", list, tt.want)
		}
	}
}

// TestOrder: any number of workers gives the same verdicts in the same order.
func TestOrder(t *testing.T) {
	t.Chdir(t.TempDir())
	for i := range 300 {
		text := header + strings.Repeat(singular, 1+i*7%50)
		if i%10 == 3 {
			text += "garbage"
		}
		writeFile(t, fmt.Sprintf("%d/%d.po", i%7, i), []byte(text))
	}
	want := results(t, check.Options{Workers: 1})
	if len(want) != 300 || !slices.IsSorted(names(want)) {
		t.Fatalf("%d results: %q", len(want), names(want))
	}
	for _, workers := range []int{0, 2, 50} {
		if diff := cmp.Diff(want, results(t, check.Options{Workers: workers})); diff != "" {
			t.Errorf("%d workers: -1 worker +these:\n%s", workers, diff)
		}
	}
}

// TestEach: an error of the caller stops the check.
func TestEach(t *testing.T) {
	t.Chdir(t.TempDir())
	for i := range 200 {
		writeFile(t, fmt.Sprintf("%d.po", i), nil)
	}
	calls, full := 0, errors.New("disk full")
	err := check.Run(t.Context(), check.Options{}, func(check.Result) error {
		if calls++; calls == 3 {
			return full
		}
		return nil
	})
	if !errors.Is(err, full) || calls != 3 {
		t.Errorf("%d calls, error %v", calls, err)
	}
}

// TestCancel: a check ends at once with the context, even if the standard input
// never ends.
func TestCancel(t *testing.T) {
	t.Chdir(t.TempDir())
	for i := range 200 {
		writeFile(t, fmt.Sprintf("%d.po", i), nil)
	}
	in, out := io.Pipe()
	defer out.Close()
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := check.Run(ctx, check.Options{Paths: []string{"0.po", "-", "."}, Stdin: in, Workers: 4}, func(check.Result) error {
		calls++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%d calls, error %v", calls, err)
	}
	if err := check.Run(ctx, check.Options{}, func(check.Result) error { return errors.New("called") }); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped before it began: %v", err)
	}
}

// TestManyFiles checks 10,000 files with 100,000 messages, which take less than a
// second on one core.
func TestManyFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short")
	}
	dir := t.TempDir()
	text := []byte(header)
	for i := range 10 {
		text = fmt.Appendf(text, "\n#: src/%d.c:%d\nmsgid \"message %d\"\nmsgstr \"zpráva %d\"\n", i, i, i, i)
	}
	good, bad := filepath.Join(dir, "good"), filepath.Join(dir, "bad")
	writeFile(t, good, text)
	writeFile(t, bad, append(text, "garbage"...))
	for i := range 10_000 {
		source := good
		if i%1000 == 0 {
			source = bad
		}
		link(t, source, filepath.Join(dir, fmt.Sprintf("%02d/%02d/%04d.po", i%10, i/10%50, i)))
	}
	var sum check.Summary
	var counts, broken int
	last := ""
	if err := check.Run(t.Context(), check.Options{Paths: []string{dir}}, func(r check.Result) error {
		if r.File <= last {
			t.Errorf("%s after %s", r.File, last)
		}
		last = r.File
		counts += r.Counts.Translated
		if !r.Parsed {
			broken++
		}
		sum.Add(r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := (check.Summary{Files: 10_000, Errors: 10}); sum != want || counts != 99_900 || broken != 10 {
		t.Errorf("%+v, %d messages, %d broken", sum, counts, broken)
	}
}

// link gives a file one more name, which is cheaper than another file.
func link(t testing.TB, source, name string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o700))
	if os.Link(source, name) == nil {
		return
	}
	data, err := os.ReadFile(source)
	must(t, err)
	writeFile(t, name, data)
}
