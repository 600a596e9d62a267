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
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
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
