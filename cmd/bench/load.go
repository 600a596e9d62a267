package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// hammer is a load on a server over several connections, each of which sends its next
// request after the answer. It writes requests and reads answers as bytes, since a full
// client would take longer than the server.
type hammer struct {
	address     string
	pid         int // of the server
	connections int // 0: 8
	header      string
	status      int // that answers must have; 0: 200
	// from is the client's address of a connection; nil: any.
	from func(connection int) net.IP
	// path is the n-th path of a connection. It may wait until the request is due.
	path func(connection, n int) string
}

// load is the result of a load.
type load struct {
	rate        float64       // answers/s
	median, p99 time.Duration // of the times of answers
	cpu         float64       // µs of processor time per answer, including the client's
}

// hammer returns a load on the server.
func (s *server) hammer(path func(connection, n int) string) hammer {
	return hammer{address: strings.TrimPrefix(s.base, "http://"), pid: s.cmd.Process.Pid, path: path}
}

// load requests pages for a time.
func (r *run) load(h hammer, lasts time.Duration) load {
	h.connections = cmp.Or(h.connections, 8)
	h.status = cmp.Or(h.status, http.StatusOK)
	ctx, cancel := context.WithTimeout(r.ctx, lasts+30*time.Second)
	defer cancel()
	took, errs := make([][]time.Duration, h.connections), make([]error, h.connections)
	before, started := r.usedBy(h.pid), time.Now()
	var group sync.WaitGroup
	for i := range h.connections {
		group.Go(func() { took[i], errs[i] = h.one(ctx, i, started.Add(lasts)) })
	}
	group.Wait()
	elapsed := time.Since(started)
	r.must(errs...)
	all := slices.Concat(took...)
	if len(all) == 0 {
		r.Fatalf("no answer in %v", lasts)
	}
	slices.Sort(all)
	n := float64(len(all))
	return load{n / elapsed.Seconds(), all[len(all)/2], all[len(all)*99/100], float64((r.usedBy(h.pid) - before).Microseconds()) / n}
}

// usedBy returns the processor time of a process and of this one.
func (r *run) usedBy(pid int) time.Duration {
	theirs, err := processTime(pid)
	var own syscall.Rusage
	r.must(err, syscall.Getrusage(syscall.RUSAGE_SELF, &own))
	return theirs + used(&own)
}

// one is the load of one connection, until end.
func (h hammer) one(ctx context.Context, connection int, end time.Time) (took []time.Duration, err error) {
	var dialer net.Dialer
	if h.from != nil {
		dialer.LocalAddr = &net.TCPAddr{IP: h.from(connection)}
	}
	conn, err := dialer.DialContext(ctx, "tcp", h.address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(conn, 64<<10)
	for n := 0; time.Now().Before(end); n++ {
		path := h.path(connection, n)
		asked := time.Now()
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, h.address, h.header); err != nil {
			return nil, err
		}
		status, err := skipAnswer(in)
		if err != nil || status != h.status {
			return nil, errors.Join(err, fmt.Errorf("GET %s: status %d, want %d", path, status, h.status))
		}
		took = append(took, time.Since(asked))
	}
	return took, nil
}

// skipAnswer reads one answer and returns its status.
func skipAnswer(in *bufio.Reader) (status int, err error) {
	length := 0
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		if first {
			_, code, _ := bytes.Cut(line, []byte(" "))
			if status, err = strconv.Atoi(string(code[:min(3, len(code))])); err != nil {
				return 0, fmt.Errorf("status line %q: %w", line, err)
			}
		} else if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok && status != http.StatusNotModified {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, err
			}
		}
	}
	_, err = in.Discard(length)
	return status, err
}

const bareTag = `"bare"`

// bare starts this program as a plain net/http handler that serves the bytes of a body
// at every path, and 304 to clients that have them. No server in Go can be much faster.
func (r *run) bare(body []byte) (address string, pid int) {
	self, err := os.Executable()
	r.must(err)
	file := r.TempDir() + "/body"
	r.must(os.WriteFile(file, body, 0o644))
	cmd := exec.CommandContext(r.ctx, self, "-bare", file)
	out, err := cmd.StdoutPipe()
	r.must(err)
	r.must(cmd.Start())
	r.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	r.must(err)
	return strings.TrimSpace(line), cmd.Process.Pid
}

// serveBare is the process of bare. It prints its address.
func serveBare(file string, out io.Writer) error {
	body, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, l.Addr())
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("ETag", bareTag)
		if r.Header.Get("If-None-Match") == bareTag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		h.Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	}))
}
