package notify

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	webhook "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

var secret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret of thirty-two bytes ..."))

// hook is a receiver that verifies what it gets.
type hook struct {
	*httptest.Server
	t       *testing.T
	mu      sync.Mutex
	status  int    // of answers; 0: 200
	before  func() // called before an answer
	got     []call
	refused int
}

// call is a delivery that was taken.
type call struct {
	id, skipped string
	messages    []message
}

func newHook(t *testing.T) *hook {
	h := &hook{t: t}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	verifier, bad := webhook.NewWebhook(secret)
	if err := errors.Join(err, bad); err != nil {
		h.t.Error(err)
	}
	if err := verifier.VerifyIgnoringTimestamp(body, r.Header); err != nil {
		h.t.Errorf("the signature: %v", err)
	}
	h.mu.Lock()
	status, before := h.status, h.before
	h.mu.Unlock()
	if before != nil {
		before()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if status != 0 {
		h.refused++
		w.WriteHeader(status)
		return
	}
	c := call{id: r.Header.Get("webhook-id"), skipped: r.Header.Get("Repoglot-Skipped")}
	if body[0] == '[' {
		err = json.Unmarshal(body, &c.messages)
	} else {
		c.messages = make([]message, 1)
		err = json.Unmarshal(body, &c.messages[0])
	}
	if err != nil {
		h.t.Errorf("%s: %v", body, err)
	}
	h.got = append(h.got, c)
}

func (h *hook) answers(status int, before func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status, h.before = status, before
}

// take returns the messages that came since the last call, and their deliveries.
func (h *hook) take() (list []message, calls []call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls, h.got = h.got, nil
	for _, c := range calls {
		list = append(list, c.messages...)
	}
	return list, calls
}

// world is a store with a sender whose clock is a field.
type world struct {
	*catalogtest.Puller
	t    *testing.T
	repo *testrepos.Repo
	s    *Sender
	now  time.Time
}

func po(pairs ...string) string { return catalogtest.PO(pairs...) }

func newWorld(t *testing.T, receivers ...Receiver) *world {
	w := &world{t: t, repo: testrepos.Empty(t), now: catalogtest.FirstClock().Add(24 * time.Hour)}
	w.repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "Jedna", "Two", "Dvě")}})
	w.Puller = catalogtest.NewPuller(t, w.repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	w.s = w.sender("one", receivers...)
	return w
}

func (w *world) sender(process string, receivers ...Receiver) *Sender {
	w.t.Helper()
	s := New(Options{
		DB: w.DB, Process: process, Logger: slog.New(slog.DiscardHandler), Page: func(c *catalog.Change) string { return "https://l10n.example.org/" + c.Component },
		Now: func(context.Context) (time.Time, error) { return w.now, nil },
	})
	if err := s.Set(w.t.Context(), receivers); err != nil {
		w.t.Fatal(err)
	}
	return s
}

// push commits a text and pulls it.
func (w *world) push(source, target string) {
	w.t.Helper()
	file := string(w.repo.File(w.t, "main", "po/cs.po"))
	lines := strings.Split(file, "\n")
	for i, line := range lines {
		if line == `msgid "`+source+`"` {
			lines[i+1] = `msgstr "` + target + `"`
		}
	}
	w.repo.Commit(w.t, testrepos.Change{Files: map[string]string{"po/cs.po": strings.Join(lines, "\n")}})
	w.Clock = w.now
	w.Sync()
}

// settle makes rounds of the first receiver until it waits, and returns for how long.
func (w *world) settle(s *Sender) time.Duration {
	w.t.Helper()
	for range 10_000 {
		wait, err := s.round(w.t.Context(), s.followers[0])
		if err != nil {
			w.t.Fatal(err)
		}
		if wait != 0 {
			return wait
		}
	}
	w.t.Fatal("there is no end")
	return 0
}

func targets(list []message) string {
	var texts []string
	for _, m := range list {
		texts = append(texts, strings.Join(append(m.Target, m.Action), " "))
	}
	return strings.Join(texts, ", ")
}

func (w *world) want(h *hook, want, about string) []call {
	w.t.Helper()
	list, calls := h.take()
	if got := targets(list); got != want {
		w.t.Errorf("%s:\n got %s\nwant %s", about, got, want)
	}
	return calls
}

const updated = "String updated in the repository"

// TestDelivery: each change is a delivery of its own, signed, from the newest one on.
func TestDelivery(t *testing.T) {
	h := newHook(t)
	w := newWorld(t, Receiver{URL: h.URL + "/x?token=hidden", Secret: secret, AllowPrivate: true})
	if wait := w.settle(w.s); wait != idle {
		t.Errorf("waits %v", wait)
	}
	w.want(h, "", "what was there before")
	w.push("One", "Jeden")
	w.settle(w.s)
	list, calls := h.take()
	if len(list) != 1 || len(calls) != 1 || calls[0].id == "" {
		t.Fatalf("%+v", calls)
	}
	want := message{
		ChangeID: list[0].ChangeID, Action: updated, Timestamp: "2025-01-02T12:01:00.000000Z", Target: []string{"Jeden"}, Old: []string{"Jedna"}, Source: []string{"One"},
		URL: "https://l10n.example.org/app", Author: list[0].Author, Project: "demo", Component: "app", Translation: "cs",
	}
	catalogtest.Equal(t, want, list[0], "the message")
}

// TestAway: a receiver that was away for an hour has every change afterwards, once by its
// webhook-id, and in order; the pauses grow.
func TestAway(t *testing.T) {
	h := newHook(t)
	w := newWorld(t, Receiver{URL: h.URL, Secret: secret, AllowPrivate: true})
	h.answers(503, nil)
	w.push("One", "1")
	var pauses []time.Duration
	for begun := w.now; w.now.Sub(begun) < time.Hour; {
		wait := w.settle(w.s)
		if again := w.settle(w.s); again != wait {
			t.Fatalf("it does not wait: %v, %v", wait, again)
		}
		pauses = append(pauses, wait)
		w.now = w.now.Add(wait)
		w.push("Two", strconv.Itoa(len(pauses)))
	}
	if len(pauses) != 10 || h.refused != len(pauses) || pauses[0] != 5*time.Second || pauses[9] != 2560*time.Second {
		t.Errorf("%d tries with the pauses %v", h.refused, pauses)
	}
	h.answers(0, nil)
	if wait := w.settle(w.s); wait != idle {
		t.Errorf("waits %v", wait)
	}
	var want []string
	for _, n := range []int{1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10} {
		want = append(want, fmt.Sprint(n, " ", updated))
	}
	calls := w.want(h, strings.Join(want, ", "), "after an hour")
	seen := map[string]bool{}
	for _, c := range calls {
		if seen[c.id] {
			t.Errorf("%s came twice", c.id)
		}
		seen[c.id] = true
	}
	state, err := w.s.State(t.Context())
	catalogtest.Equal(t, State{Receivers: 1}, state, "the state: %v", err)
}

// TestFirstImport: of a component that is added with many entries, one event is sent, and
// others are sent in between; afterwards it is as any other.
func TestFirstImport(t *testing.T) {
	h := newHook(t)
	w := newWorld(t, Receiver{URL: h.URL, Secret: secret, AllowPrivate: true})
	n := testsize.Of(500, 5_000, 5_000)
	var pairs []string
	for i := range n {
		pairs = append(pairs, fmt.Sprint("Source ", i), fmt.Sprint("Text ", i))
	}
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("big/%s.po", strings.Fields("af ar be bg bn ca da de el es et eu fa fi fr ga gl he hi hr")[i])] = po(pairs...)
	}
	w.repo.Commit(t, testrepos.Change{Files: files})
	w.Clock = w.now
	w.Sync()
	w.settle(w.s)
	w.want(h, "", "of no component")
	w.Configure(w.repo.Path(), "", map[string]catalog.ComponentSettings{"app": {}, "big": {Filemask: "big/*.po", History: catalog.History{Full: true}}})
	reads := 0
	w.Progress = func() {
		if reads++; reads < 5 {
			w.settle(w.s) // while it is imported
		}
	}
	w.Clock = w.now
	w.Sync()
	w.push("One", "Jeden")
	if wait := w.settle(w.s); wait != idle {
		t.Errorf("waits %v", wait)
	}
	w.want(h, "Created component, Jeden "+updated, "a component with a past")
	var entries int64
	w.Read(func(ctx context.Context, s *store.Snapshot) error {
		c, err := s.Component(ctx, "demo", "big")
		entries = c.Changes
		return err
	})
	if entries < int64(20*n) {
		t.Errorf("the component has %d entries only", entries)
	}
	w.repo.Commit(t, testrepos.Change{Files: map[string]string{"big/af.po": po(append(pairs, "More", "Meer")...)}})
	w.Clock = w.now
	w.Sync()
	w.settle(w.s)
	w.want(h, "More New string added, Meer New string added", "the next change of it")
}

// TestCrash: a process that dies between a delivery and its cursor repeats it with the same
// webhook-id.
func TestCrash(t *testing.T) {
	h := newHook(t)
	r := Receiver{URL: h.URL, Secret: secret, AllowPrivate: true}
	w := newWorld(t, r)
	w.push("One", "Jeden")
	w.push("Two", "Dva")
	h.answers(0, func() { w.Close() })
	if _, err := w.s.round(t.Context(), w.s.followers[0]); err == nil {
		t.Fatal("the database is open")
	}
	h.answers(0, nil)
	w.Open()
	after := w.sender("two", r)
	if wait := w.settle(after); wait != leaseTime {
		t.Errorf("it waits %v for the lease of a process that died", wait)
	}
	w.now = w.now.Add(leaseTime)
	w.settle(after)
	calls := w.want(h, "Jeden "+updated+", Jeden "+updated+", Dva "+updated, "after a crash")
	if calls[0].id != calls[1].id || calls[1].id == calls[2].id {
		t.Errorf("webhook-id: %s, %s, %s", calls[0].id, calls[1].id, calls[2].id)
	}
}

// TestBatch: changes are collected, and a delivery that failed is the same when it is tried
// again, whatever came meanwhile.
func TestBatch(t *testing.T) {
	h := newHook(t)
	w := newWorld(t, Receiver{URL: h.URL, Secret: secret, AllowPrivate: true, Batch: time.Minute})
	w.push("One", "1")
	w.push("Two", "2")
	if wait := w.settle(w.s); wait <= 0 || wait > time.Minute {
		t.Errorf("waits %v", wait)
	}
	w.want(h, "", "too early")
	w.now = w.now.Add(2 * time.Minute)
	h.answers(500, nil)
	w.now = w.now.Add(w.settle(w.s))
	w.push("One", "3")
	h.answers(0, nil)
	w.settle(w.s)
	calls := w.want(h, "1 "+updated+", 2 "+updated, "a batch")
	if len(calls) != 1 {
		t.Errorf("%d deliveries", len(calls))
	}
	w.now = w.now.Add(2 * time.Minute)
	w.settle(w.s)
	w.want(h, "3 "+updated, "the next one")
}

// TestSkipped: what is older than 30 days is not sent, and the next delivery says how many; a
// day is a problem.
func TestSkipped(t *testing.T) {
	h := newHook(t)
	w := newWorld(t, Receiver{URL: h.URL, Secret: secret, AllowPrivate: true})
	h.answers(500, nil)
	w.push("One", "1")
	w.push("Two", "2")
	w.settle(w.s)
	w.now = w.now.Add(25 * time.Hour)
	w.settle(w.s)
	state, err := w.s.State(t.Context())
	catalogtest.Equal(t, State{Receivers: 1, Failing: 1}, state, "after a day: %v", err)
	w.now = w.now.Add(30 * 24 * time.Hour)
	w.push("One", "3")
	w.settle(w.s)
	w.now = w.now.Add(time.Hour)
	h.answers(0, nil)
	w.settle(w.s)
	calls := w.want(h, "3 "+updated, "after a month")
	if calls[0].skipped != "2" {
		t.Errorf("it says %q", calls[0].skipped)
	}
	w.push("One", "4")
	w.settle(w.s)
	if calls := w.want(h, "4 "+updated, "then"); calls[0].skipped != "" {
		t.Errorf("it says %q again", calls[0].skipped)
	}
}

// TestTwoProcesses: of two processes one delivers, and each change once.
func TestTwoProcesses(t *testing.T) {
	pgtest.PostgresOnly(t, "SQLite has one process")
	h := newHook(t)
	r := Receiver{URL: h.URL, Secret: secret, AllowPrivate: true}
	w := newWorld(t, r)
	other := catalogtest.At(t, w.Dir)
	other.Open()
	two := w.sender("two", r)
	two.DB = other.DB
	w.push("One", "0")
	h.answers(0, func() { // while the first one delivers
		if wait, err := two.round(t.Context(), two.followers[0]); wait != leaseTime || err != nil {
			t.Errorf("the second one waits %v, %v", wait, err)
		}
	})
	if _, err := w.s.round(t.Context(), w.s.followers[0]); err != nil {
		t.Fatal(err)
	}
	h.answers(0, nil)
	var want []string
	for i := range 30 {
		w.push("One", fmt.Sprint("n", i))
		want = append(want, fmt.Sprint("n", i, " ", updated))
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, s := range []*Sender{w.s, two} {
		running.Go(func() { _ = s.Run(ctx) })
	}
	for have := 0; have < 31; runtime.Gosched() {
		h.mu.Lock()
		have = len(h.got)
		h.mu.Unlock()
	}
	stop()
	running.Wait()
	w.want(h, "0 "+updated+", "+strings.Join(want, ", "), "of two processes")
}

// TestHanging: a receiver that hangs stops no other, and ends.
func TestHanging(t *testing.T) {
	hangs, h := newHook(t), newHook(t)
	left := make(chan struct{})
	began := make(chan struct{}, 10)
	hangs.answers(500, func() { began <- struct{}{}; <-left })
	w := newWorld(t, Receiver{URL: hangs.URL, Secret: secret, AllowPrivate: true}, Receiver{URL: h.URL, Secret: secret, AllowPrivate: true})
	w.s.followers[0].client.Timeout = 50 * time.Millisecond
	came := make(chan struct{}, 10)
	h.answers(0, func() { came <- struct{}{} })
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = w.s.Run(ctx) })
	w.push("One", "Jeden")
	<-began
	w.push("Two", "Dva")
	<-came
	<-came
	failed := func() bool {
		list, err := w.DB.Receivers(t.Context())
		return err == nil && slices.ContainsFunc(list, func(r store.Receiver) bool { return r.Failures > 0 })
	}
	for !failed() {
		runtime.Gosched()
	}
	stop()
	close(left)
	running.Wait()
}

// TestAddresses: addresses of this machine and of private networks are not asked, whatever a
// name resolves to.
func TestAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.216.34:443": true, "[2606:2800:220:1:248:1893:25c8:1946]:443": true, "172.32.0.1:80": true,
		"127.0.0.1:80": false, "127.9.9.9:80": false, "10.1.2.3:80": false, "172.16.0.1:80": false, "192.168.0.1:80": false, "169.254.169.254:80": false,
		"100.64.0.1:80": false, "0.0.0.0:80": false, "0.1.2.3:80": false, "224.0.0.1:80": false, "255.255.255.255:80": false, "192.0.0.8:80": false, "198.18.0.1:80": false,
		"[::1]:80": false, "[::]:80": false, "[fe80::1]:80": false, "[fe80::1%lo]:80": false, "[fc00::1]:80": false, "[ff02::1]:80": false, "[::ffff:127.0.0.1]:80": false,
		"[::127.0.0.1]:80": false, "[64:ff9b::7f00:1]:80": false, "[2002:7f00:1::]:80": false, "[2001::1]:80": false, "localhost:80": false, "/tmp/socket": false,
	} {
		if err := dials("tcp", address, nil); errors.Is(err, errAddress) == want {
			t.Errorf("%s: %v", address, err)
		}
	}
	h := newHook(t)
	_, port, err := net.SplitHostPort(h.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	f := &follower{Receiver: Receiver{URL: "http://hook.example.org:" + port + "/secret", Secret: secret}}
	f.client = f.newClient(resolverOf(t, [4]byte{127, 0, 0, 1}))
	err = f.deliver(t.Context(), &delivery{id: "msg_1", body: []byte("{}"), at: time.Now()}, "")
	if !errors.Is(err, errAddress) || strings.Contains(err.Error(), "secret") {
		t.Errorf("a name of this machine: %v", err)
	}
	f.AllowPrivate = true
	f.client = f.newClient(resolverOf(t, [4]byte{127, 0, 0, 1}))
	if err := f.deliver(t.Context(), &delivery{id: "msg_1", body: []byte("{}"), at: time.Now()}, ""); err != nil {
		t.Errorf("the same name, allowed: %v", err)
	}
	if _, calls := h.take(); len(calls) != 1 {
		t.Errorf("%d calls", len(calls))
	}
}

// resolverOf makes a resolver that knows one address for all names.
func resolverOf(t *testing.T, address [4]byte) *net.Resolver {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Additionals = true, nil
			if q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}, Body: &dnsmessage.AResource{A: address}}}
			}
			if answer, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// TestAnswers: redirects are not followed, and of a huge answer little is read.
func TestAnswers(t *testing.T) {
	var asked, written int
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		case "/huge":
			for piece := make([]byte, 1<<20); written < 1<<30; written += len(piece) {
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		default:
			asked++
		}
	}))
	t.Cleanup(server.Close)
	deliver := func(path string) error {
		f := &follower{Receiver: Receiver{URL: server.URL + path, Secret: secret, AllowPrivate: true}}
		f.client = f.newClient(nil)
		return f.deliver(t.Context(), &delivery{id: "msg_1", body: []byte("{}"), at: time.Now()}, "")
	}
	if err := deliver("/moved"); err == nil || err.Error() != "the answer is 307" || asked != 0 {
		t.Errorf("a redirect: %v, followed %d times", err, asked)
	}
	err := deliver("/huge")
	mu.Lock()
	defer mu.Unlock()
	if err != nil || written > 64<<20 {
		t.Errorf("a huge answer: %v, %d bytes", err, written)
	}
}

// TestFailures: whatever a receiver answers with, it is a failure without secrets; one that is slow
// and did take it is not.
func TestFailures(t *testing.T) {
	answer := func(text string) string {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				line, _ := bufio.NewReader(conn).ReadString('\n')
				_, _ = io.WriteString(conn, strings.ReplaceAll(text, "LINE", strings.TrimSpace(line)))
				if !strings.Contains(text, "200") {
					_ = conn.Close()
				}
			}
		}()
		return "http://" + listener.Addr().String()
	}
	secure, plain := httptest.NewTLSServer(http.NotFoundHandler()), httptest.NewServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(secure.Close)
	t.Cleanup(plain.Close)
	for _, c := range []struct{ about, url, want string }{
		{"gone", answer("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"), "the answer is 410"},
		{"an echo", answer("LINE\r\n\r\n"), "the answer is not HTTP"},
		{"a bad redirect", answer("HTTP/1.1 302 Found\r\nLocation: http://[?LINE\r\nContent-Length: 0\r\n\r\n"), "the answer is not HTTP"},
		{"nothing", answer(""), "EOF"},
		{"an unknown certificate", secure.URL, "certificate"},
		{"TLS without it", strings.Replace(plain.URL, "http:", "https:", 1), "HTTP response to HTTPS client"},
		{"a body without an end", answer("HTTP/1.1 200 OK\r\n\r\nslow"), ""},
	} {
		f := &follower{Receiver: Receiver{URL: c.url + "/x?token=hidden", Secret: secret, AllowPrivate: true}}
		f.client = f.newClient(nil)
		if c.want == "" {
			f.client.Timeout = 2 * time.Second // else it is read until deliveryTime
		}
		err := f.deliver(t.Context(), &delivery{id: "msg_1", body: []byte("{}"), at: time.Now()}, "")
		if said := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && !strings.Contains(said, c.want) || strings.Contains(said, "hidden") || strings.Contains(said, secret) {
			t.Errorf("%s: %v", c.about, err)
		}
	}
}

// TestLeaps: a clock that is set back stops no receiver, and one that is set forward loses no
// component that came.
func TestLeaps(t *testing.T) {
	h := newHook(t)
	w := newWorld(t, Receiver{URL: h.URL, Secret: secret, AllowPrivate: true})
	begun := w.now
	h.answers(500, nil)
	w.now = begun.AddDate(4, 0, 0)
	w.push("One", "1")
	w.settle(w.s)
	w.now = begun
	h.answers(0, nil)
	if wait := w.settle(w.s); wait != idle {
		t.Errorf("waits %v", wait)
	}
	w.want(h, "1 "+updated, "after the clock was set back")
	w.push("Two", "2")
	w.Configure(w.repo.Path(), "", map[string]catalog.ComponentSettings{"app": {}, "more": {History: catalog.History{Full: true}}})
	w.Sync()
	w.now = begun.AddDate(4, 2, 0)
	w.settle(w.s)
	if calls := w.want(h, "Created component", "after it was set forward"); len(calls) == 1 && calls[0].skipped != "1" {
		t.Errorf("skipped %q", calls[0].skipped)
	}
}

// TestReload: a receiver that is removed gets nothing more, one that stays loses nothing, and one
// that comes begins with what is newer.
func TestReload(t *testing.T) {
	stays, goes, comes := newHook(t), newHook(t), newHook(t)
	of := func(list ...*hook) (receivers []Receiver) {
		for _, h := range list {
			receivers = append(receivers, Receiver{URL: h.URL, Secret: secret, AllowPrivate: true})
		}
		return receivers
	}
	w := newWorld(t, of(stays, goes)...)
	w.push("One", "1")
	if err := w.s.Set(t.Context(), of(comes, stays)); err != nil {
		t.Fatal(err)
	}
	w.push("Two", "2")
	w.settle(w.s)
	w.want(comes, "2 "+updated, "the one that comes")
	w.s.followers = w.s.followers[1:]
	w.settle(w.s)
	w.want(stays, "1 "+updated+", 2 "+updated, "the one that stays")
	if err := w.s.Set(t.Context(), of(goes)); err != nil {
		t.Fatal(err)
	}
	w.settle(w.s)
	w.want(goes, "", "the one that was away")
}

// TestWants: what a receiver is told of.
func TestWants(t *testing.T) {
	public := &store.ComponentRow{ImportedChange: 5}
	public.Imported = true
	hidden := &store.ComponentRow{}
	hidden.Imported, hidden.Project.Settings.Access = true, catalog.AccessPrivate
	importing := &store.ComponentRow{}
	text := catalog.Change{ID: 9, Action: catalog.ActionStringRepoUpdate, Project: "demo", Component: "app", Language: "cs"}
	conflict := text
	conflict.Event = map[string]string{catalog.EventConflict: "1"}
	failed := catalog.Change{ID: 9, Action: catalog.ActionFailedMerge, Project: "demo", Component: "app"}
	pushed := catalog.Change{ID: 9, Action: catalog.ActionFailedPush, Project: "demo", Component: "app"}
	file := catalog.Change{ID: 9, Action: catalog.ActionAddedLanguage, Project: "demo", Component: "app", Event: map[string]string{"language": "de"}}
	old, came := text, catalog.Change{ID: 1, Action: catalog.ActionCreateComponent, Project: "demo", Component: "app"}
	old.ID = 5
	for _, c := range []struct {
		about  string
		r      Receiver
		change catalog.Change
		of     *store.ComponentRow
		want   bool
	}{
		{"everything", Receiver{}, text, public, true},
		{"of a first import", Receiver{}, old, public, false},
		{"of one that goes on", Receiver{}, text, importing, false},
		{"that it came", Receiver{}, came, importing, true},
		{"private", Receiver{}, text, hidden, false},
		{"that a private one came", Receiver{}, came, hidden, false},
		{"private, and named", Receiver{Projects: []string{"demo"}}, text, hidden, true},
		{"of another project", Receiver{Projects: []string{"other"}}, text, public, false},
		{"of the language", Receiver{Languages: []string{"cs"}}, text, public, true},
		{"of another language", Receiver{Languages: []string{"de"}}, text, public, false},
		{"a file of another language", Receiver{Languages: []string{"cs"}}, file, public, false},
		{"of no language", Receiver{Languages: []string{"de"}}, failed, public, true},
		{"by number", Receiver{Events: []string{"59"}}, text, public, true},
		{"by name", Receiver{Events: []string{updated}}, text, public, true},
		{"another action", Receiver{Events: []string{"2"}}, text, public, false},
		{"a conflict", Receiver{Events: []string{"edit_conflict"}}, conflict, public, true},
		{"no conflict", Receiver{Events: []string{"edit_conflict"}}, text, public, false},
		{"an error", Receiver{Events: []string{"component_error"}}, failed, public, true},
		{"a push that fails", Receiver{Events: []string{"component_error"}}, pushed, public, true},
		{"no error", Receiver{Events: []string{"component_error"}}, text, public, false},
	} {
		if got := c.r.wants(&c.change, c.of); got != c.want {
			t.Errorf("%s: %v", c.about, got)
		}
	}
	m := newMessage(&conflict, func(*catalog.Change) string { return "" })
	request := newMessage(&catalog.Change{Action: catalog.ActionPush, Event: map[string]string{catalog.EventRequest: "2", catalog.EventURL: "https://forge/2"}}, noPage)
	if m.Action != "Edit conflict" || request.Action != "Request opened" || request.URL != "https://forge/2" {
		t.Errorf("%+v, %+v", m, request)
	}
}

func noPage(*catalog.Change) string { return "" }
