// Bench measures repoglot as a whole process and prints each figure with its limit,
// or with the figure of the program that it is compared with.
//
//	bench -repoglot bin/repoglot [-shared ../shared] [-only import,push]
//
// docs/benchmarks.md has the figures. The measurements, for -only, are po, checks,
// source, watch, import, replay, pull, push, onefile, page, search, http, edits, cache, and
// large, project, components, hostile, postgres and scale, which run only if they are named.
// Each run starts from an empty data directory in a temporary folder and uses only
// loopback. Without the shared data, the import is
// measured on a generated repository of the same size, and the row says so.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// bench is the environment of all measurements.
type bench struct {
	binary string // repoglot
	shared string // folder of the shared data
	dir    string // temporary folder
	out    io.Writer
	server string // address of the PostgreSQL to use; "": SQLite

	versions int         // of the file of large
	project  projectSize // of the repositories of project
	many     int         // components of components
	scaleDir string      // what scale keeps
	hostileOptions
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == "-child" {
		return runChild(ctx, args[1:], out)
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	binary := flags.String("repoglot", "bin/repoglot", "the binary to measure")
	shared := flags.String("shared", "../shared", "folder of the shared data")
	only := flags.String("only", "", "measurements to run, by comma; empty: all")
	versions := flags.Int("versions", 10, "versions of the file of -only large, a million entries each")
	var size projectSize
	size.flags(flags)
	many := flags.Int("many", 10_000, "components of -only components")
	scaleDir := flags.String("scale", "", "folder that -only scale keeps its repositories in; empty: a temporary one")
	var strangers hostileOptions
	flags.DurationVar(&strangers.lasts, "for", 2*time.Minute, "how long all attacks of -only hostile last together")
	flags.StringVar(&strangers.attack, "attack", "", "a part of the names of the attacks of -only hostile to run; empty: all")
	if err := flags.Parse(args); err != nil {
		return err
	}
	abs, err := filepath.Abs(*binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "repoglot-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{binary: abs, shared: *shared, dir: dir, out: out, versions: *versions, project: size, many: *many, scaleDir: *scaleDir, hostileOptions: strangers}
	fmt.Fprintf(out, "%-58s %14s %14s  %s\n", "what", "measured", "limit", "ratio")
	for _, m := range b.measurements() {
		if *only != "" && !strings.Contains(","+*only+",", ","+m.name+",") || *only == "" && m.asked {
			continue
		}
		if err := m.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// measurement prints rows of one kind.
type measurement struct {
	name  string
	run   func(context.Context) error
	asked bool // runs only if -only names it, since it takes minutes
}

func (b *bench) measurements() []measurement {
	return []measurement{
		{name: "po", run: b.po},
		{name: "checks", run: b.checks},
		{name: "source", run: b.source},
		{name: "watch", run: b.watch},
		{name: "import", run: b.importHead},
		{name: "replay", run: b.replay},
		{name: "pull", run: b.pullAfter},
		{name: "push", run: b.push},
		{name: "onefile", run: b.oneFile},
		{name: "page", run: b.page},
		{name: "search", run: b.search},
		{name: "large", run: b.large, asked: true},
		{name: "http", run: b.http},
		{name: "edits", run: b.edits},
		{name: "project", run: b.projects, asked: true},
		{name: "cache", run: b.cache},
		{name: "components", run: b.components, asked: true},
		{name: "hostile", run: b.hostile, asked: true},
		{name: "postgres", run: b.postgres, asked: true},
		{name: "scale", run: b.scale, asked: true},
		{name: "pushes", run: b.pushes, asked: true},
	}
}

// figure prints a figure without a limit.
func (b *bench) figure(what, unit string, measured float64) {
	fmt.Fprintf(b.out, "%-58s %11.4g %s\n", what, measured, unit)
}

// row prints a figure whose limit is a maximum.
func (b *bench) row(what, unit string, measured, limit float64) {
	verdict := "ok"
	if measured > limit {
		verdict = "MISSED"
	}
	fmt.Fprintf(b.out, "%-58s %11.4g %-3s %10.4g %-3s %5.2f %s\n", what, measured, unit, limit, unit, measured/limit, verdict)
}

// rate prints a figure whose limit is a minimum.
func (b *bench) rate(what, unit string, measured, limit float64) {
	verdict := "ok"
	if measured < limit {
		verdict = "MISSED"
	}
	fmt.Fprintf(b.out, "%-58s %11.6g %-9s %8.6g %-9s %5.1f× %s\n", what, measured, unit, limit, unit, measured/limit, verdict)
}
