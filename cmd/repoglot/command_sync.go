package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/check"
	"github.com/repoglot/repoglot/cmd/repoglot/server"
)

var errNothing = errors.New("the configuration names no component")

func (p *program) syncCommand() *cobra.Command {
	cmd := action("sync [--config FILE] [PROJECT/COMPONENT]...", "Pull everything, or the components named, once", nil, func(ctx context.Context, args []string) error {
		p.memory().Limit()
		return p.sync(ctx, args)
	})
	p.dataFlags(cmd.Flags())
	p.logFlags(cmd.Flags(), slog.LevelWarn)
	return cmd
}

func (p *program) sync(ctx context.Context, names []string) (err error) {
	log, err := p.logger(slog.LevelWarn)
	if err != nil {
		return err
	}
	c, err := p.load(false, "name a configuration with --config FILE")
	if err != nil {
		return err
	}
	plan := server.NewPlan(c)
	wanted, err := wantedBranches(plan, names)
	if err != nil {
		return err
	}
	e, err := server.Open(ctx, c, p.serverOptions(server.WorkSync, log, func(branch, done string) { fmt.Fprintf(p.stderr, "importing %s: %s\n", branch, done) }))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	warn(log, c)
	if err := e.Configure(ctx, plan); err != nil {
		return err
	}
	pull, err := e.Puller()
	if err != nil {
		return err
	}
	out := &results{program: p, names: names}
	group := errgroup.Group{}
	group.SetLimit(server.Workers(c))
	for _, b := range wanted {
		group.Go(func() error {
			report, err := pull(ctx, b)
			out.add(b, report, err)
			return nil
		})
	}
	_ = group.Wait() // the errors are in out
	if err := ctx.Err(); err != nil {
		return errors.New("stopped by a signal; what was pulled so far is stored, run sync again for the rest")
	}
	if out.failed > 0 {
		return fmt.Errorf("%s went wrong, see above; everything else was pulled", check.Quantity(out.failed, "thing"))
	}
	return nil
}

// wantedBranches returns the branches of the components named, or all branches.
func wantedBranches(p *server.Plan, names []string) ([]*ingest.Branch, error) {
	has := func(b *ingest.Branch, name string) bool {
		return slices.ContainsFunc(b.Components, func(c ingest.Component) bool { return named(&c, name) })
	}
	var list []*ingest.Branch
	for i := range p.Branches() {
		b := &p.Branches()[i]
		if len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return has(b, n) }) {
			list = append(list, b)
		}
	}
	for _, n := range names {
		if !slices.ContainsFunc(list, func(b *ingest.Branch) bool { return has(b, n) }) {
			return nil, usageError{fmt.Errorf("the configuration has no component %s: name one as PROJECT/COMPONENT", n)}
		}
	}
	if len(list) == 0 {
		return nil, usageError{errNothing}
	}
	return list, nil
}

// named reports whether PROJECT/COMPONENT may name a component or one that it discovers.
func named(c *ingest.Component, name string) bool {
	project, slug, _ := strings.Cut(name, "/")
	if project != c.Spec.Project {
		return false
	}
	before, after, discovers := strings.Cut(c.Spec.Slug, "{component}")
	if !discovers || slug == c.Spec.Slug {
		return slug == c.Spec.Slug
	}
	return len(slug) > len(before)+len(after) && strings.HasPrefix(slug, before) && strings.HasSuffix(slug, after)
}

type results struct {
	program *program
	names   []string
	mu      sync.Mutex
	failed  int
}

// add prints the result of a pull, one line for each component.
func (r *results) add(b *ingest.Branch, report ingest.Report, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.SortedFunc(slices.Values(report.Components), func(a, b ingest.ComponentReport) int {
		return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Slug, b.Slug))
	})
	if len(list) == 0 && err != nil { // the branch as a whole
		for _, c := range b.Components {
			r.fail(c.Spec.Project+"/"+c.Spec.Slug, err.Error())
		}
		return
	}
	reported := err == nil
	for _, c := range list {
		reported = reported || c.Err != nil
		r.line(c)
	}
	for _, line := range server.NewFailureLines(&report, len(report.NewFailures.List)) {
		fmt.Fprintln(r.program.stdout, "newly failing:", line)
	}
	if !reported { // no component has this error
		r.fail(b.Key, err.Error())
	}
}

func (r *results) fail(name, why string) {
	r.failed++
	fmt.Fprintf(r.program.stderr, "repoglot: %s: %s\n", name, strings.ReplaceAll(why, "\n", "; "))
}

// line prints the result of a component: changes to stdout, errors to stderr.
func (r *results) line(c ingest.ComponentReport) {
	name := c.Project + "/" + c.Slug
	if len(r.names) > 0 && !slices.ContainsFunc(r.names, func(n string) bool { return n == name || strings.Contains(n, "{component}") }) {
		return
	}
	if c.Err != nil {
		r.fail(name, c.Err.Error())
		return
	}
	fmt.Fprintf(r.program.stdout, "%s: %s, at %.12s\n", name, check.Quantity(int(c.Changes), "change"), c.Head)
	for _, problem := range server.FirstProblems(c.Problems) {
		r.fail(name, problem)
	}
}

func (p *program) jobsCommand() *cobra.Command {
	format := "text"
	cmd := action("jobs [--format text|json]", "Show what the processes that use one PostgreSQL database pull", arguments(0, "no argument"), func(ctx context.Context, _ []string) error {
		if format != "text" && format != "json" {
			return usageError{fmt.Errorf("--format %s: write text or json", format)}
		}
		return p.jobs(ctx, format)
	})
	p.dataFlags(cmd.Flags())
	cmd.Flags().StringVar(&format, "format", format, "`FORMAT` of the list: text or json")
	return cmd
}

func (p *program) jobs(ctx context.Context, format string) error {
	c, err := p.load(false, "name a configuration with --config FILE")
	if err != nil {
		return err
	}
	if c.Database.Raw() == "" {
		return usageError{errors.New("the database is SQLite, which one process uses: its /readyz says what it pulls")}
	}
	return withDatabase(ctx, c, store.Options{Shared: true}, func(db *store.DB) error {
		state, err := db.Cluster().State(ctx)
		if err != nil {
			return err
		}
		return server.WriteJobs(p.stdout, state, format == "json")
	})
}
