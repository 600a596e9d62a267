package main

import (
	"bytes"
	"context"
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
	"syscall"
	"time"

	"github.com/repoglot/repoglot/gitsource"
)

// usage is the time and memory of a finished process.
type usage struct {
	wall time.Duration
	rss  float64 // peak, MiB
}

// sync runs `repoglot sync` over a configuration.
func (b *bench) sync(ctx context.Context, config string) (usage, error) {
	cmd := exec.CommandContext(ctx, b.binary, "sync", "--config", config)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	started := time.Now()
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("repoglot sync: %w\n%s", err, out.String())
	}
	u := usage{wall: time.Since(started)}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.rss = float64(r.Maxrss) / 1024
	}
	return u, nil
}

// server is a running `repoglot serve`.
type server struct {
	cmd  *exec.Cmd
	base string
	out  *bytes.Buffer
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
	s := &server{base: "http://" + address, out: new(bytes.Buffer)}
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

// writeConfig makes a folder with a configuration of one component, "it",
// without history.
func (b *bench) writeConfig(name, repo, settings string) (string, error) {
	return b.writeComponents(name, repo, "none", map[string]string{"it": settings})
}

// writeComponents makes a folder with a configuration of components of one
// repository; their settings are lines of YAML indented by eight spaces.
func (b *bench) writeComponents(name, repo, history string, components map[string]string) (string, error) {
	dir := filepath.Join(b.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	text := "data_dir: ./data\ngit: builtin\nprojects:\n  - slug: bench\n    components:\n"
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
	if out, err := exec.CommandContext(ctx, "git", "clone", "--quiet", "--bare", bundle, repo).CombinedOutput(); err != nil {
		return "", fmt.Errorf("git clone: %w\n%s", err, out)
	}
	return repo, nil
}

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
