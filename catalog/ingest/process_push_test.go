package ingest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/repoglot/repoglot/testrepos"
)

// The limits of a push until it is visible, and what the peer reached.
const (
	limitPush     = 60    // ms from push to visible, 53,000 entries
	weblatePushMS = 17000 // ms, 53,612 entries
	pushEntries   = 53000
	pushRounds    = 20
)

// push measures the time until pushed strings are visible, with files and pushes of
// several sizes, and what its parts are.
func (r *run) push() {
	for _, p := range []struct{ entries, strings int }{{pushEntries, 1}, {pushEntries, 10}, {pushEntries, 100}, {1000, 1}, {10_000, 1}, {100_000, 1}} {
		r.pushStrings(p.entries, p.strings)
	}
}

// pushStrings measures pushes of some strings into a file.
func (r *run) pushStrings(entries, n int) {
	s, repo := r.serveGenerated(GenSpec{Entries: entries}, largeFiles)
	defer s.stop()
	var took []time.Duration
	phases := map[string][]time.Duration{}
	for i := range pushRounds + 1 {
		list := make([]int, n)
		for k := range list {
			list[k] = (i*977 + k*(entries/n)) % entries
		}
		before := s.metrics()
		edited, err := repo.EditStrings("cs", list...)
		r.must(err)
		s.waitFor("it", edited[n-1].Target)
		visible := time.Since(edited[0].Pushed)
		after := s.pulledSince(before)
		if i == 0 {
			continue // warms up
		}
		took = append(took, visible)
		for name, sum := range after {
			if phase, ok := strings.CutPrefix(name, phaseSum); ok {
				phases[phase] = append(phases[phase], time.Duration((sum-before[name])*float64(time.Second)))
			}
		}
	}
	what := fmt.Sprintf("%d of %d entries pushed: visible, median of %d", n, entries, pushRounds)
	if entries == pushEntries && n == 1 {
		r.atMost(what, "ms", median(took), limitPush)
		r.atMost("  against Weblate 5.4.2 (recorded, 53,612 entries)", "x", median(took)/weblatePushMS, 1)
	} else {
		r.figure(what, "ms", median(took))
	}
	for _, phase := range []string{"fetch", "walk", "read", "apply", "check", "commit", "other"} {
		if times := phases[`{phase="`+phase+`"}`]; len(times) > 0 {
			r.figure("  of which "+phase, "ms", median(times))
		}
	}
}

// pushOne measures pushes of one string into a project until their pulls have ended.
func (r *run) pushOne() {
	const path = "app-000/cs.po"
	p := r.project
	p.Templates, p.Edits, p.Shared = 0, 0, 40
	repo := p.Generate(r)
	s := r.serve(r.config("", benchProject(component(`"{component}"`, repo.Path(), "none", `filemask: "{component}/*.po"`, `new_base: "{component}/messages.pot"`))))
	var took []time.Duration
	var before time.Duration
	for i := range pushRounds + 1 {
		head, tail, _ := strings.Cut(string(repo.File(s, repo.Head(), path)), "\n\n")
		at := strings.LastIndex(tail, "\nmsgstr \"") + len("\nmsgstr \"")
		pulls, began := strings.Count(s.out.String(), " msg=pulled "), time.Now()
		repo.Commit(s, testrepos.Change{Files: map[string]string{path: head + "\n\n" + tail[:at] + fmt.Sprint(i, " ") + tail[at:]}})
		s.waitUntil(time.Minute, time.Millisecond, "the pull", func() bool { return strings.Count(s.out.String(), " msg=pulled ") > pulls })
		if took = append(took, time.Since(began)); i == 0 { // it warms up
			took, before = nil, s.cpu()
		}
	}
	worked := s.cpu() - before
	units, _ := s.count("/api/units/")
	r.figure(fmt.Sprintf("push of one of %d strings of %d components: pulled, median of %d", units, p.Components, pushRounds), "ms", median(took))
	r.figure("  processor time of one", "ms", inMS(worked)/pushRounds)
}

// phaseSum is the metric of the times of the phases of pulls.
const phaseSum = "repoglot_pull_phase_seconds_sum"

// pulledSince waits until a pull is counted, which is a moment after its commit can be
// seen, and returns the metrics.
func (s *server) pulledSince(before map[string]float64) (after map[string]float64) {
	const commit = phaseSum + `{phase="commit"}`
	s.waitUntil(time.Minute, time.Millisecond, "the end of the pull", func() bool {
		after = s.metrics()
		return after[commit] != before[commit]
	})
	return after
}

// waitFor polls the newest changes of a component until they show a target.
func (s *server) waitFor(component, target string) {
	text, err := json.Marshal(target)
	s.must(err)
	s.waitUntil(time.Minute, time.Millisecond, "the pushed string", func() bool {
		body, _ := s.get("/api/translations/bench/" + component + "/cs/changes/?ordering=-id&page_size=100")
		return bytes.Contains(body, text)
	})
}

// watch serves many local repositories: it measures their idle cost, and the time
// until a push to one of them is visible.
func (r *run) watch() {
	const (
		repositories, pushed = 1000, 15
		limitIdle            = 1   // per cent of one core
		limitVisible         = 500 // ms from push to visible
		settle, idle         = 5 * time.Second, 20 * time.Second
	)
	repos := make([]*Generated, repositories)
	var components []string
	for i := range repos {
		repos[i] = GenSpec{Entries: 200, Seed: uint64(i)}.Generate(r)
		components = append(components, component(fmt.Sprintf("r%04d", i), repos[i].Path(), "none", poMask))
	}
	started := time.Now()
	s := r.serve(r.config("", benchProject(components...)))
	r.figure(fmt.Sprintf("watch: %d repositories imported and ready", repositories), "s", time.Since(started).Seconds())
	time.Sleep(settle)
	before := s.cpu()
	time.Sleep(idle)
	r.atMost("  processor time while nothing happens", "%", 100*(s.cpu()-before).Seconds()/idle.Seconds(), limitIdle)
	r.figure("  memory resident then", "MiB", s.rss())
	var took []time.Duration
	for i := range pushed {
		n := i * (repositories / pushed)
		edited := repos[n].Edit(r, "cs", i)
		s.waitFor(fmt.Sprintf("r%04d", n), edited.Target)
		took = append(took, time.Since(edited.Pushed))
	}
	r.atMost(fmt.Sprintf("  push visible, the worst of %d", pushed), "ms", inMS(slices.Max(took)), limitVisible)
	r.atMost("  the median", "ms", median(took), limitVisible)
}

// pushes measures how many small pushes a second one PostgreSQL bears with 1, 2 and 4
// processes that pull, and whose processor time they take.
func (r *run) pushes() {
	const repositories, commits = 24, 900 // each repository has at most one push that is not stored yet
	r.engine = "postgres"
	repos := make([]*pushedRepo, repositories)
	projects := ""
	for i := range repos {
		repo := Project{Components: 1, Languages: 3, Strings: 60, Templates: 10, Edits: commits, Seed: uint64(i)}.Generate(r)
		repos[i] = &pushedRepo{repo, len(repo.Commits) - commits}
		r.must(repos[i].push())
		projects += fmt.Sprintf("  - slug: p%d\n    components:\n      - {slug: it, repo: %s, history: full, filemask: app-000/*.po, new_base: app-000/messages.pot}\n", i, repo.Path())
	}
	config := r.config("poll_interval: 0\nworkers: 8\n", projects)
	r.sync(config)
	for _, processes := range []int{1, 2, 4} {
		r.pushesTo(config, repos, processes)
	}
}

// pushedRepo is a repository whose commits are pushed one by one.
type pushedRepo struct {
	*ProjectRepo
	pushed int // commits on the branch
}

func (p *pushedRepo) push() error {
	p.pushed++
	return p.Rewind(p.pushed)
}

// pulledHeads are the commits that processes stored, by their logs.
type pulledHeads struct {
	mu     sync.Mutex
	stored map[string]chan struct{} // closed once it is
}

// of returns the channel of a commit; stored closes it.
func (h *pulledHeads) of(head string, stored bool) chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.stored[head]
	if c == nil {
		c = make(chan struct{})
		h.stored[head] = c
	}
	if stored {
		select {
		case <-c: // pulled again, after its lease was lost
		default:
			close(c)
		}
	}
	return c
}

var pulledHead = regexp.MustCompile(` msg=pulled .*head=([0-9a-f]{40})`)

// follow reads the log of a process until its end.
func (h *pulledHeads) follow(log io.Reader) {
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if m := pulledHead.FindStringSubmatch(lines.Text()); m != nil {
			h.of(m[1], true)
		}
	}
}

// pushesTo prints the rows of a number of processes.
func (r *run) pushesTo(config string, repos []*pushedRepo, processes int) {
	heads := &pulledHeads{stored: map[string]chan struct{}{}}
	var started []*exec.Cmd
	for range processes {
		cmd := exec.CommandContext(r.ctx, r.binary, "pull", "--config", config, "--data-dir", r.TempDir(), "--listen", "127.0.0.1:0")
		log, err := cmd.StderrPipe()
		r.must(err)
		r.must(cmd.Start())
		started = append(started, cmd)
		go heads.follow(log)
	}
	defer func() {
		for _, cmd := range started {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			_ = cmd.Wait() // its exit status does not matter
		}
	}()
	r.pushAll(repos, heads, 2*time.Second) // clones, first pulls
	before := r.pushCosts(started)
	n, took := r.pushAll(repos, heads, 10*time.Second)
	after := r.pushCosts(started)
	each := func(d time.Duration) float64 { return inMS(d) / n }
	r.figure(fmt.Sprintf("pushes: to %d repositories, %d processes", len(repos), processes), "/s", n/took.Seconds())
	r.figure("  processor time of the processes, each push", "ms", each(after.pullers-before.pullers))
	r.figure("  of the database", "ms", each(after.database-before.database))
	r.figure("  transactions of each push", "", float64(after.commits-before.commits)/n)
	r.figure("  busy processors", "", (after.pullers-before.pullers+after.database-before.database).Seconds()/took.Seconds())
}

// pushAll pushes to all repositories for a time, to each the next commit when the last
// one is stored. It returns the number of pushes and the time until the last is stored.
func (r *run) pushAll(repos []*pushedRepo, heads *pulledHeads, lasts time.Duration) (n float64, took time.Duration) {
	counts, errs := make([]int, len(repos)), make([]error, len(repos))
	began := time.Now()
	var group sync.WaitGroup
	for i, repo := range repos {
		group.Go(func() {
			for time.Since(began) < lasts && repo.pushed < len(repo.Commits) && errs[i] == nil {
				head := repo.Commits[repo.pushed]
				if errs[i] = repo.push(); errs[i] != nil {
					return
				}
				select {
				case <-heads.of(head, false):
					counts[i]++
				case <-r.ctx.Done():
					errs[i] = r.ctx.Err()
				case <-time.After(time.Minute):
					errs[i] = fmt.Errorf("%s: commit %s is not pulled", repo.Path(), head)
				}
			}
		})
	}
	group.Wait()
	r.must(errs...)
	for _, k := range counts {
		n += float64(k)
	}
	return n, time.Since(began)
}

// pushCosts is what pushes have cost so far.
type pushCosts struct {
	pullers, database time.Duration
	commits           int64
}

// pushCosts adds up the processor time of processes and of the server's processes, if it
// is on this machine, and reads the number of its transactions.
func (r *run) pushCosts(pullers []*exec.Cmd) (c pushCosts) {
	for _, cmd := range pullers {
		used, err := processTime(cmd.Process.Pid)
		r.must(err)
		c.pullers += used
	}
	conn, err := pgx.Connect(r.ctx, r.address)
	r.must(err)
	defer conn.Close(r.ctx)
	r.must(conn.QueryRow(r.ctx, "SELECT SUM(xact_commit)::BIGINT FROM pg_stat_database").Scan(&c.commits))
	rows, err := conn.Query(r.ctx, "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
	r.must(err)
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	r.must(err)
	for _, pid := range pids {
		if used, err := processTime(pid); err == nil { // otherwise it ended, or runs elsewhere
			c.database += used
		}
	}
	return c
}
