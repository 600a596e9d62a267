//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/cmd/repoglot/server"
)

// poller follows the changes, asking another reader each time, and fails if ids are
// not dense and ascending.
type poller struct {
	last    int64
	targets map[string]int
	rounds  map[int]int // entries of the many strings of the first repository, by push
}

// perPage is the number of entries that a poller asks for.
const perPage = 1000

// poll reads what is new.
func (p *poller) poll(t *testing.T, m *member) {
	var page struct {
		Results []struct {
			ID     int64
			Action int
			Target string
		}
	}
	for {
		page.Results = page.Results[:0]
		if !m.get(fmt.Sprintf("/api/changes/?page_size=%d&after_id=%d", perPage, p.last), &page) {
			return
		}
		for _, c := range page.Results {
			if c.ID != p.last+1 {
				t.Errorf("change %d follows %d", c.ID, p.last)
			}
			p.last = c.ID
			if _, round, ok := strings.Cut(c.Target, " of round "); ok {
				n, err := strconv.Atoi(round)
				must(t, err)
				p.rounds[n]++
			} else if c.Target != "" {
				p.targets[c.Target]++
			}
		}
		if len(page.Results) < perPage {
			return
		}
	}
}

// faultyCluster makes a cluster of as many readers as pullers that has pulled
// everything.
func faultyCluster(t *testing.T, each, repos, large int, lease time.Duration) *faults {
	t.Helper()
	c := newTestedCluster(t, repos, large, lease)
	var members []*member // they migrate once
	for _, work := range []string{server.WorkAnswer, server.WorkPull} {
		for range each {
			members = append(members, c.begin(work))
		}
	}
	for _, m := range members {
		c.listens(m)
	}
	f := &faults{
		testedCluster: c, readers: members[:each], pullers: members[each:], polled: &poller{targets: map[string]int{}, rounds: map[int]int{}},
		count: map[string]int{}, longest: map[string]time.Duration{},
	}
	f.visible("the start", f.readers...)
	return f
}

// TestCluster: while processes are killed, stopped and cut off, the network is slow, a
// disk is full, and the database is restarted, everything that is
// pushed becomes visible, once, and another process goes on. REPOGLOT_CLUSTER_TIME, such as
// 1h, is how long it goes on, with three readers and three pullers and leases of the usual length;
// without it there are two of each, and every fault occurs once.
func TestCluster(t *testing.T) { // alone: it needs both cores
	if testing.Short() {
		t.Skip("it takes 20 s")
	}
	long, lease, each, repos, large := time.Duration(0), testLease, 2, 4, 500
	if text := os.Getenv("REPOGLOT_CLUSTER_TIME"); text != "" {
		var err error
		long, err = time.ParseDuration(text)
		must(t, err)
		lease, each, repos, large = 0, 3, 50, 20_000
	}
	f := faultyCluster(t, each, repos, large, lease)
	for began := time.Now(); ; {
		for _, fault := range []func() string{f.kill, f.stop, f.cutOff, f.slow, f.fill, f.restartDatabase} {
			for range 3 {
				f.push(f.random.IntN(len(f.repos)))
			}
			name := fault()
			for range 3 {
				f.push(f.random.IntN(len(f.repos)))
			}
			f.recover(name)
		}
		if time.Since(began) > long || t.Failed() {
			break
		}
	}
	f.check()
	f.checkJobs()
}

// TestClusterKills kills pullers as often as REPOGLOT_CLUSTER_KILLS says, in the middle
// of pulls of many strings.
func TestClusterKills(t *testing.T) {
	kills, err := strconv.Atoi(os.Getenv("REPOGLOT_CLUSTER_KILLS"))
	if err != nil {
		t.Skip("REPOGLOT_CLUSTER_KILLS, such as 1000, is how many processes are killed")
	}
	const atOnce = 5
	f := faultyCluster(t, 2, 3, 2_000, testLease)
	for n := 0; n < kills && !t.Failed(); n += atOnce {
		for range atOnce {
			f.push(0)
			f.push(f.random.IntN(len(f.repos)))
			time.Sleep(time.Duration(f.random.IntN(600)) * time.Millisecond)
			i := f.random.IntN(len(f.pullers))
			f.pullers[i].signal(syscall.SIGSTOP) // so that it still pulls when it is killed
			f.inPull += f.pulls(f.pullers[i])
			f.pullers[i].kill()
			f.pullers[i] = f.start(server.WorkPull)
		}
		f.recover("killed pullers")
		if (n/atOnce)%20 == 0 {
			t.Logf("%d kills, %d of them in a pull, %d entries", n+atOnce, f.inPull, f.polled.last)
		}
	}
	f.check()
	t.Logf("%d of the killed processes were pulling", f.inPull)
}

// faults are what happens to a cluster.
type faults struct {
	*testedCluster
	pullers, readers []*member
	polled           *poller
	inPull           int // processes that were killed while they pulled
	count            map[string]int
	longest          map[string]time.Duration
}

// recover waits until everything is visible after a fault.
func (f *faults) recover(name string) {
	f.t.Helper()
	took := f.visible(name, f.readers...)
	f.count[name]++
	f.longest[name] = max(f.longest[name], took)
	for _, m := range f.readers {
		f.polled.poll(f.t, m)
	}
}

// check compares the entries with what was pushed.
func (f *faults) check() {
	f.t.Helper()
	f.polled.poll(f.t, f.readers[0])
	for i, list := range f.pushed {
		for n, s := range list {
			if entries := f.polled.targets["Text: "+s]; entries != 1 {
				f.t.Errorf("%q of p%d has %d entries", s, i, entries)
			}
			if entries := f.polled.rounds[n+1]; i == 0 && entries != f.large {
				f.t.Errorf("round %d has %d entries, not %d", n+1, entries, f.large)
			}
		}
	}
	f.t.Logf("faults: %v; all strings visible after at most %v; %d entries", f.count, f.longest, f.polled.last)
}

// pulls is 1 if a process pulls a branch, else 0.
func (f *faults) pulls(m *member) int {
	var list server.Jobs
	must(f.t, json.Unmarshal(f.jobs("json"), &list))
	for i := range list.Branches {
		if b := &list.Branches[i]; b.State == "running" && strings.Contains(b.Process, fmt.Sprintf("/%d/", m.child.cmd.Process.Pid)) {
			return 1
		}
	}
	return 0
}

// length is how long a lease lasts.
func (f *faults) length() time.Duration {
	if f.lease == 0 {
		return 15 * time.Second
	}
	return f.lease
}

// kill kills a puller in a pull. Another one has its branches when its lease has ended, by the
// database's clock, then a new one takes its place.
func (f *faults) kill() string {
	i := f.random.IntN(len(f.pullers))
	m := f.pullers[i]
	for _, other := range f.pullers {
		if other != m {
			other.signal(syscall.SIGSTOP) // so that this one pulls
		}
	}
	m.proxy.slow(200 * time.Millisecond) // so that it pulls for seconds
	f.push(0)
	held := fmt.Sprintf(`EXISTS (SELECT 1 FROM mirrors WHERE holder LIKE '%%/%d/%%')`, m.child.cmd.Process.Pid)
	wait := func(what, within string) {
		pgtest.Run(f.t, f.dsn, fmt.Sprintf(`DO $$ DECLARE began TIMESTAMPTZ = clock_timestamp(); BEGIN
			WHILE NOT (%s) LOOP
				ASSERT clock_timestamp() < began + INTERVAL '%s', 'it takes too long';
				PERFORM pg_sleep(0.01);
			END LOOP;
		END $$`, what, within))
	}
	wait(held, "1 min")
	m.signal(syscall.SIGSTOP)
	wait(held, "0 s") // still: it is killed in the pull
	m.kill()
	for _, other := range f.pullers {
		other.signal(syscall.SIGCONT)
	}
	wait("NOT "+held, "2 min")
	f.pullers[i] = f.start(server.WorkPull)
	return "a killed puller"
}

// stop stops a puller for longer than its leases last. What it does when it goes on
// changes nothing.
func (f *faults) stop() string {
	m := f.pullers[f.random.IntN(len(f.pullers))]
	m.signal(syscall.SIGSTOP)
	f.push(0)
	time.Sleep(f.length() + f.length()/2)
	m.signal(syscall.SIGCONT)
	return "a stopped puller"
}

// cutOff keeps a puller from the database for longer than its leases last, then a
// reader for a moment.
func (f *faults) cutOff() string {
	m := f.pullers[f.random.IntN(len(f.pullers))]
	m.proxy.cut(true)
	f.push(0)
	time.Sleep(f.length() + f.length()/2)
	m.proxy.cut(false)
	m.proxy.reset()
	r := f.readers[f.random.IntN(len(f.readers))]
	r.proxy.reset()
	return "a process that is cut off"
}

// slow delays all that a puller and a reader send and receive.
func (f *faults) slow() string {
	slowed := []*member{f.pullers[f.random.IntN(len(f.pullers))], f.readers[f.random.IntN(len(f.readers))]}
	for _, m := range slowed {
		m.proxy.slow(50 * time.Millisecond)
	}
	f.push(0)
	f.visible("a slow network", f.readers...)
	for _, m := range slowed {
		m.proxy.slow(0)
	}
	return "a slow network"
}

// fill has a puller find its disk full: it takes no branch and says so, others go on.
func (f *faults) fill() string {
	i := f.random.IntN(len(f.pullers))
	f.pullers[i].kill()
	f.floor = "1000000GiB"
	m := f.start(server.WorkPull)
	f.floor = ""
	f.pullers[i] = m
	f.push(0)
	f.visible("a full disk", f.readers...)
	var ready clusterReadiness
	if !m.get("/readyz", &ready) || !strings.Contains(ready.Process.Problem, "min_free_space") || f.pulls(m) != 0 {
		f.t.Errorf("/readyz of a process whose disk is full: %+v", ready)
	}
	pgtest.Run(f.t, f.dsn, `DO $$ BEGIN ASSERT (SELECT COUNT(*) = 0 FROM mirrors WHERE problem LIKE '%min_free_space%'); END $$`)
	m.kill()
	f.pullers[i] = f.start(server.WorkPull)
	return "a full disk"
}

// restartDatabase ends all sessions of the server, by killing one.
func (f *faults) restartDatabase() string {
	if os.Getenv(pgtest.ServerVariable) != "" {
		return "nothing: the server is not ours"
	}
	crash(f.t, f.dsn)
	return "a restarted database"
}

// crash ends all sessions of the server that this process started, as if it had been
// restarted: a session is killed, and the server recovers. It returns when the server
// answers again.
func crash(tb testing.TB, dsn string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), pgtest.StartTime)
	defer cancel()
	conn, err := pgconn.Connect(ctx, dsn)
	if err != nil {
		tb.Fatal(err)
	}
	session, err := os.FindProcess(int(conn.PID()))
	if err == nil {
		err = session.Kill()
	}
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := conn.Exec(ctx, "SELECT 1").ReadAll(); err == nil {
			_ = conn.Close(ctx)
			return
		}
		_ = conn.Close(ctx)
		select {
		case <-ctx.Done():
			tb.Fatal("PostgreSQL did not start again")
		case <-time.After(20 * time.Millisecond):
		}
		if next, err := pgconn.Connect(ctx, dsn); err == nil {
			conn = next
		}
	}
}

// proxy passes connections on to the database.
type proxy struct {
	dsn     string
	backend string
	mu      sync.Mutex
	silent  bool // nothing passes
	delay   time.Duration
	conns   map[net.Conn]bool // open
	opened  *sync.Cond
}

// newProxy begins to listen on a port for the socket of a server.
func newProxy(t *testing.T, dsn string) *proxy {
	t.Helper()
	u, err := url.Parse(dsn)
	must(t, err)
	p := &proxy{conns: map[net.Conn]bool{}}
	p.opened = sync.NewCond(&p.mu)
	q := u.Query()
	if dir := q.Get("host"); dir != "" {
		p.backend = filepath.Join(dir, ".s.PGSQL.5432")
	} else {
		t.Skip("the server has no socket")
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close(); p.cut(false); p.reset() })
	host, port, err := net.SplitHostPort(l.Addr().String())
	must(t, err)
	q.Set("host", host)
	q.Set("port", port)
	q.Set("sslmode", "disable")
	u.RawQuery = q.Encode()
	p.dsn = u.String()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go p.pass(conn)
		}
	}()
	return p
}

// pass connects a connection with the server.
func (p *proxy) pass(client net.Conn) {
	p.wait()
	server, err := net.Dial("unix", p.backend)
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	p.conns[client], p.conns[server] = true, true
	p.mu.Unlock()
	copied := func(to, from net.Conn) {
		buf := make([]byte, 32<<10)
		for {
			n, err := from.Read(buf)
			p.wait()
			if n > 0 {
				if _, e := to.Write(buf[:n]); e != nil {
					err = e
				}
			}
			if err != nil {
				break
			}
		}
		_, _ = to.Close(), from.Close()
		p.mu.Lock()
		delete(p.conns, to)
		delete(p.conns, from)
		p.mu.Unlock()
	}
	go copied(server, client)
	copied(client, server)
}

// wait waits while the proxy is cut.
func (p *proxy) wait() {
	p.mu.Lock()
	for p.silent {
		p.opened.Wait()
	}
	delay := p.delay
	p.mu.Unlock()
	time.Sleep(delay)
}

// slow delays all that passes.
func (p *proxy) slow(delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = delay
}

// cut holds everything up, or lets it go on.
func (p *proxy) cut(silent bool) {
	p.mu.Lock()
	p.silent = silent
	p.opened.Broadcast()
	p.mu.Unlock()
}

// reset ends all connections.
func (p *proxy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}
