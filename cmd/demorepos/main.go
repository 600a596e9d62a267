// Demorepos makes the repositories of the demo, which repoglot can serve without a
// network.
//
//	demorepos DIR
//	demorepos -advance DIR
//
// The first form makes, below DIR,
//
//	app.git        a program with a template, seven languages and its history
//	docs.git       its manual, three gettext domains
//	glossary.git   its terms
//	repoglot.yaml  a configuration that serves them as the project "demo"
//
// and prints their names. Existing files are kept, so the command can be repeated;
// remove DIR to begin again. repoglot itself makes the data directory, DIR/data.
//
// The second form pushes the next commit into every repository that has commits
// left, and prints it: with `repoglot serve --config DIR/repoglot.yaml` running, the
// API shows the change at once. The repositories store which commits are left.
// Commits that somebody else pushed are kept; the next one is made on top of them.
//
// The exit status is 0 on success, 1 on an error, 2 on wrong usage. Authors and
// dates are fixed, so the commits have the same hashes everywhere.
//
// Non-goals: it serves nothing. Two processes must not use
// the same DIR at the same time.
package main

import (
	"bytes"
	_ "embed" // of repoglot.yaml
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/repoglot/repoglot/api/web/intl"
	"github.com/repoglot/repoglot/testrepos"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the command; it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("demorepos", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprintln(stderr, "usage: demorepos DIR          make the demo's repositories and repoglot.yaml below DIR")
		fmt.Fprintln(stderr, "       demorepos -advance DIR push the next commit into each")
	}
	advanceFlag := fs.Bool("advance", false, "push the next commit into each repository")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if fs.NArg() != 1 || fs.Arg(0) == "" {
		fs.Usage()
		return 2
	}
	work := setUp
	if *advanceFlag {
		work = advance
	}
	if err := work(fs.Arg(0), stdout); err != nil {
		fmt.Fprintf(stderr, "demorepos: %v\n", err)
		return 1
	}
	return 0
}

// demoRepo is one repository of the demo.
type demoRepo struct{ dir, scenario, about string }

// pagesRepo is the repository with the translations of repoglot's own pages, which the
// program that runs this has built in.
const pagesRepo = "pages.git"

func demoRepos() []demoRepo {
	return []demoRepo{
		{"app.git", "demo", "a program: template, languages, history"},
		{"docs.git", "demo-docs", "its manual: three gettext domains"},
		{"glossary.git", "demo-glossary", "its terms"},
		{pagesRepo, "empty", "the translations of repoglot's own pages"},
	}
}

// configFile is the configuration's name below DIR.
const configFile = "repoglot.yaml"

// setUp makes the missing repositories and the configuration.
func setUp(dir string, out io.Writer) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	for _, d := range demoRepos() {
		r, made, err := openOrMake(filepath.Join(dir, d.dir), d.scenario)
		if err == nil && d.dir == pagesRepo {
			made, err = commitPages(r)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s %s  (%s; %d pushes left)\n", verb(made), r.Dir, d.about, r.Rest())
	}
	name, made, err := writeConfig(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s %s\n\nThe next commit of each repository is pushed by: make advance\n", verb(made), name)
	return nil
}

func verb(made bool) string {
	if made {
		return "made"
	}
	return "kept"
}

// openOrMake makes a repository under another name and renames it, so that an
// interrupted one is not taken for complete.
func openOrMake(path, scenario string) (r *testrepos.Repo, made bool, err error) {
	if r, err = testrepos.Open(path, scenario); !errors.Is(err, fs.ErrNotExist) {
		return r, false, err
	}
	temp := path + ".new"
	if err = os.RemoveAll(temp); err == nil {
		_, err = testrepos.Create(temp, scenario)
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return nil, false, fmt.Errorf("repository: %w", err)
	}
	r, err = testrepos.Open(path, scenario)
	return r, true, err
}

// advance pushes the next commit into every repository that has commits left.
func advance(dir string, out io.Writer) error {
	pushed := false
	for _, d := range demoRepos() {
		r, err := testrepos.Open(filepath.Join(dir, d.dir), d.scenario)
		if err != nil {
			return fmt.Errorf("%w; make the demo first: demorepos %s", err, dir)
		}
		var lines []string
		if r.Rest() > 0 {
			lines, err = r.Next()
		} else if d.dir == pagesRepo {
			var made bool
			if made, err = commitPages(r); made {
				lines = []string{"the translations of the pages changed\n"}
			}
		}
		if err != nil {
			return err
		}
		for _, line := range lines {
			pushed = true
			fmt.Fprintf(out, "%s %s", d.dir, line)
		}
	}
	if !pushed {
		fmt.Fprintf(out, "nothing is left to push; remove %s to begin again\n", dir)
	}
	return nil
}

// commitPages commits the translations of the pages if they have changed.
func commitPages(r *testrepos.Repo) (made bool, err error) {
	names, err := fs.Glob(intl.Files, "po/*")
	if err != nil {
		return false, err
	}
	change := testrepos.Change{
		Author: "repoglot <pages@repoglot.example>", Message: "Update the translations of the pages",
		Delete: []string{"po"}, Files: map[string]string{},
	}
	for _, name := range names {
		data, err := fs.ReadFile(intl.Files, name)
		if err != nil {
			return false, err
		}
		change.Files[name] = string(data)
		if before, err := r.ReadFile(testrepos.DefaultBranch, name); err != nil || !bytes.Equal(before, data) {
			made = true
		}
	}
	paths, _ := r.Paths(testrepos.DefaultBranch) // none before the first commit
	if !made && len(paths) == len(names) {
		return false, nil
	}
	_, err = r.Push(change)
	return err == nil, err
}

// writeConfig writes the configuration unless it exists: the user may have changed
// it.
func writeConfig(dir string) (name string, made bool, err error) {
	name = filepath.Join(dir, configFile)
	if _, err := os.Stat(name); err == nil {
		return name, false, nil
	}
	if err = os.WriteFile(name+".new", config(dir), 0o644); err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		return name, false, fmt.Errorf("configuration: %w", err)
	}
	return name, true, nil
}

// config is the configuration of a folder. Paths are quoted as JSON, which is valid YAML.
func config(dir string) []byte {
	path := func(name string) string {
		quoted, _ := json.Marshal(filepath.Join(dir, name)) // texts have no error
		return string(quoted)
	}
	return fmt.Appendf(nil, configText, path("data"), path("app.git"), path("docs.git"), path("glossary.git"), path(pagesRepo))
}

//go:embed repoglot.yaml
var configText string
