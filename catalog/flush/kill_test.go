package flush

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
)

// childVariable has the directory of TestKill for the process that is killed.
const childVariable = "REPOGLOT_FLUSH_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	gittest.Main(m)
}

// killFiles are the pending edits of TestKill, one commit for each file.
func killFiles() (files []File, tree gittest.Files) {
	tree = gittest.Files{}
	for n := range 4 {
		f := File{Component: "c", Language: fmt.Sprint(n), Path: fmt.Sprintf("po/%d.po", n)}
		var pairs []string
		for i := range 20 {
			pairs = append(pairs, fmt.Sprint("s", i), "")
			f.Edits = append(f.Edits, change(fmt.Sprint("s", i), fmt.Sprintf("text %d of %d", i, n), by("Jana", n)))
		}
		tree[f.Path] = po(pairs...)
		files = append(files, f)
	}
	return files, tree
}

// child flushes once, and says on the standard output how far it is.
func child(dir string) error {
	ctx := context.Background()
	fmt.Println("opened")
	m, err := gitsource.Open(ctx, filepath.Join(dir, "mirror"), remote.Repository{URL: filepath.Join(dir, "up.git"), Branch: "main"}, gitsource.Options{})
	if err != nil {
		return err
	}
	files, _ := killFiles()
	o := Options{Committer: committer, Message: func(g Group) string {
		fmt.Println("commit")
		return "Translate " + g.Languages[0]
	}}
	_, err = Run(ctx, m, Target{Branch: "main"}, func(context.Context, object.Head) ([]File, Options, error) {
		fmt.Println("fetched")
		return files, o, nil
	})
	fmt.Println("pushed")
	return err
}

// TestKill kills a process at each stage of a flush, and lets the last one end: all
// texts are in git, once, and the mirror is whole.
func TestKill(t *testing.T) {
	gittest.NeedGit(t)
	dir := t.TempDir()
	up := gittest.NewUpstreamAt[object.Hash](t, filepath.Join(dir, "up.git"))
	files, tree := killFiles()
	base := up.Push("A", tree)
	const stages = 7 // opened, fetched, 4 commits, pushed
	for stage := 1; stage <= stages; stage++ {
		up.Set("main", base)
		killAt(t, dir, stage)
		killAt(t, dir, 1+stage%stages)
		killAt(t, dir, stages+1) // it ends by itself
		log := gittest.RunGit(t, up.Dir, "log", "--format=%s", "main")
		if want := "Translate 3\nTranslate 2\nTranslate 1\nTranslate 0\nBy A"; log != want {
			t.Errorf("killed at %d: main has %q, want %q", stage, log, want)
		}
	}
	for _, f := range files {
		text := gittest.RunGit(t, up.Dir, "cat-file", "blob", "main:"+f.Path)
		for _, e := range f.Edits {
			if n := strings.Count(text, `msgstr "`+e.Ours.Target+`"`); n != 1 {
				t.Errorf("%s: %q is there %d times", f.Path, e.Ours.Target, n)
			}
		}
	}
	m, err := gitsource.Open(t.Context(), filepath.Join(dir, "mirror"), remote.Repository{URL: up.Dir, Branch: "main"}, gitsource.Options{})
	gittest.Must(t, err)
	for _, outcomes := range derived(t, m, files, Options{}).Outcomes {
		for _, r := range outcomes {
			if r.Outcome != edit.Done {
				t.Errorf("after all: %v", r)
			}
		}
	}
	path, _ := m.Path()
	gittest.RunGit(t, path, "fsck", "--no-dangling")
}

// killAt runs a flush and kills it when it has said a number of lines.
func killAt(t *testing.T, dir string, lines int) {
	t.Helper()
	exe, err := os.Executable()
	gittest.Must(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childVariable+"="+dir)
	out, err := cmd.StdoutPipe()
	gittest.Must(t, err)
	gittest.Must(t, cmd.Start())
	scanner := bufio.NewScanner(out)
	for n := 0; n < lines && scanner.Scan(); n++ {
	}
	_ = cmd.Process.Kill()
	for scanner.Scan() {
	}
	_ = cmd.Wait()
}
