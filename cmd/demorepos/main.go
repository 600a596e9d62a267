// Demorepos makes the repositories of the demo, so that repoglot has something
// to serve on a machine without network.
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
// and prints what it made. What exists already stays as it is, so the command
// can be repeated; remove DIR to begin anew. The data directory that the
// configuration names, DIR/data, is made by repoglot itself.
//
// The second form pushes the next commit into every repository that has one
// left, and prints it: with `repoglot serve --config DIR/repoglot.yaml` running,
// the change shows at once in the API. When nothing is left it says so. Where
// the history stands is kept in the repositories. Commits that somebody else
// pushed are kept, the next one is made on top of them.
//
// The exit status is 0 on success, 1 on an error, 2 on wrong usage. Authors and
// dates are fixed, so the commits have the same hashes everywhere.
//
// Non-goals: it serves nothing and needs no git binary. Two processes must not
// run it on one DIR at the same time.
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
