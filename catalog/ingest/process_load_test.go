package ingest_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
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

// attack is what hostile clients do. hold sends what it wants to and returns when the
// server or ctx ends the connection.
type attack struct {
	name    string
	clients int
	hold    func(c net.Conn, n int)
}

// hostile measures the small pages of honest clients, each from its own address, beside
// each attack, from some other addresses, and the memory of the server.
func (r *run) hostile() {
	const (
		strings190 = 190_000
		clients    = 20
		rate       = 5   // small pages a second of each
		limitP99   = 100 // ms
		limitRSS   = 500 // MiB
	)
	s, _ := r.serveGenerated(GenSpec{Entries: strings190, Plural: 50, Context: 10, Fuzzy: 20, Untranslated: 7}, largeFiles)
	address := strings.TrimPrefix(s.base, "http://")
	list := slices.DeleteFunc(attacks(address), func(a attack) bool { return !strings.Contains(a.name, r.attack) })
	honest := func() load {
		started := time.Now()
		page := rand.IntN(strings190)
		h := s.hammer(func(conn, n int) string { // another unit each time, so that none is kept
			time.Sleep(time.Until(started.Add(time.Duration(n) * time.Second / rate)))
			return fmt.Sprintf("%sunits/?page_size=1&page=%d", translation, (page+n*clients+conn)%strings190+1)
		})
		h.connections, h.from = clients, func(conn int) net.IP { return net.IPv4(127, 0, 1, byte(1+conn)) }
		return r.load(h, r.lasts/time.Duration(max(len(list), 1)))
	}
	honest() // warms the caches
	alone := honest()
	r.atMost("20 honest clients alone: small page, p99", "ms", inMS(alone.p99), limitP99)
	for _, a := range list {
		attacking, end := context.WithCancel(r.ctx)
		r.Cleanup(end)
		var group sync.WaitGroup
		for i := range a.clients {
			group.Go(func() { a.run(attacking, address, i) })
		}
		beside, rss := honest(), s.rss()
		end()
		group.Wait()
		r.atMost("beside "+a.name+": small page, p99", "ms", inMS(beside.p99), limitP99)
		r.figure("  median, as a ratio to alone", "x", float64(beside.median)/float64(alone.median))
		r.atMost("  memory of the server", "MiB", rss, limitRSS)
	}
}

// attackers is the number of addresses of attackers: together they have all that clients
// share.
const attackers = 4

// run attacks until ctx is done, from one of their addresses.
func (a *attack) run(ctx context.Context, address string, client int) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+client%attackers))}}
	for n := 0; ctx.Err() == nil; n++ {
		c, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
			stop := context.AfterFunc(ctx, func() { _ = c.Close() })
			a.hold(c, client<<20|n)
			stop()
			_ = c.Close()
		}
		select { // the server refuses at once what is over a share
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func attacks(host string) []attack {
	var bomb bytes.Buffer
	z, _ := gzip.NewWriterLevel(&bomb, gzip.BestCompression) // the level is valid
	_, _ = z.Write(make([]byte, 4<<20))                      // to memory
	_ = z.Flush()
	held := bomb.Len() // the end of a body can be held back
	_ = z.Close()
	clone := func(c net.Conn, sent int) {
		fmt.Fprintf(c, "POST /git/bench/it/git-upload-pack HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-git-upload-pack-request\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", host, bomb.Len())
		_, _ = c.Write(bomb.Bytes()[:sent])
	}
	get := func(c net.Conn, path, header string) {
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, host, header)
	}
	wait := func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); _, _ = io.Copy(io.Discard, c) }
	slowly := func(c net.Conn) {
		buf := make([]byte, 512)
		for {
			if _, err := c.Read(buf); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	regexps := func(n int) string {
		terms := make([]string, 30)
		for i := range terms {
			terms[i] = fmt.Sprintf(`r"[a-z]+ x%d_%d$"`, n, i)
		}
		return url.QueryEscape(strings.Join(terms, " OR "))
	}
	return []attack{
		{"200 clones whose bodies inflate and do not end", 200, func(c net.Conn, _ int) { clone(c, held); wait(c) }},
		{"200 clones whose bodies inflate and end", 200, func(c net.Conn, _ int) { clone(c, bomb.Len()); wait(c) }},
		{"150 answers that are not read", 150, func(c net.Conn, n int) {
			get(c, fmt.Sprintf("/api/units/?page_size=10000&x=%d", n), "")
			slowly(c)
		}},
		{"24 searches of 30 regular expressions", 24, func(c net.Conn, n int) {
			get(c, "/api/units/?q="+regexps(n), "Connection: close\r\n")
			wait(c)
		}},
		{"24 searches of 2 regular expressions", 24, func(c net.Conn, n int) {
			get(c, "/api/units/?q="+url.QueryEscape(fmt.Sprintf(`r"[a-z]+ x%d$" OR r"[0-9]+ y%d"`, n, n)), "Connection: close\r\n")
			wait(c)
		}},
		{"16 slow readers of lines", 16, func(c net.Conn, n int) {
			get(c, fmt.Sprintf("/api/units/?format=ndjson&x=%d", n), "")
			slowly(c)
		}},
		{"40 downloads that are not read", 40, func(c net.Conn, n int) {
			get(c, fmt.Sprintf("/api/translations/bench/it/cs/file/?format=csv&x=%d", n), "")
			slowly(c)
		}},
		{"20 webhooks whose bodies do not end", 20, func(c net.Conn, _ int) {
			fmt.Fprintf(c, "POST /hooks/github/ HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", host, 24<<20)
			_, _ = c.Write(make([]byte, 20<<20))
			wait(c)
		}},
		{"600 streams", 600, func(c net.Conn, _ int) {
			get(c, "/api/changes/stream/", "")
			wait(c)
		}},
	}
}
