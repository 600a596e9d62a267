package ingest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/repoglot/repoglot/catalog/store/pgtest"
)

// usage is the time and memory of a finished process.
type usage struct {
	wall time.Duration
	cpu  time.Duration
	rss  float64 // peak, MiB
}

// command runs a program to its end. Linux counts the peak of the process that starts
// another as the other's, so it forgets its own first.
func (r *run) command(name string, args ...string) (usage, string) {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // proc(5); where there is none, figures are higher
	cmd := exec.CommandContext(r.ctx, name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	started := time.Now()
	if err := cmd.Run(); err != nil {
		r.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args, " "), err, out.String(), errs.String())
	}
	u := usage{wall: time.Since(started)}
	if s, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.rss, u.cpu = float64(s.Maxrss)/1024, used(s)
	}
	return u, strings.TrimSpace(out.String())
}

func used(s *syscall.Rusage) time.Duration { return time.Duration(s.Utime.Nano() + s.Stime.Nano()) }

// sync runs `repoglot sync` over a configuration.
func (r *run) sync(config string) usage {
	u, _ := r.command(r.binary, "sync", "--config", config)
	return u
}

// syncAgain imports with the existing mirrors into an empty database, some times. It
// returns the best times and the highest memory.
func (r *run) syncAgain(config string, runs int) (best usage) {
	for range runs {
		r.emptyDatabase(filepath.Dir(config))
		best = best.best(r.sync(config))
	}
	return best
}

// best returns the best times of two runs and the highest memory of both.
func (u usage) best(other usage) usage {
	if u.wall == 0 {
		return other
	}
	return usage{wall: min(u.wall, other.wall), cpu: min(u.cpu, other.cpu), rss: max(u.rss, other.rss)}
}

// config writes a configuration into a new folder, with an empty database. projects
// are its lines after `projects:`.
func (r *run) config(settings, projects string) string {
	dir := r.TempDir()
	database := r.emptyDatabase(dir)
	fmt.Fprint(r.out, database) // stays on a server of REPOGLOT_TEST_DATABASE, to be looked at
	text := settings + database + "data_dir: ./data\ngit: builtin\nprojects:\n" + projects
	path := filepath.Join(dir, "repoglot.yaml")
	r.must(os.WriteFile(path, []byte(text), 0o644))
	return path
}

// emptyDatabase removes what the database of a folder has, and returns the line of the
// configuration that names it; SQLite needs none.
func (r *run) emptyDatabase(dir string) string {
	if r.engine != "postgres" {
		files, err := filepath.Glob(filepath.Join(dir, "data", "*.db*"))
		r.must(err)
		for _, f := range files {
			r.must(os.Remove(f))
		}
		return ""
	}
	if r.address == "" {
		if r.address = os.Getenv("REPOGLOT_TEST_DATABASE"); r.address == "" {
			server, err := pgtest.Start("shared_buffers = 256MB\nmax_wal_size = 4GB\n") // with durable commits
			r.must(err)
			r.Cleanup(func() { _ = server.Close() })
			r.address = server.Address
		}
	}
	schema := strings.ReplaceAll(filepath.Base(dir), "-", "_")
	drop := "SET client_min_messages = error; DROP SCHEMA IF EXISTS " + schema + " CASCADE;"
	r.must(pgtest.Execute(r.ctx, r.address, drop+"CREATE SCHEMA "+schema))
	address, err := pgtest.Schema(r.address, schema)
	r.must(err)
	return fmt.Sprintf("database: %q\n", address)
}

// benchProject are the lines of a project of components.
func benchProject(components ...string) string {
	return "  - slug: bench\n    components:\n" + strings.Join(components, "")
}

// component are the lines of a component; settings are further lines.
func component(slug, repo, history string, settings ...string) string {
	lines := append([]string{"repo: " + repo, "history: " + history}, settings...)
	return "      - slug: " + slug + "\n        " + strings.Join(lines, "\n        ") + "\n"
}

const poMask = "filemask: po/*.po"

// bundle makes a bare repository of a shared bundle; "" without the shared data.
func (r *run) bundle(name string) string {
	bundle := filepath.Join(r.shared, "data/repos", name+".bundle")
	if _, err := os.Stat(bundle); err != nil {
		fmt.Fprintf(r.out, "%s: not measured, there is no %s\n", name, bundle)
		return ""
	}
	repo := filepath.Join(r.TempDir(), name+".git")
	r.command("git", "clone", "--quiet", "--bare", bundle, repo)
	return repo
}

// server is a running `repoglot serve`.
type server struct {
	*run
	cmd  *exec.Cmd
	base string
	out  *output
}

// output keeps what a process prints while it runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// serve starts the server and waits until it is ready. It is stopped after the
// measurement, or by stop.
func (r *run) serve(config string) *server {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	r.must(err)
	address := l.Addr().String()
	r.must(l.Close())
	s := &server{run: r, base: "http://" + address, out: new(output)}
	s.cmd = exec.CommandContext(r.ctx, r.binary, "serve", "--config", config, "--listen", address)
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	r.must(s.cmd.Start())
	r.Cleanup(s.stop)
	s.waitUntil(5*time.Minute, 20*time.Millisecond, "readiness", func() bool {
		_, _, err := s.fetch("/readyz")
		return err == nil
	})
	return s
}

// serveGenerated makes a repository and starts a server of it: its only component,
// "it", has no history.
func (r *run) serveGenerated(spec GenSpec, settings string) (*server, *Generated) {
	repo := spec.Generate(r)
	return r.serve(r.config(settings, benchProject(component("it", repo.Path(), "none", poMask)))), repo
}

// stop ends the server, if it runs.
func (s *server) stop() {
	if s.cmd.ProcessState == nil && s.cmd.Process.Signal(syscall.SIGTERM) == nil {
		_ = s.cmd.Wait() // its exit status does not matter
	}
}

// fetch requests a page and returns its body and the time that it took.
func (s *server) fetch(path string) ([]byte, time.Duration, error) {
	return s.send(http.MethodGet, path, "")
}

// send is fetch with another method and a body of JSON.
func (s *server) send(method, path, asked string) ([]byte, time.Duration, error) {
	started := time.Now()
	req, err := http.NewRequestWithContext(s.ctx, method, s.base+path, strings.NewReader(asked))
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, body)
	}
	return body, time.Since(started), err
}

// get is fetch for a page that must be there.
func (s *server) get(path string) ([]byte, time.Duration) {
	body, took, err := s.fetch(path)
	s.must(err)
	return body, took
}

// count fetches a page of a list and returns the number of entries of the list, and the
// time that it took.
func (s *server) count(path string) (int64, time.Duration) {
	body, took := s.get(path)
	var page struct{ Count int64 }
	s.must(json.Unmarshal(body, &page))
	return page.Count, took
}

// countIn starts a server, counts the entries of a list, and returns the time until the
// server was ready, too.
func (r *run) countIn(config, list string) (int64, time.Duration) {
	started := time.Now()
	s := r.serve(config)
	ready := time.Since(started)
	defer s.stop()
	n, _ := s.count(list + "?page_size=1")
	return n, ready
}

// median returns the median time of a number of requests, in ms, after some to warm up.
func (s *server) median(path string, requests int) float64 {
	var took []time.Duration
	for i := range requests + 20 {
		if _, d := s.get(path); i >= 20 {
			took = append(took, d)
		}
	}
	return median(took)
}

// median returns the median in ms.
func median(d []time.Duration) float64 {
	slices.Sort(d)
	return inMS(d[len(d)/2])
}

func inMS(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// waitUntil asks again after each pause until done; after the limit it fails.
func (s *server) waitUntil(limit, pause time.Duration, what string, done func() bool) {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(pause) {
		s.must(s.ctx.Err())
		if done() {
			return
		}
	}
	s.Fatalf("%s: not after %v:\n%s", what, limit, s.out.String())
}

// metrics returns the values of all metrics, by name and labels.
func (s *server) metrics() map[string]float64 {
	text, _ := s.get("/metrics")
	values := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		at := strings.LastIndexByte(line, ' ')
		if value, err := strconv.ParseFloat(strings.TrimSpace(line[at+1:]), 64); err == nil && at > 0 {
			values[line[:at]] = value
		}
	}
	return values
}

// cpu is the processor time of the server.
func (s *server) cpu() time.Duration {
	took, err := processTime(s.cmd.Process.Pid)
	s.must(err)
	return took
}

// processTime returns the processor time of a process (proc(5), /proc/PID/stat).
func processTime(pid int) (time.Duration, error) {
	const utime, stime = 11, 12 // after the name
	const clockTicks = 100      // USER_HZ, which is 100 on all systems of Go
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	user, err := strconv.Atoi(fields[utime])
	system, err2 := strconv.Atoi(fields[stime])
	return time.Duration(user+system) * time.Second / clockTicks, errors.Join(err, err2)
}

// rss returns the resident memory in MiB.
func (s *server) rss() float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.cmd.Process.Pid))
	s.must(err)
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	s.must(err)
	return float64(pages) * float64(os.Getpagesize()) / (1 << 20)
}
