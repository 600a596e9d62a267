// Bench measures repoglot as a whole process and prints each figure with its limit,
// or with the figure of the program that it is compared with.
//
//	bench -repoglot bin/repoglot [-shared ../shared] [-only import,push]
//
// docs/benchmarks.md has the figures. The measurements, for -only, are import, replay,
// push, watch, onefile, page, search, http, cache, edits, and large, project, components,
// pushes and hostile, which run only if they are named. What a function of one package
// decides is measured by its benchmarks (go test -bench).
//
// Several binaries, or -engines sqlite,postgres, take turns at each measurement, so that
// they meet the same machine; later ones are printed as ratios to the first.
// PostgreSQL is the server of REPOGLOT_TEST_DATABASE, or one that is started.
//
// Each measurement has a temporary folder and uses only loopback. Without the shared
// data, the import is measured on a generated repository of the same size, and the row
// says so.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/testrepos"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// options are the flags of measurements.
type options struct {
	shared   string // folder of the shared data
	versions int
	many     int
	project  testrepos.Project
	replayed int
	lasts    time.Duration // all attacks together
	attack   string        // a part of the names of those to run
}

func bench(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 2 && args[0] == "-bare" {
		return serveBare(args[1], out)
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	var o options
	binaries := flags.String("repoglot", "bin/repoglot", "the binary to measure, or several by comma, in turn")
	engines := flags.String("engines", "sqlite", "sqlite, postgres, or both by comma, in turn")
	only := flags.String("only", "", "measurements to run, by comma; empty: all that take no minutes")
	flags.StringVar(&o.shared, "shared", "../shared", "folder of the shared data")
	flags.IntVar(&o.versions, "versions", 10, "versions of the file of -only large, a million entries each")
	flags.IntVar(&o.many, "many", 10_000, "components of -only components")
	flags.IntVar(&o.project.Components, "components", 100, "components of -only project")
	flags.IntVar(&o.project.Languages, "languages", 70, "languages of each component of -only project")
	flags.IntVar(&o.project.Strings, "strings", 160, "strings of each component of -only project, for the import")
	flags.IntVar(&o.replayed, "replayed", 60, "strings of each component of -only project, for the replay")
	flags.IntVar(&o.project.Templates, "templates", 2000, "commits of templates of -only project")
	flags.IntVar(&o.project.Edits, "edits", 2000, "commits of translators of -only project")
	flags.DurationVar(&o.lasts, "for", 2*time.Minute, "how long all attacks of -only hostile last together")
	flags.StringVar(&o.attack, "attack", "", "a part of the names of the attacks of -only hostile to run; empty: all")
	if err := flags.Parse(args); err != nil {
		return err
	}
	named := strings.FieldsFunc(*only, func(r rune) bool { return r == ',' })
	list := measurements()
	for _, name := range named {
		if !slices.ContainsFunc(list, func(m measurement) bool { return m.name == name }) {
			return fmt.Errorf("there is no measurement %q", name)
		}
	}
	for _, m := range list {
		if m.asked && len(named) == 0 || len(named) > 0 && !slices.Contains(named, m.name) {
			continue
		}
		first := map[string]float64{}
		for _, binary := range strings.Split(*binaries, ",") {
			for _, engine := range strings.Split(*engines, ",") {
				fmt.Fprintf(out, "== %s: %s, %s\n", m.name, binary, engine)
				path, err := filepath.Abs(binary)
				if err != nil {
					return err
				}
				r := &run{ctx: ctx, options: o, binary: path, engine: engine, out: out, first: first}
				if err := r.measure(m); err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
			}
		}
	}
	return nil
}

// measurement prints rows of one kind.
type measurement struct {
	name  string
	run   func(*run)
	asked bool // runs only if -only names it, since it takes minutes
}

func measurements() []measurement {
	return []measurement{
		{name: "import", run: (*run).importHead},
		{name: "replay", run: (*run).replay},
		{name: "push", run: (*run).push},
		{name: "watch", run: (*run).watch},
		{name: "onefile", run: (*run).oneFile},
		{name: "page", run: (*run).page},
		{name: "search", run: (*run).search},
		{name: "http", run: (*run).http},
		{name: "cache", run: (*run).cache},
		{name: "edits", run: (*run).edits},
		{name: "large", run: (*run).large, asked: true},
		{name: "project", run: (*run).projects, asked: true},
		{name: "components", run: (*run).components, asked: true},
		{name: "pushes", run: (*run).pushes, asked: true},
		{name: "hostile", run: (*run).hostile, asked: true},
	}
}

// run is one measurement of one binary. As testing.B does, it ends at the first error
// (must, Fatalf) and cleans up after itself, so it is a [testrepos.TB].
type run struct {
	options
	ctx      context.Context
	binary   string
	engine   string // sqlite or postgres
	address  string // of the PostgreSQL server, once there is one
	out      io.Writer
	first    map[string]float64 // figures of the first binary and engine
	heading  string             // the last row that is not indented
	cleanups []func()
}

// failure is what Fatalf ends a measurement with.
type failure struct{ error }

// measure runs a measurement and returns the error that ended it.
func (r *run) measure(m measurement) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.error
		default:
			panic(p)
		}
	}()
	defer func() {
		for _, f := range slices.Backward(r.cleanups) {
			f()
		}
	}()
	m.run(r)
	return nil
}

// must ends the measurement if there is an error.
func (r *run) must(errs ...error) {
	if err := errors.Join(errs...); err != nil {
		panic(failure{err})
	}
}

// Helper does nothing; it is for [testrepos.TB].
func (r *run) Helper() {}

func (r *run) Fatalf(format string, args ...any) { r.must(fmt.Errorf(format, args...)) }

// Cleanup registers a function for the end of the measurement.
func (r *run) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

// TempDir returns a new folder, which is removed after the measurement.
func (r *run) TempDir() string {
	dir, err := os.MkdirTemp("", "repoglot-bench-")
	r.must(err)
	r.Cleanup(func() { _ = os.RemoveAll(dir) }) // what stays is in the system's temporary folder
	return dir
}

// figure prints a figure without a limit.
func (r *run) figure(what, unit string, measured float64) { r.print(what, unit, measured, "", false) }

// atMost prints a figure whose limit is a maximum.
func (r *run) atMost(what, unit string, measured, limit float64) {
	r.print(what, unit, measured, fmt.Sprintf("<= %.4g", limit), measured > limit)
}

// atLeast prints a figure whose limit is a minimum.
func (r *run) atLeast(what, unit string, measured, limit float64) {
	r.print(what, unit, measured, fmt.Sprintf(">= %.4g", limit), measured < limit)
}

func (r *run) print(what, unit string, measured float64, limit string, missed bool) {
	if !strings.HasPrefix(what, " ") {
		r.heading = what
	}
	verdict, key := "", r.heading+what
	if missed {
		verdict = " MISSED"
	}
	if first, ok := r.first[key]; ok && first != 0 {
		verdict += fmt.Sprintf(" %.2f x the first", measured/first)
	} else {
		r.first[key] = measured
	}
	fmt.Fprintf(r.out, "%-72s %11.6g %-9s %-10s%s\n", what, measured, unit, limit, verdict)
}
