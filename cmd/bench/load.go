package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// connections is the number of connections of a load; each sends its next request
// after the answer.
const connections = 8

// load is the result of a load.
type load struct {
	rate float64       // answers/s
	p99  time.Duration // 99th percentile of the times of answers
	// median of the times of answers; only of a paced load
	median time.Duration
	cpu    float64 // µs of processor time per answer, including the client's
}

// target is a server under load: its address and its process.
type target struct {
	address string
	pid     int
}

// hammer requests paths from a server over several connections. It writes requests
// and reads answers as bytes, since a full client would take longer than the server.
// path returns the n-th path of a connection.
func hammer(ctx context.Context, to target, d time.Duration, header string, status int, path func(conn, n int) string) (load, error) {
	ctx, cancel := context.WithTimeout(ctx, d+30*time.Second)
	defer cancel()
	var (
		group sync.WaitGroup
		took  [connections][]time.Duration
		errs  [connections]error
	)
	started := time.Now()
	before, err := usedBy(to.pid)
	if err != nil {
		return load{}, err
	}
	for i := range connections {
		group.Go(func() {
			took[i], errs[i] = hammerOne(ctx, to.address, started.Add(d), header, status, func(n int) string { return path(i, n) })
		})
	}
	group.Wait()
	elapsed := time.Since(started)
	after, err := usedBy(to.pid)
	if err != nil {
		return load{}, err
	}
	var all []time.Duration
	for i := range took {
		if errs[i] != nil {
			return load{}, errs[i]
		}
		all = append(all, took[i]...)
	}
	slices.Sort(all)
	n := float64(len(all))
	return load{rate: n / elapsed.Seconds(), p99: all[len(all)*99/100], cpu: float64((after - before).Microseconds()) / n}, nil
}

// usedBy returns the processor time of a process and of this one.
func usedBy(pid int) (time.Duration, error) {
	theirs, err := processTime(pid)
	if err != nil {
		return 0, err
	}
	var own syscall.Rusage
	err = syscall.Getrusage(syscall.RUSAGE_SELF, &own)
	return theirs + time.Duration(own.Utime.Nano()+own.Stime.Nano()), err
}

func hammerOne(ctx context.Context, address string, end time.Time, header string, status int, path func(n int) string) ([]time.Duration, error) {
	return hammerWith(ctx, &net.Dialer{}, address, end, header, status, path)
}

// hammerFrom is hammerOne for successes, from an address of this machine.
func hammerFrom(ctx context.Context, from net.IP, address string, end time.Time, path func(n int) string) ([]time.Duration, error) {
	return hammerWith(ctx, &net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}, address, end, "", http.StatusOK, path)
}

func hammerWith(ctx context.Context, dialer *net.Dialer, address string, end time.Time, header string, status int, path func(n int) string) ([]time.Duration, error) {
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return nil, err
		}
	}
	in := bufio.NewReaderSize(conn, 64<<10)
	var took []time.Duration
	for n := 0; time.Now().Before(end); n++ {
		next := path(n) // which may wait for its time
		asked := time.Now()
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", next, address, header); err != nil {
			return nil, err
		}
		got, err := skipAnswer(in)
		if err != nil {
			return nil, err
		}
		if got != status {
			return nil, fmt.Errorf("GET %s: status %d, want %d", next, got, status)
		}
		took = append(took, time.Since(asked))
	}
	return took, nil
}

// skipAnswer reads one answer and returns its status.
func skipAnswer(in *bufio.Reader) (int, error) {
	status, length := 0, 0
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
	_, err := in.Discard(length)
	return status, err
}

// serveBare is the child of againstBare: it serves the bytes of a file at every path
// from a plain net/http handler, and 304 to clients that have them. No server in Go
// can be much faster.
func serveBare(file, contentType string, out io.Writer) error {
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
		h.Set("Content-Type", contentType)
		h.Set("ETag", bareTag)
		if r.Header.Get("If-None-Match") == bareTag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		h.Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	}))
}

const bareTag = `"bare"`
