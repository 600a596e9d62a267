package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/ingest/schedule"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

// errNothing is the error of sync for a configuration without components.
var errNothing = errors.New("the configuration names no component")

func (p *program) syncCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sync [--config FILE] [PROJECT/COMPONENT]...",
		Short: "Pull everything, or the components named, once",
		Long: "Pull everything once, or only the branches of the components named (their\n" +
			"neighbours on the same branch are pulled with them). One line is printed for\n" +
			"each component. The exit status is 0 only if every component is at its branch's\n" +
			"head and every file of it is served.",
		RunE: work(func(cmd *cobra.Command, args []string) error {
			defer limitMemory(p.memory(), baseMemory)()
			return p.sync(cmd.Context(), args)
		}),
	}
	p.dataFlags(cmd.Flags())
	p.logFlags(cmd.Flags(), slog.LevelWarn)
	return cmd
}

// sync pulls once and prints the results.
func (p *program) sync(ctx context.Context, names []string) (err error) {
	b := newProgressBar(p.stderr)
	p.stdout, p.stderr = b.above(p.stdout), b.above(p.stderr)
	log, err := p.logger(slog.LevelWarn)
	if err != nil {
		return err
	}
	c, err := p.loadBy(config.LoadWithoutSecrets, "name a configuration with --config FILE")
	if err != nil {
		return err
	}
	plan := newPlan(c)
	wanted, err := wantedBranches(plan, names)
	if err != nil {
		return err
	}
	pr := newProgress(b, time.Now, func(key string, d done) { fmt.Fprintf(p.stderr, "importing %s: %s\n", key, d) })
	e, err := openEngine(ctx, c, workSync, p.memory(), log, pr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	warn(log, c)
	if err := e.configure(ctx, plan, store.ErrWriting); err != nil {
		return err
	}
	pull, err := p.pullOnce(e)
	if err != nil {
		return err
	}
	out := &results{program: p, names: names}
	group := errgroup.Group{}
	group.SetLimit(workers(c))
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
	return out.summary()
}

// pullOnce returns the function that pulls a branch: in a cluster, once no other
// process pulls it.
func (p *program) pullOnce(e *engine) (func(context.Context, *ingest.Branch) (ingest.Report, error), error) {
	if e.cluster == nil {
		return e.pull, nil
	}
	if e.cluster.older() {
		return nil, errOlderCopy
	}
	e.cluster.length = p.leaseLength
	puller := e.cluster.puller(0, nil, nil)
	return func(ctx context.Context, b *ingest.Branch) (report ingest.Report, err error) {
		err = puller.Hold(ctx, &schedule.Job{Key: b.Key, Run: func(ctx context.Context) (err error) {
			report, err = e.pull(ctx, b)
			return err
		}})
		return report, err
	}, nil
}

// workers is the number of pulls at a time.
func workers(c *config.Config) int { return numberOfWorkers(c.Workers) }

func numberOfWorkers(configured int) int {
	if configured > 0 {
		return configured
	}
	return max(2, runtime.GOMAXPROCS(0))
}

// wantedBranches returns the branches of the components named, or all branches.
func wantedBranches(p *plan, names []string) ([]*ingest.Branch, error) {
	var list []*ingest.Branch
	left := map[string]bool{}
	for _, n := range names {
		left[n] = true
	}
	for i := range p.branches {
		b := &p.branches[i]
		wanted := len(names) == 0
		for _, c := range b.Components {
			for _, n := range names {
				if named(&c, n) {
					wanted = true
					delete(left, n)
				}
			}
		}
		if wanted {
			list = append(list, b)
		}
	}
	for _, n := range names {
		if left[n] {
			return nil, usageError{fmt.Errorf("the configuration has no component %s: name one as PROJECT/COMPONENT", n)}
		}
	}
	if len(list) == 0 {
		return nil, usageError{errNothing}
	}
	return list, nil
}

// named reports whether PROJECT/COMPONENT may name a component or one that it
// discovers.
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

// results prints the results of pulls.
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
	for _, line := range newFailureLines(&report, len(report.NewFailures.List)) {
		fmt.Fprintln(r.program.stdout, "newly failing:", line)
	}
	if !reported { // no component has this error
		r.fail(b.Key, err.Error())
	}
}

// fail prints an error in one line.
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
	noun := "changes"
	if c.Changes == 1 {
		noun = "change"
	}
	fmt.Fprintf(r.program.stdout, "%s: %d %s, at %.12s\n", name, c.Changes, noun, c.Head)
	for _, problem := range firstProblems(c.Problems) {
		r.fail(name, problem)
	}
}

// summary returns an error if anything went wrong.
func (r *results) summary() error {
	switch r.failed {
	case 0:
		return nil
	case 1:
		return errors.New("one thing went wrong, see above; everything else was pulled")
	default:
		return fmt.Errorf("%d things went wrong, see above; everything else was pulled", r.failed)
	}
}
