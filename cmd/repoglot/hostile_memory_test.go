//go:build linux && !race

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestMemoryOfHostileCommits: with a limit of memory and the default configuration, a good
// repository beside hostile ones is served at the first start and the next, and what is
// pushed to it is pulled; the memory of the server stays bounded. At night there is
// another limit, too, and each hostile repository is also tried alone, and
// with twelve components. The race detector
// takes a multiple of the memory, so that nothing is shown under it.
func TestMemoryOfHostileCommits(t *testing.T) {
	if testing.Short() {
		t.Skip("two servers work on hostile repositories for a while")
	}
	if _, err := exec.LookPath("prlimit"); err != nil {
		t.Skip("limits need prlimit")
	}
	dir := t.TempDir()
	var all []hostileRepo
	for _, kind := range hostileCommits(testsize.Of(200, 200, 1000)) {
		path, err := kind.Create(dir, filepath.Join(dir, "outside"))
		must(t, err)
		all = append(all, hostileRepo{&kind, path})
	}
	eight := append(all[:len(all):len(all)], all[0])
	seconds := testsize.Of(6, 6, 60)
	testHostileMemory(t, "eight-half", 512, 400, seconds, eight)
	if !testsize.Nightly() {
		return
	}
	testHostileMemory(t, "eight", 1024, 750, seconds, eight)
	for _, r := range all {
		testHostileMemory(t, r.kind.Name, 1024, 750, seconds, []hostileRepo{r})
		testHostileMemory(t, r.kind.Name+"-half", 512, 400, seconds, []hostileRepo{r})
		many := slices.Repeat([]hostileRepo{r}, 12) // components of one repository
		testHostileMemory(t, r.kind.Name+"-many", 1024, 750, seconds, many)
		testHostileMemory(t, r.kind.Name+"-many-half", 512, 400, seconds, many)
	}
}

type hostileRepo struct {
	kind *hostileKind
	path string
}

// testHostileMemory serves repositories beside a good one, with a limit of memory in MiB,
// and works on them for seconds of processor time.
func testHostileMemory(t *testing.T, name string, limit, most, seconds int, repos []hostileRepo) {
	t.Run(name, func(t *testing.T) {
		good := testrepos.Empty(t)
		push := func(n int) {
			good.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": fmt.Sprintf("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"One\"\nmsgstr \"Version %d\"\n", n)}})
		}
		push(0)
		var config strings.Builder
		fmt.Fprintf(&config, "listen: 127.0.0.1:0\nworkers: 8\nprojects:\n- slug: good\n  components:\n  - {slug: app, repo: %q, filemask: po/*.po}\n", good.Path())
		for i, r := range repos {
			fmt.Fprintf(&config, "- slug: h%d\n  components:\n  - {slug: '%s', repo: %q, filemask: '%s'}\n", i, r.kind.Slug, r.path, r.kind.Filemask)
		}
		file := filepath.Join(t.TempDir(), "r.yaml")
		must(t, os.WriteFile(file, []byte(config.String()), 0o600))
		for start := range 2 {
			s := serveWithin(t, file, limit)
			s.serves(t, fmt.Sprintf("Version %d", start)) // the next start pulls it
			s.works(t, seconds)
			s.serves(t, "Version ")
			push(start + 1)
			if peak := s.peak(t); peak > most {
				t.Errorf("start %d: %d MiB of memory, want up to %d", start, peak, most)
			} else {
				t.Logf("start %d: %d MiB", start, peak)
			}
			s.stop(t)
		}
	})
}

// limitedServer is a server with a limit of memory.
type limitedServer struct {
	*child
	url string
}

// serveWithin starts a server that may have limit MiB. The limit counts reserved memory, too:
// stacks of threads are as small as those of a release, which is built without cgo. With 8 MiB
// for each of 8 threads a process with 260 MiB of memory had reserved 500.
func serveWithin(t *testing.T, file string, limit int) *limitedServer {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	s := &limitedServer{child: &child{cmd: exec.Command("prlimit", fmt.Sprintf("--data=%d", limit<<20), "--stack=1048576", exe, "serve", "--config", file), out: &output{}, err: &output{}, ended: make(chan error, 1)}}
	s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = append(os.Environ(), childVar+"=1"), s.out, s.err
	must(t, s.cmd.Start())
	go func() { s.ended <- s.cmd.Wait() }()
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	if !until(func() bool { return servesOn.MatchString(s.out.String()) }) {
		t.Fatalf("no server:\n%s", s.err)
	}
	s.url = servesOn.FindStringSubmatch(s.out.String())[1]
	return s
}

// serves waits until the good component is served with a text. Steps of others may hold
// SQLite's writer for minutes (docs/security.md#known-limits).
func (s *limitedServer) serves(t *testing.T, text string) {
	t.Helper()
	served := func() bool {
		resp, err := http.Get(s.url + "/api/translations/good/app/cs/units/")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return err == nil && resp.StatusCode == http.StatusOK && strings.Contains(string(body), text)
	}
	for range 3 {
		if until(served) {
			return
		}
	}
	t.Fatalf("the good component is not served with %q:\n%.3000s", text, s.err)
}

// works waits until the process has worked for so many seconds of processor time, or is
// ready.
func (s *limitedServer) works(t *testing.T, seconds int) {
	t.Helper()
	const ticks = 100 // a second: USER_HZ
	until(func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
		if err != nil {
			t.Fatalf("the server has ended:\n%.3000s", s.err)
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')'):]))
		user, _ := strconv.Atoi(fields[12])
		system, _ := strconv.Atoi(fields[13])
		resp, err := http.Get(s.url + "/readyz")
		if err != nil {
			t.Fatalf("the server has ended: %v\n%.3000s", err, s.err)
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK || user+system >= seconds*ticks
	})
}

var highWater = regexp.MustCompile(`VmHWM:\s*(\d+) kB`)

// peak is the most memory that the process had, in MiB.
func (s *limitedServer) peak(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	must(t, err)
	m := highWater.FindSubmatch(status)
	if m == nil {
		t.Fatalf("no memory in\n%s", status)
	}
	kib, _ := strconv.Atoi(string(m[1]))
	return kib >> 10
}

func (s *limitedServer) stop(t *testing.T) {
	t.Helper()
	must(t, s.cmd.Process.Signal(os.Interrupt))
	if err := <-s.ended; err != nil {
		t.Errorf("the server ended with %v\n%.3000s", err, s.err)
	}
}
