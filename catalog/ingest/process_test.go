package ingest_test

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
	"testing"
	"time"
)

// options are the flags of measurements.
type options struct {
	binaries, engines, only string
	shared                  string // folder of the shared data
	versions                int
	many                    int
	project                 Project
	replayed                int
	lasts                   time.Duration // all attacks together
	attack                  string        // a part of the names of those to run
}

var given options

// flags defines the flags of measurements.
func (o *options) flags() {
	flag.StringVar(&o.binaries, "repoglot", "bin/repoglot", "the binary to measure, or several by comma, in turn")
	flag.StringVar(&o.engines, "engines", "sqlite", "sqlite, postgres, or both by comma, in turn")
	flag.StringVar(&o.only, "only", "", "measurements to run, by comma; empty: all that take no minutes")
	flag.StringVar(&o.shared, "shared", "../shared", "folder of the shared data")
	flag.IntVar(&o.versions, "versions", 10, "versions of the file of -only large, a million entries each")
	flag.IntVar(&o.many, "many", 10_000, "components of -only components")
	flag.IntVar(&o.project.Components, "components", 100, "components of -only project")
	flag.IntVar(&o.project.Languages, "languages", 70, "languages of each component of -only project")
	flag.IntVar(&o.project.Strings, "strings", 160, "strings of each component of -only project, for the import")
	flag.IntVar(&o.replayed, "replayed", 60, "strings of each component of -only project, for the replay")
	flag.IntVar(&o.project.Templates, "templates", 2000, "commits of templates of -only project")
	flag.IntVar(&o.project.Edits, "edits", 2000, "commits of translators of -only project")
	flag.DurationVar(&o.lasts, "for", 2*time.Minute, "how long all attacks of -only hostile last together")
	flag.StringVar(&o.attack, "attack", "", "a part of the names of the attacks of -only hostile to run; empty: all")
}

// BenchmarkProcess measures repoglot as a whole process and prints each figure with its limit,
// or with the figure of the program that it is compared with. Each measurement runs once for
// each binary and engine:
//
//	.ci/bench -repoglot bin/repoglot [-shared ../shared] [-only import,push]
//
// docs/benchmarks.md has the figures. The measurements, for -only, are import, replay,
// push, watch, onefile, page, search, http, cache, edits, and searches, large, project,
// components, pushone, pushes and hostile, which run only if they are named. What a function of one package
// decides is measured by its benchmarks (go test -bench).
//
// Several binaries, or -engines sqlite,postgres, take turns at each measurement, so that
// they meet the same machine; later ones are printed as ratios to the first.
// PostgreSQL is the server of REPOGLOT_TEST_DATABASE, or one that is started.
//
// Each measurement has a temporary folder and uses only loopback. Without the shared
// data, the import is measured on a generated repository of the same size, and the row
// says so.
func BenchmarkProcess(b *testing.B) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b.Chdir("../..")
	named := strings.FieldsFunc(given.only, func(r rune) bool { return r == ',' })
	list := measurements()
	for _, name := range named {
		if !slices.ContainsFunc(list, func(m measurement) bool { return m.name == name }) {
			b.Fatalf("there is no measurement %q", name)
		}
	}
	for _, m := range list {
		if m.asked && len(named) == 0 || len(named) > 0 && !slices.Contains(named, m.name) {
			continue
		}
		first := map[string]float64{}
		for _, binary := range strings.Split(given.binaries, ",") {
			for _, engine := range strings.Split(given.engines, ",") {
				b.Run(m.name, func(b *testing.B) {
					fmt.Printf("== %s: %s, %s\n", m.name, binary, engine)
					path, err := filepath.Abs(binary)
					r := &run{TB: b, options: given, ctx: ctx, binary: path, engine: engine, out: os.Stdout, first: first}
					r.must(err)
					m.run(r)
				})
			}
		}
	}
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
		{name: "searches", run: (*run).searches, asked: true},
		{name: "large", run: (*run).large, asked: true},
		{name: "project", run: (*run).projects, asked: true},
		{name: "components", run: (*run).components, asked: true},
		{name: "pushone", run: (*run).pushOne, asked: true},
		{name: "pushes", run: (*run).pushes, asked: true},
		{name: "hostile", run: (*run).hostile, asked: true},
	}
}

// run is one measurement of one binary.
type run struct {
	testing.TB
	options
	ctx     context.Context
	binary  string
	engine  string // sqlite or postgres
	address string // of the PostgreSQL server, once there is one
	out     io.Writer
	first   map[string]float64 // figures of the first binary and engine
	heading string             // the last row that is not indented
}

// must ends the measurement if there is an error.
func (r *run) must(errs ...error) {
	r.Helper()
	if err := errors.Join(errs...); err != nil {
		r.Fatal(err)
	}
}

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
