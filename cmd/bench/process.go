package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/testrepos"
)

// usage is the time and memory of a finished process.
type usage struct {
	wall time.Duration
	cpu  time.Duration
	rss  float64 // peak, MiB
}

// sync runs `repoglot sync` over a configuration.
func (b *bench) sync(ctx context.Context, config string) (usage, error) {
	cmd := exec.CommandContext(ctx, b.binary, "sync", "--config", config)
	var out bytes.Buffer
	cmd.Stdout = &out
	u, err := measure(cmd)
	if err != nil {
		return u, fmt.Errorf("%w%s", err, out.String())
	}
	return u, nil
}

// measure runs a command and returns its time and memory.
func measure(cmd *exec.Cmd) (usage, error) {
	var errs bytes.Buffer
	cmd.Stderr = &errs
	started := time.Now()
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, errs.String())
	}
	u := usage{wall: time.Since(started), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.rss = float64(r.Maxrss) / 1024
		u.cpu = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return u, nil
}

// git runs git and returns its output.
func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", args[0], err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// server is a running `repoglot serve`.
type server struct {
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

// serve starts the server and waits until it is ready.
func (b *bench) serve(ctx context.Context, config string) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	s := &server{base: "http://" + address, out: new(output)}
	s.cmd = exec.CommandContext(ctx, b.binary, "serve", "--config", config, "--listen", address)
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get(s.base + "/readyz")
		if err != nil {
			continue
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return s, nil
		}
	}
	s.stop()
	return nil, fmt.Errorf("the server does not get ready:\n%s", s.out.String())
}

// serveGenerated makes a repository and starts a server of it: its only component,
// "it", has no history. settings are lines of YAML for the top of the configuration.
func (b *bench) serveGenerated(ctx context.Context, spec testrepos.GenSpec, settings string) (*server, *testrepos.Generated, error) {
	repo, err := testrepos.Generate(filepath.Join(b.dir, spec.Name+".git"), spec)
	if err != nil {
		return nil, nil, err
	}
	config, err := b.writeConfig(ctx, spec.Name, repo.Path(), "        filemask: po/*.po\n")
	if err != nil {
		return nil, nil, err
	}
	text, err := os.ReadFile(config)
	if err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(config, append([]byte(settings), text...), 0o644); err != nil {
		return nil, nil, err
	}
	s, err := b.serve(ctx, config)
	return s, repo, err
}

func (s *server) stop() {
	if s.cmd.Process.Signal(syscall.SIGTERM) == nil {
		_ = s.cmd.Wait() // its exit status does not matter
	}
}

// get fetches a page and returns its body and the time that it took.
func (s *server) get(path string) ([]byte, time.Duration, error) {
	started := time.Now()
	resp, err := http.Get(s.base + path)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil {
		return nil, 0, err
	}
	took := time.Since(started)
	if resp.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("GET %s: %s: %s", path, resp.Status, body.String())
	}
	return body.Bytes(), took, nil
}

// count returns the number of entries of a list.
func (s *server) count(list string) (int64, error) {
	n, _, err := s.timedCount(list + "?page_size=1")
	return n, err
}

// timedCount fetches a page of a list and returns the number of entries of the list,
// and the time that it took.
func (s *server) timedCount(path string) (int64, time.Duration, error) {
	body, took, err := s.get(path)
	if err != nil {
		return 0, 0, err
	}
	var page struct{ Count int64 }
	err = json.Unmarshal(body, &page)
	return page.Count, took, err
}

// median returns the median time of a number of requests, in ms, after some to warm
// up.
func (s *server) median(target string, requests int) (float64, error) {
	var took []time.Duration
	for i := range requests + 20 {
		_, d, err := s.get(target)
		if err != nil {
			return 0, err
		}
		if i >= 20 {
			took = append(took, d)
		}
	}
	return median(took), nil
}

// waitUntil asks again after each pause until done; after the limit it fails.
func (s *server) waitUntil(limit, pause time.Duration, what string, done func() (bool, error)) error {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(pause) {
		if ok, err := done(); ok || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s is not there after %v:\n%s", what, limit, s.out.String())
}

// writeConfig makes a folder with a configuration of one component, "it",
// without history.
func (b *bench) writeConfig(ctx context.Context, name, repo, settings string) (string, error) {
	return b.writeComponents(ctx, name, repo, "none", map[string]string{"it": settings})
}

// writeComponents makes a folder with a configuration of components of one
// repository; their settings are lines of YAML indented by eight spaces.
func (b *bench) writeComponents(ctx context.Context, name, repo, history string, components map[string]string) (string, error) {
	dir := filepath.Join(b.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	database, err := b.schema(ctx, name)
	if err != nil {
		return "", err
	}
	text := database + "data_dir: ./data\ngit: builtin\nprojects:\n  - slug: bench\n    components:\n"
	for _, slug := range slices.Sorted(maps.Keys(components)) {
		text += fmt.Sprintf("      - slug: %s\n        repo: %s\n        history: %s\n%s", slug, repo, history, components[slug])
	}
	path := filepath.Join(dir, "repoglot.yaml")
	return path, os.WriteFile(path, []byte(text), 0o644)
}

// cloneBundle makes a bare repository of a shared bundle; "" without the shared data.
func (b *bench) cloneBundle(ctx context.Context, name string) (string, error) {
	bundle := filepath.Join(b.shared, "data/repos", name+".bundle")
	if _, err := os.Stat(bundle); err != nil {
		return "", nil
	}
	repo := filepath.Join(b.dir, name+".git")
	if _, err := os.Stat(repo); err == nil {
		return repo, nil // made by another measurement
	}
	_, err := git(ctx, "clone", "--quiet", "--bare", bundle, repo)
	return repo, err
}

// median returns the median in ms.
func median(d []time.Duration) float64 {
	slices.Sort(d)
	return float64(d[len(d)/2].Microseconds()) / 1000
}

// pollOften prints the seconds and the allocated bytes of a fetch without changes.
func pollOften(ctx context.Context, mirror *gitsource.Mirror, out io.Writer) error {
	if _, err := mirror.Fetch(ctx); err != nil { // opens the connection
		return err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	started := time.Now()
	for range quietPolls {
		if _, err := mirror.Fetch(ctx); err != nil {
			return err
		}
	}
	took := time.Since(started).Seconds() / quietPolls
	runtime.ReadMemStats(&after)
	_, err := fmt.Fprintln(out, took, float64(after.TotalAlloc-before.TotalAlloc)/quietPolls)
	return err
}
