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
// Non-goals: it serves nothing and needs no git binary. Two processes must not use
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
	"slices"

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
type demoRepo struct {
	dir      string // below DIR
	scenario string
	about    string
}

func demoRepos() []demoRepo {
	return []demoRepo{
		{"app.git", "demo", "a program: template, languages, history"},
		{"docs.git", "demo-docs", "its manual: three gettext domains"},
		{"glossary.git", "demo-glossary", "its terms"},
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
		s, err := testrepos.Named(d.scenario)
		if err != nil {
			return err
		}
		r, made, err := openOrMake(filepath.Join(dir, d.dir), s)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s %s  (%s; %d pushes left)\n", verb(made), r.Dir, d.about, r.Rest())
	}
	pages, made, err := commitPages(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s %s  (the translations of repoglot's own pages)\n", verb(made), pages)
	name, made, err := writeConfig(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s %s\n", verb(made), name)
	fmt.Fprintf(out, "\nThe next commit of each repository is pushed by: make advance\n")
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
func openOrMake(path string, s *testrepos.Scenario) (r *testrepos.Repo, made bool, err error) {
	switch _, err := os.Stat(path); {
	case err == nil:
		r, err := testrepos.Open(path, s)
		return r, false, err
	case !errors.Is(err, fs.ErrNotExist):
		return nil, false, fmt.Errorf("repository: %w", err)
	}
	temp := path + ".new"
	if err := os.RemoveAll(temp); err != nil {
		return nil, false, fmt.Errorf("repository: %w", err)
	}
	if _, err := testrepos.Create(temp, s); err != nil {
		return nil, false, err
	}
	if err := os.Rename(temp, path); err != nil {
		return nil, false, fmt.Errorf("repository: %w", err)
	}
	r, err = testrepos.Open(path, s)
	return r, true, err
}

// advance pushes the next commit into every repository that has commits left.
func advance(dir string, out io.Writer) error {
	pushed := false
	for _, d := range demoRepos() {
		s, err := testrepos.Named(d.scenario)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, d.dir)
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%w; make the demo first: demorepos %s", err, dir)
		}
		r, err := testrepos.Open(path, s)
		if err != nil {
			return err
		}
		if r.Rest() == 0 {
			continue
		}
		commits, err := r.Next()
		if err != nil {
			return err
		}
		pushed = true
		for _, c := range commits {
			fmt.Fprintf(out, "%s %.10s %s: %s\n", d.dir, c.Hash, c.Author, c.Subject)
		}
	}
	if _, changed, err := commitPages(dir); err != nil {
		return err
	} else if changed {
		pushed = true
		fmt.Fprintf(out, "%s: the translations of the pages changed\n", pagesRepo)
	}
	if !pushed {
		fmt.Fprintf(out, "nothing is left to push; remove %s to begin again\n", dir)
	}
	return nil
}

// pagesRepo is the repository with the translations of repoglot's own pages.
const pagesRepo = "pages.git"

// commitPages makes the repository of the pages' translations, or commits those that
// changed since: the program that runs this has them built in. made says whether there
// is a new commit.
func commitPages(dir string) (path string, made bool, err error) {
	r, _, err := openOrMake(filepath.Join(dir, pagesRepo), &testrepos.Scenario{Name: "pages", Branch: testrepos.DefaultBranch})
	if err != nil {
		return "", false, err
	}
	change := testrepos.Change{
		Author: "repoglot <pages@repoglot.example>", Message: "Update the translations of the pages",
		Files: map[string]string{},
	}
	if r.Head() == "" {
		change.Message = "Add the translations of the pages"
	} else if change.Delete, err = r.Paths(r.Head()); err != nil {
		return r.Dir, false, err
	}
	names, err := fs.Glob(intl.Files, "po/*")
	if err != nil {
		return r.Dir, false, err
	}
	for _, name := range names {
		data, err := fs.ReadFile(intl.Files, name)
		if err != nil {
			return r.Dir, false, err
		}
		if before, err := r.ReadFile(r.Head(), name); err != nil || !bytes.Equal(before, data) {
			change.Files[name] = string(data)
		}
	}
	change.Delete = slices.DeleteFunc(change.Delete, func(name string) bool { return slices.Contains(names, name) })
	if len(change.Files)+len(change.Delete) == 0 {
		return r.Dir, false, nil
	}
	_, err = r.Push(change)
	return r.Dir, err == nil, err
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
