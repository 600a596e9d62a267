package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog/store/pgserver"
	"github.com/repoglot/repoglot/testrepos"
)

// The limits of PostgreSQL, against SQLite in the same run.
const (
	overSQLiteImport = 0.6 // of the rate
	overSQLiteReplay = 0.5 // of the rate
	overSQLiteTime   = 2   // of a page and of a push
	engineRounds     = 3   // of imports, the best counts
	enginePages      = 300
)

// databaseVariable has the address of the PostgreSQL to measure, whose user may
// create schemas. They stay, to be looked at. Without it a server is started from the
// programs on the machine, with durable commits.
const databaseVariable = "REPOGLOT_TEST_DATABASE"

// postgresServer is the address of the server that is measured; end ends it if it was
// started here.
func postgresServer() (address string, end func() error, err error) {
	if address := os.Getenv(databaseVariable); address != "" {
		return address, func() error { return nil }, nil
	}
	server, err := pgserver.Start("shared_buffers = 256MB\nmax_wal_size = 4GB\n")
	if err != nil {
		return "", nil, err
	}
	return server.Address, server.Close, nil
}

// engines are a bench on SQLite and one on PostgreSQL.
type engines [2]*bench

// postgres measures PostgreSQL and SQLite in turn.
func (b *bench) postgres(ctx context.Context) (err error) {
	address, end, err := postgresServer()
	if err != nil {
		return err
	}
	defer end()
	lite, pg := *b, *b
	lite.dir, pg.dir, pg.server = filepath.Join(b.dir, "sqlite"), filepath.Join(b.dir, "postgres"), address
	pair := engines{&lite, &pg}
	if err := b.importsOf(ctx, pair); err != nil {
		return err
	}
	if err := pair.serve(ctx); err != nil {
		return err
	}
	return pg.processes(ctx)
}

// importsOf prints the rows of a first import and of a replay.
func (b *bench) importsOf(ctx context.Context, pair engines) error {
	for _, r := range []struct {
		name, mask, history, list string
		limit                     float64
	}{
		{"vim-po", "        filemask: src/po/*.po\n        new_base: src/po/vim.pot\n" + anyLanguageCode, "none", "/api/units/", overSQLiteImport},
		{"gtranslator-po", "        filemask: po/*.po\n" + anyLanguageCode, "full", "/api/changes/", overSQLiteReplay},
	} {
		repo, err := b.cloneBundle(ctx, r.name)
		if err != nil {
			return err
		}
		if repo == "" {
			fmt.Fprintf(b.out, "postgres: %s not measured, there is no shared data\n", r.name)
			continue
		}
		var configs [2]string
		var best [2]usage
		for i, e := range pair {
			if configs[i], err = e.writeComponents(ctx, r.name, repo, r.history, map[string]string{"it": r.mask}); err != nil {
				return err
			}
			if _, err := e.sync(ctx, configs[i]); err != nil { // clones
				return err
			}
		}
		for range engineRounds {
			for i, e := range pair {
				u, _, err := e.importAgain(ctx, configs[i], 1)
				if err != nil {
					return err
				}
				best[i] = best[i].best(u)
			}
		}
		n, err := pair[1].countIn(ctx, configs[1], r.list)
		if err != nil {
			return err
		}
		b.rate(fmt.Sprintf("postgres: %s, history: %s, %d, against SQLite", r.name, r.history, n), "×", best[0].wall.Seconds()/best[1].wall.Seconds(), r.limit)
		b.eachEngine("  processor time, but for the database's own processes", "s", best[0].cpu.Seconds(), best[1].cpu.Seconds())
		b.eachEngine("  of the clock", "s", best[0].wall.Seconds(), best[1].wall.Seconds())
	}
	return nil
}

// eachEngine prints a figure of both engines.
func (b *bench) eachEngine(what, unit string, lite, pg float64) {
	fmt.Fprintf(b.out, "%-58s %11.4g %-3s SQLite %.4g\n", what, pg, unit, lite)
}

// serve prints the rows of pages and pushes.
func (pair engines) serve(ctx context.Context) error {
	var servers [2]*server
	var repos [2]*testrepos.Generated
	for i, e := range pair {
		s, repo, err := e.serveGenerated(ctx, testrepos.GenSpec{Name: "served", Entries: pushEntries}, "max_file_size: 1GiB\n")
		if err != nil {
			return err
		}
		defer s.stop()
		servers[i], repos[i] = s, repo
	}
	const page = "/api/translations/bench/it/cs/units/?page_size=50&page="
	get := func(path func(n int) string) func(i, n int) (time.Duration, error) {
		return func(i, n int) (time.Duration, error) {
			_, took, err := servers[i].get(path(n))
			return took, err
		}
	}
	for _, r := range []struct {
		what string
		n    int
		time func(engine, n int) (time.Duration, error)
	}{
		{"cold page of 50 units", enginePages, get(func(n int) string { return fmt.Sprintf("%s%d&nothing=%d", page, 1+n*131%1000, n) })},
		{"warm page", enginePages, get(func(int) string { return page + "1" })},
		{fmt.Sprintf("1 of %d entries pushed: visible", pushEntries), pushes, func(i, n int) (time.Duration, error) {
			edited, err := repos[i].EditStrings("cs", n*977%pushEntries)
			if err == nil {
				err = servers[i].waitFor(edited[0].Target)
			}
			if err != nil {
				return 0, err
			}
			return time.Since(edited[0].Pushed), nil
		}},
	} {
		lite, pg, err := inTurn(r.n, r.time)
		if err != nil {
			return err
		}
		pair[0].row(fmt.Sprintf("postgres: %s (%.3g ms), against SQLite", r.what, pg), "×", pg/lite, overSQLiteTime)
	}
	return nil
}

// inTurn measures both engines n times in turn, after some rounds to warm up. It
// returns their medians.
func inTurn(n int, measure func(engine, n int) (time.Duration, error)) (lite, pg float64, err error) {
	const warm = 5
	var took [2][]time.Duration
	for n := range n + warm {
		for i := range took {
			d, err := measure(i, n)
			if err != nil {
				return 0, 0, err
			}
			if n >= warm {
				took[i] = append(took[i], d)
			}
		}
	}
	return median(took[0]), median(took[1]), nil
}

// clusterProjects is the number of projects, each with a repository, of processes.
const clusterProjects = 6

// processes replays repositories by one process that pulls one after the other, by
// one that pulls all at once, and by as many processes as there are repositories.
func (b *bench) processes(ctx context.Context) error {
	config, commits, err := b.writeProjects()
	if err != nil {
		return err
	}
	var rates, cpus [3]float64
	for i, kind := range []struct {
		what      string
		processes int
		workers   int
	}{{"one process, one pull at a time", 1, 1}, {"one process, six pulls at a time", 1, 6}, {"six processes", 6, 1}} {
		for range engineRounds {
			wall, cpu, err := b.replayBy(ctx, config, kind.processes, kind.workers)
			if err != nil {
				return err
			}
			rates[i] = max(rates[i], float64(commits)/wall.Seconds())
			if cpus[i] == 0 || cpu.Seconds() < cpus[i] {
				cpus[i] = cpu.Seconds()
			}
		}
		b.figure(fmt.Sprintf("postgres: %d histories, %s", clusterProjects, kind.what), "commits/s", rates[i])
		b.figure("  processor time, but for the database's own processes", "s", cpus[i])
	}
	b.figure("  six processes against one, commits/s", "×", rates[2]/rates[1])
	b.figure("  the same by processor time", "×", cpus[2]/cpus[1])
	return nil
}

// writeProjects makes the repositories and the configuration of processes.
func (b *bench) writeProjects() (config string, commits int, err error) {
	text := "git: builtin\nprojects:\n"
	for i := range clusterProjects {
		repo, err := testrepos.CreateProject(filepath.Join(b.dir, fmt.Sprintf("p%d.git", i)), testrepos.Project{
			Components: 1, Languages: 10, Strings: 60, Templates: 200, Edits: 200, Seed: uint64(i),
		})
		if err != nil {
			return "", 0, err
		}
		commits += len(repo.Commits)
		text += fmt.Sprintf("  - slug: p%d\n    components:\n      - {slug: it, repo: %s, history: full, filemask: app-000/*.po, new_base: app-000/messages.pot}\n", i, repo.Dir)
	}
	return filepath.Join(b.dir, "processes.yaml"), commits, os.WriteFile(filepath.Join(b.dir, "processes.yaml"), []byte(text), 0o644)
}

// replayBy has processes replay all projects, shared out among them, into an empty
// database. It returns the time until the last one ended, and their processor time.
func (b *bench) replayBy(ctx context.Context, config string, processes, workers int) (wall, cpu time.Duration, err error) {
	database, err := b.schema(ctx, "processes")
	if err != nil {
		return 0, 0, err
	}
	text, err := os.ReadFile(config)
	if err != nil {
		return 0, 0, err
	}
	path := filepath.Join(b.dir, "replayed.yaml")
	if err := os.WriteFile(path, append(fmt.Appendf(nil, "%sworkers: %d\n", database, workers), text...), 0o644); err != nil {
		return 0, 0, err
	}
	var group sync.WaitGroup
	used, errs := make([]usage, processes), make([]error, processes)
	started := time.Now()
	for i := range processes {
		args := []string{"sync", "--config", path, "--data-dir", filepath.Join(b.dir, fmt.Sprint("data-", i))}
		for p := i; p < clusterProjects; p += processes {
			args = append(args, fmt.Sprintf("p%d/it", p))
		}
		group.Go(func() {
			for range engineRounds { // two that meet new authors in another order may be a deadlock, which one of them is told
				var u usage
				u, errs[i] = measure(exec.CommandContext(ctx, b.binary, args...))
				if used[i].cpu += u.cpu; errs[i] == nil {
					return
				}
			}
		})
	}
	group.Wait()
	wall = time.Since(started)
	for i, u := range used {
		cpu, err = cpu+u.cpu, cmp.Or(err, errs[i])
	}
	return wall, cpu, err
}

// schema empties the schema of a folder's database and returns the line of the
// configuration that names it; with SQLite there is none.
func (b *bench) schema(ctx context.Context, name string) (string, error) {
	if b.server == "" {
		return "", nil
	}
	schema := "bench_" + strings.ReplaceAll(name, "-", "_")
	if err := pgserver.Run(ctx, b.server, "SET client_min_messages = error; DROP SCHEMA IF EXISTS "+schema+" CASCADE; CREATE SCHEMA "+schema); err != nil {
		return "", err
	}
	dsn, err := pgserver.Schema(b.server, schema)
	return fmt.Sprintf("database: %q\n", dsn), err
}
