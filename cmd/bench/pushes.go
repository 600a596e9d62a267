package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/repoglot/repoglot/testrepos"
)

const (
	pushedRepos   = 24  // each has at most one push that is not stored yet
	pushesOfEach  = 900 // commits of each that can be pushed
	pushesFor     = 10 * time.Second
	pushesPause   = 2 * time.Second // after a start, until nothing is left to pull
	pushesTimeout = time.Minute     // of a single one
)

// pushedRepo is a repository whose commits are pushed one by one.
type pushedRepo struct {
	ref   string // its file
	ahead []string
}

// pushes measures how many small pushes a second one PostgreSQL bears with 1, 2 and 4
// processes that pull, and whose processor time they take.
func (b *bench) pushes(ctx context.Context) error {
	address, end, err := postgresServer()
	if err != nil {
		return err
	}
	defer end()
	pg := *b
	pg.server = address
	config, repos, err := pg.writePushed(ctx)
	if err != nil {
		return err
	}
	if _, err := pg.sync(ctx, config); err != nil {
		return err
	}
	for _, processes := range []int{1, 2, 4} {
		if err := pg.pushesTo(ctx, config, repos, processes); err != nil {
			return err
		}
	}
	return nil
}

// writePushed makes the repositories and their configuration in an empty schema.
func (b *bench) writePushed(ctx context.Context) (config string, repos []*pushedRepo, err error) {
	database, err := b.schema(ctx, "pushes")
	if err != nil {
		return "", nil, err
	}
	text := database + "git: builtin\npoll_interval: 0\nworkers: 8\nprojects:\n"
	for i := range pushedRepos {
		made, err := testrepos.CreateProject(filepath.Join(b.dir, fmt.Sprintf("pushed%d.git", i)), testrepos.Project{
			Components: 1, Languages: 3, Strings: 60, Templates: 10, Edits: pushesOfEach, Seed: uint64(i),
		})
		if err != nil {
			return "", nil, err
		}
		branch, err := git(ctx, "-C", made.Dir, "symbolic-ref", "HEAD")
		if err != nil {
			return "", nil, err
		}
		gitDir, err := git(ctx, "-C", made.Dir, "rev-parse", "--absolute-git-dir")
		if err != nil {
			return "", nil, err
		}
		first := len(made.Commits) - pushesOfEach
		r := &pushedRepo{ref: filepath.Join(strings.TrimSpace(gitDir), strings.TrimSpace(branch)), ahead: made.Commits[first:]}
		if err := r.push(); err != nil {
			return "", nil, err
		}
		repos = append(repos, r)
		text += fmt.Sprintf("  - slug: p%d\n    components:\n      - {slug: it, repo: %s, history: full, filemask: app-000/*.po, new_base: app-000/messages.pot}\n", i, made.Dir)
	}
	config = filepath.Join(b.dir, "pushes.yaml")
	return config, repos, os.WriteFile(config, []byte(text), 0o644)
}

// push puts the next commit on the branch, as git does.
func (r *pushedRepo) push() error {
	head := r.ahead[0]
	r.ahead = r.ahead[1:]
	if err := os.WriteFile(r.ref+".lock", []byte(head+"\n"), 0o644); err != nil {
		return err
	}
	return os.Rename(r.ref+".lock", r.ref)
}

// pulledHeads are the commits that processes stored, by their logs.
type pulledHeads struct {
	mu     sync.Mutex
	stored map[string]chan struct{} // closed once it is
}

// of returns the channel of a commit.
func (h *pulledHeads) of(head string) chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stored[head] == nil {
		h.stored[head] = make(chan struct{})
	}
	return h.stored[head]
}

var pulledHead = regexp.MustCompile(` msg=pulled .*head=([0-9a-f]{40})`)

// follow reads the log of a process until its end.
func (h *pulledHeads) follow(log io.Reader) {
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if m := pulledHead.FindStringSubmatch(lines.Text()); m != nil {
			stored := h.of(m[1])
			h.mu.Lock()
			select {
			case <-stored: // pulled again, after its lease was lost
			default:
				close(stored)
			}
			h.mu.Unlock()
		}
	}
}

// pullers starts processes that pull.
func (b *bench) pullers(ctx context.Context, config string, n int, heads *pulledHeads) ([]*exec.Cmd, error) {
	var started []*exec.Cmd
	for i := range n {
		cmd := exec.CommandContext(ctx, b.binary, "pull", "--config", config, "--data-dir", filepath.Join(b.dir, fmt.Sprint("puller-", i)), "--listen", "127.0.0.1:0")
		log, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return started, err
		}
		started = append(started, cmd)
		go heads.follow(log)
	}
	return started, nil
}

// pushesTo prints the rows of a number of processes.
func (b *bench) pushesTo(ctx context.Context, config string, repos []*pushedRepo, processes int) error {
	heads := &pulledHeads{stored: map[string]chan struct{}{}}
	started, err := b.pullers(ctx, config, processes, heads)
	defer func() {
		for _, cmd := range started {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait() // its exit status does not matter
		}
	}()
	if err != nil {
		return err
	}
	if _, _, err := pushAll(ctx, repos, heads, pushesPause); err != nil { // clones, first pulls
		return err
	}
	before, err := b.pushCosts(ctx, started)
	if err != nil {
		return err
	}
	n, took, err := pushAll(ctx, repos, heads, pushesFor)
	if err != nil {
		return err
	}
	after, err := b.pushCosts(ctx, started)
	if err != nil {
		return err
	}
	seconds, each := took.Seconds(), func(a, b time.Duration) float64 { return (b - a).Seconds() * 1000 / float64(n) }
	b.figure(fmt.Sprintf("pushes: to %d repositories, %d processes", len(repos), processes), "/s", float64(n)/seconds)
	b.figure("  processor time of the processes, each push", "ms", each(before.pullers, after.pullers))
	b.figure("  of the database", "ms", each(before.database, after.database))
	b.figure("  transactions of each push", "", float64(after.commits-before.commits)/float64(n))
	b.figure("  busy processors", "", (after.pullers-before.pullers+after.database-before.database).Seconds()/seconds)
	return nil
}

// pushAll pushes to all repositories for a time, to each the next commit when the last
// one is stored. It returns the number of pushes and the time until the last is stored.
func pushAll(ctx context.Context, repos []*pushedRepo, heads *pulledHeads, lasts time.Duration) (n int, took time.Duration, err error) {
	ctx, stop := context.WithTimeout(ctx, lasts+pushesTimeout)
	defer stop()
	counts, errs := make([]int, len(repos)), make([]error, len(repos))
	began := time.Now()
	var group sync.WaitGroup
	for i, r := range repos {
		group.Go(func() {
			for time.Since(began) < lasts && len(r.ahead) > 0 && errs[i] == nil {
				stored := heads.of(r.ahead[0])
				if errs[i] = r.push(); errs[i] == nil {
					select {
					case <-stored:
						counts[i]++
					case <-ctx.Done():
						errs[i] = fmt.Errorf("%s is not pulled: %w", r.ref, ctx.Err())
					}
				}
			}
		})
	}
	group.Wait()
	took = time.Since(began)
	for _, k := range counts {
		n += k
	}
	return n, took, errors.Join(errs...)
}

// pushCosts is what pushes have cost so far.
type pushCosts struct {
	pullers, database time.Duration
	commits           int64
}

// pushCosts adds up the processor time of processes and of the server's processes, if it
// is on this machine, and reads the number of its transactions.
func (b *bench) pushCosts(ctx context.Context, pullers []*exec.Cmd) (c pushCosts, err error) {
	for _, cmd := range pullers {
		used, err := processTime(cmd.Process.Pid)
		if err != nil {
			return c, err
		}
		c.pullers += used
	}
	conn, err := pgx.Connect(ctx, b.server)
	if err != nil {
		return c, err
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(ctx, "SELECT SUM(xact_commit)::BIGINT FROM pg_stat_database").Scan(&c.commits); err != nil {
		return c, err
	}
	rows, err := conn.Query(ctx, "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
	if err != nil {
		return c, err
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	for _, pid := range pids {
		if used, err := processTime(pid); err == nil { // otherwise it ended, or runs elsewhere
			c.database += used
		}
	}
	return c, err
}
