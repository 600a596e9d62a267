package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
)

// event is a block of an event stream, as it is on the wire.
type event struct {
	id, event, data, comment string
}

// client is one connection to a stream.
type client struct {
	res    *http.Response
	lines  *bufio.Scanner
	cancel context.CancelFunc
}

// connect opens a stream; the status must be 200.
func connect(t *testing.T, target, last string, header ...string) (*client, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	must(t, err)
	req.Header.Set("Accept", "text/event-stream")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		cancel()
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		cancel()
		return nil, fmt.Errorf("%s: %d %s", target, res.StatusCode, body)
	}
	c := &client{res: res, lines: bufio.NewScanner(res.Body), cancel: cancel}
	c.lines.Buffer(nil, 4<<20)
	return c, nil
}

func mustConnect(t *testing.T, target, last string, header ...string) *client {
	t.Helper()
	c, err := connect(t, target, last, header...)
	must(t, err)
	t.Cleanup(c.close)
	return c
}

func (c *client) close() {
	c.cancel()
	c.res.Body.Close()
}

// next reads a block; ok is false at the end of the stream.
func (c *client) next() (e event, ok bool) {
	for c.lines.Scan() {
		name, value, _ := strings.Cut(c.lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case c.lines.Text() == "":
			return e, true
		case name == "id":
			e.id = value
		case name == "event":
			e.event = value
		case name == "data":
			e.data = value
		case name == "":
			e.comment = value
		}
	}
	return e, false
}

// change reads on to the next entry.
func (c *client) change() (e event, ok bool) {
	for {
		if e, ok = c.next(); !ok || e.data != "" {
			return e, ok
		}
	}
}

func listen(t *testing.T, s *Server) string {
	t.Helper()
	ts := httptest.NewServer(s)
	t.Cleanup(func() {
		s.EndStreams()
		ts.Close()
	})
	return ts.URL
}

// TestStreamContent: the events are the entries of the list, byte for byte,
// from the position that the client sends. The filters are the list's; hidden
// entries stay hidden.
func TestStreamContent(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	base := listen(t, serve(w, Options{Settings: Settings{BaseURL: "https://l10n.example.org"}}))
	for _, path := range changeLists {
		for _, query := range []string{"", "action=59&action=63", "user=karel", "unit=268435466", "timestamp_after=2026-03-04T15:00:00Z", "format=json&action=24", "timestamp_before=2026-03-04T06:00:00Z"} {
			res, err := http.Get(base + path + "?page_size=1000&" + query)
			must(t, err)
			var l struct{ Results []json.RawMessage }
			must(t, json.NewDecoder(res.Body).Decode(&l))
			res.Body.Close()
			c := mustConnect(t, base+path+"stream/?after_id=0&"+query, "")
			if e, ok := c.next(); !ok || e != (event{id: "0"}) {
				t.Fatalf("%s begins with %+v", path, e)
			}
			for _, want := range l.Results {
				e, ok := c.next()
				var entry struct{ ID json.Number }
				must(t, json.Unmarshal(want, &entry))
				if !ok || e != (event{id: entry.ID.String(), event: "change", data: string(want)}) {
					t.Fatalf("%s?%s: %+v, want %s", path, query, e, want)
				}
			}
			c.close()
		}
	}
}

// TestStreamFilters: whatever a list can be filtered by, its stream is, too.
func TestStreamFilters(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := serve(w, Options{})
	var all store.ChangeQuery
	fields := reflect.ValueOf(&all).Elem()
	for i := range fields.NumField() {
		switch f := fields.Field(i); f.Interface().(type) {
		case int, int64:
			f.SetInt(1)
		case bool:
			f.SetBool(true)
		case string:
			f.SetString("jana")
		case []catalog.Action:
			f.Set(reflect.ValueOf([]catalog.Action{catalog.ActionNewUnit}))
		case []int64:
			f.Set(reflect.ValueOf([]int64{1}))
		case time.Time:
			f.Set(reflect.ValueOf(catalogtest.Now()))
		default:
			t.Fatalf("draw a value of %s", f.Type())
		}
	}
	f := &eventStream{ChangeStream: rest.ChangeStream{Path: "/x/", Query: all, Scope: func(context.Context, *store.Snapshot) (store.ChangeQuery, error) {
		return store.ChangeQuery{ComponentID: 7}, nil
	}}, last: 5}
	want := all
	want.ProjectID, want.ComponentID, want.TranslationID, want.Components, want.Newest, want.AfterID = 0, 7, 0, nil, false, 5
	must(t, w.DB.Read(t.Context(), func(ctx context.Context, snap *store.Snapshot) error {
		got, err := s.streamQuery(ctx, snap, f)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		return err
	}))
}

// TestStreamBegin: Last-Event-ID wins over after_id, which wins over now.
func TestStreamBegin(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := serve(w, Options{})
	base := listen(t, s)
	for _, tc := range []struct{ query, last, begin, first string }{
		{"", "", "105", ""},
		{"?after_id=104", "", "104", "105"},
		{"?after_id=3", "103", "103", "104"},
		{"?after_id=3", " 103 ", "103", "104"},
		{"?after_id=-7", "", "0", "1"},
		{"?after_id=999", "", "999", ""},
		{"?action=24", "5", "5", "105"},
	} {
		c := mustConnect(t, base+"/api/components/demo/app/changes/stream/"+tc.query, tc.last)
		if e, _ := c.next(); e.id != tc.begin {
			t.Errorf("%s, Last-Event-ID %q begins with %+v", tc.query, tc.last, e)
		}
		if tc.first != "" {
			if e, _ := c.next(); e.id != tc.first {
				t.Errorf("%s, Last-Event-ID %q goes on with %+v", tc.query, tc.last, e)
			}
		}
		for name, want := range map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no", "Allow": "GET, HEAD, OPTIONS", "Vary": "Accept", "Content-Length": "",
		} {
			if got := c.res.Header.Get(name); got != want {
				t.Errorf("%s: %q", name, got)
			}
		}
		c.close()
	}
	for header, want := range map[string]string{
		"x": `{"Last-Event-ID":["A valid integer is required."]}`, "-1": `{"Last-Event-ID":["A valid integer is required."]}`,
	} {
		wantAnswer(t, s, 400, want, "/api/changes/stream/", "Last-Event-ID", header)
	}
	for target, want := range map[string]int{
		"/api/changes/stream/?ordering=-id": 400, "/api/changes/stream/?format=csv": 404, "/api/translations/demo/docs/cs/changes/stream/": 503,
		"/api/components/demo/hidden/changes/stream/": 404, "/api/projects/nope/changes/stream/": 404,
	} {
		if rec := call(t, s, http.MethodGet, target); rec.Code != want || rec.Header().Get("Content-Type") != rest.TypeJSON {
			t.Errorf("%s: %d %s", target, rec.Code, rec.Body)
		}
	}
	if rec := call(t, s, http.MethodHead, "/api/changes/stream/"); rec.Code != 200 || rec.Header().Get("Content-Type") != rest.TypeEvents || rec.Body.Len() > 0 {
		t.Errorf("HEAD: %d %v", rec.Code, rec.Header())
	}
}

// TestStreamHeartbeat: a comment at every tick, with the id up to which entries
// were filtered out where that moved.
func TestStreamHeartbeat(t *testing.T) {
	t.Parallel()
	w := bigWorld(t, 1)
	ticks := make(chan time.Time)
	stopped := make(chan struct{})
	s := serve(w, Options{})
	s.streams.tick = func(every time.Duration) (<-chan time.Time, func()) {
		if every != 15*time.Second {
			t.Errorf("a tick every %s", every)
		}
		return ticks, func() { close(stopped) }
	}
	c := mustConnect(t, listen(t, s)+"/api/changes/stream/?action=59", "")
	want := func(want event) {
		t.Helper()
		if e, ok := c.next(); !ok || e != want {
			t.Errorf("%+v, want %+v", e, want)
		}
	}
	want(event{id: "3"})
	ticks <- catalogtest.Now()
	want(event{comment: "heartbeat"})
	addBigUnits(w, head2, 7)
	moved := false
	for !moved { // the wake-up and the tick may come in either order
		ticks <- catalogtest.Now()
		e, ok := c.next()
		if moved = e.id == "10"; !ok || e.comment != "heartbeat" || e.id != "" && !moved {
			t.Fatalf("%+v", e)
		}
	}
	c.close()
	<-stopped
}

// streamed reads n entries from a stream, coming back with the last id each time
// that the connection ends; each connection is cut after a random number.
func streamed(t *testing.T, random *rand.Rand, target func() string, n int) []int {
	var seen []int
	last := "0"
	for len(seen) < n {
		c, err := connect(t, target(), last)
		if err != nil {
			if t.Context().Err() != nil || strings.Contains(err.Error(), "GET") {
				t.Error(err)
				return seen
			}
			continue // the server is being replaced
		}
		for range 1 + random.IntN(30) {
			e, ok := c.change()
			if !ok {
				break
			}
			last = e.id
			id, err := strconv.Atoi(e.id)
			if err != nil {
				t.Error(err)
			}
			seen = append(seen, id)
			if len(seen) == n {
				break
			}
		}
		c.close()
	}
	return seen
}

// wantRun compares ids with the expected ones and reports the first difference.
func wantRun(t *testing.T, who string, got, want []int) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("%s: from place %d on %v, want %v", who, i, got[min(i, len(got)):min(i+5, len(got))], want[min(i, len(want)):min(i+5, len(want))])
			return
		}
	}
}

func upTo(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i + 1
	}
	return ids
}

// TestStreamsWhileWriting: while steps are written, streams of every scope that
// are cut and come back, and pollers of filtered lists, see every entry once and
// in order.
func TestStreamsWhileWriting(t *testing.T) {
	t.Parallel()
	const steps, perStep = 40, 9
	w := bigWorld(t, 1)
	s := serve(w, Options{})
	base := listen(t, s)
	all := upTo(3 + steps*perStep) // 51, then 31 of en and cs
	var readers sync.WaitGroup
	for i, tc := range []struct {
		path string
		want []int
	}{
		{"/api/changes/stream/", all},
		{"/api/projects/big/changes/stream/", all},
		{"/api/components/big/big/changes/stream/?action=31", all[1:]},
		{"/api/translations/big/big/cs/changes/stream/?user=jane", all[2:]},
		{"/api/translations/big/big/cs/changes/stream/", all[2:]},
	} {
		for n := range 2 {
			random := rand.New(rand.NewPCG(uint64(i), uint64(n)))
			readers.Go(func() {
				wantRun(t, tc.path, streamed(t, random, func() string { return base + tc.path }, len(tc.want)), tc.want)
			})
		}
	}
	for _, path := range []string{"/api/changes/?action=31&", "/api/projects/big/changes/?user=jane&", "/api/translations/big/big/cs/changes/?action=31&timestamp_after=2026-01-01T00:00:00Z&"} {
		want := all[1:]
		if strings.Contains(path, "translations") {
			want = all[2:]
		}
		readers.Go(func() { wantRun(t, path, poll(t, s, path, len(want)), want) })
	}
	for i := range steps {
		addBigUnits(w, fmt.Sprintf("%040x", i+1), perStep)
	}
	readers.Wait()
}

// TestStreamAcrossRestarts: server and database stop and start again while a
// client reads; no entry is lost and none comes twice.
func TestStreamAcrossRestarts(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	const restarts, perStep = 5, 40
	w := bigWorld(t, 1)
	var mu sync.Mutex
	base := ""
	target := func() string {
		mu.Lock()
		defer mu.Unlock()
		return base + "/api/projects/big/changes/stream/"
	}
	all := upTo(3 + restarts*perStep)
	var seen []int
	var reader sync.WaitGroup
	for i := range restarts {
		s := serve(w, Options{})
		ts := httptest.NewServer(s)
		mu.Lock()
		base = ts.URL
		mu.Unlock()
		if i == 0 {
			reader.Go(func() { seen = streamed(t, rand.New(rand.NewPCG(1, 2)), target, len(all)) })
		}
		addBigUnits(w, fmt.Sprintf("%040x", i+1), perStep)
		if i == restarts-1 {
			reader.Wait()
		}
		s.EndStreams()
		ts.Close() // waits for the streams to end
		w.Close()
		if i < restarts-1 {
			w.Open()
		}
	}
	wantRun(t, "stream", seen, all)
}

// TestStreamSlowClient: a client that does not read is dropped; others are not
// delayed.
func TestStreamSlowClient(t *testing.T) {
	t.Parallel()
	w := bigWorld(t, 1)
	s := serve(w, Options{})
	s.streams.timeout = time.Second
	base := listen(t, s)
	slow, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	must(t, err)
	defer slow.Close()
	_ = slow.(*net.TCPConn).SetReadBuffer(4096)
	if _, err := fmt.Fprint(slow, "GET /api/changes/stream/?after_id=0 HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	brisk := mustConnect(t, base+"/api/changes/stream/?after_id=0", "")
	const entries, size = 40, 256 << 10 // more than the kernel takes for the slow client
	got := make(chan int)
	go func() {
		n := 0
		for n < 3+entries {
			if _, ok := brisk.change(); !ok {
				break
			}
			n++
		}
		got <- n
	}()
	id := w.IDs["big/big"]
	w.Step(id, repoBig, "main", head2, func(ctx context.Context, tx *store.StepTx) error {
		d := store.Delta{ComponentID: id}
		for range entries {
			d.Entries = append(d.Entries, store.Entry{Action: catalog.ActionParseError, Event: map[string]string{"message": strings.Repeat("x", size)}})
		}
		return tx.AddDelta(ctx, d)
	})
	if n := <-got; n != 3+entries {
		t.Errorf("the brisk client got %d entries of %d", n, 3+entries)
	}
	until(t, func() bool {
		return testutil.ToFloat64(s.metrics.dropped) == 1 && testutil.ToFloat64(s.metrics.streams) == 1
	})
}

// until polls for a condition.
func until(t *testing.T, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			t.Fatal("the condition did not come true in 30 seconds")
		case <-tick.C:
		}
	}
}

// TestStreamOutlivesTimeouts: the limits of an http.Server for answers that end
// do not end a stream.
func TestStreamOutlivesTimeouts(t *testing.T) {
	t.Parallel()
	w := bigWorld(t, 1)
	s := serve(w, Options{})
	s.streams.tick = func(time.Duration) (<-chan time.Time, func()) {
		tick := time.NewTicker(40 * time.Millisecond)
		return tick.C, tick.Stop
	}
	ts := httptest.NewUnstartedServer(s)
	ts.Config.ReadTimeout, ts.Config.WriteTimeout = 100*time.Millisecond, 100*time.Millisecond
	ts.Start()
	t.Cleanup(func() { s.EndStreams(); ts.Close() })
	c := mustConnect(t, ts.URL+"/api/changes/stream/", "")
	for i := range 9 { // more than three times the limits
		if e, ok := c.next(); !ok {
			t.Fatalf("the stream ended at block %d: %+v, %v", i, e, c.lines.Err())
		}
	}
	addBigUnits(w, head2, 1)
	if e, ok := c.change(); !ok || e.id != "4" {
		t.Errorf("%+v", e)
	}
}

// TestStreamEnds: EndStreams ends open streams after a whole event and refuses
// new ones; no goroutine is left.
func TestStreamEnds(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	w := newWriter(t)
	defer w.DB.Close()
	importBig(w, 1)
	s := serve(w, Options{})
	ts := httptest.NewServer(s)
	var open []*client
	for range 20 {
		c := mustConnect(t, ts.URL+"/api/components/big/big/changes/stream/?after_id=2", "")
		if e, ok := c.change(); !ok || e.id != "3" {
			t.Fatalf("%+v", e)
		}
		open = append(open, c)
	}
	s.EndStreams()
	s.EndStreams()
	for _, c := range open {
		if e, ok := c.next(); ok || c.lines.Err() != nil {
			t.Errorf("%+v, %v after the end", e, c.lines.Err())
		}
		c.close()
	}
	rec := call(t, s, http.MethodGet, "/api/changes/stream/")
	if rec.Code != 503 || rec.Header().Get("Retry-After") == "" {
		t.Errorf("a stream after the end: %d %s", rec.Code, rec.Body)
	}
	wantStatus(t, s, 200, "/api/changes/")
	ts.Close()
	if n := testutil.ToFloat64(s.metrics.streams); n != 0 {
		t.Errorf("%v streams are open", n)
	}
}

// TestStreamLimit: the number of streams is bounded; one that ends makes room for
// another.
func TestStreamLimit(t *testing.T) {
	t.Parallel()
	w := bigWorld(t, 1)
	s := serve(w, Options{})
	s.shares.streams = limit.NewPool("streams", 2, 2)
	base := listen(t, s)
	one := mustConnect(t, base+"/api/changes/stream/", "")
	mustConnect(t, base+"/api/changes/stream/", "")
	rec := call(t, s, http.MethodGet, "/api/changes/stream/")
	if rec.Code != 503 || rec.Header().Get("Retry-After") == "" {
		t.Errorf("a third stream: %d %s", rec.Code, rec.Body)
	}
	one.close()
	until(t, func() bool {
		c, err := connect(t, base+"/api/changes/stream/", "")
		if err == nil {
			c.close()
		}
		return err == nil
	})
}

// TestStreamHides: a component that becomes private ends its own stream and
// leaves the streams of its project and the server, with the next entry; one
// that was hidden when the stream began comes in with its new entries.
func TestStreamHides(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	projects := []catalog.Project{{Slug: "p", Settings: projectDefaults("P")}}
	specs := func(access catalog.Access) []store.ComponentSpec {
		a := componentDefaults("A")
		a.Access = access
		return []store.ComponentSpec{
			{Project: "p", Slug: "a", Settings: a, Repo: repoApp, Branch: "main"},
			{Project: "p", Slug: "b", Settings: componentDefaults("B"), Repo: repoDocs, Branch: "main"},
		}
	}
	w.Configure(projects, specs(""))
	w.Import("p/a", repoApp, "Ann", sourceFile(numberedUnits(2))) // 1 to 3
	s := serve(w, Options{})
	base := listen(t, s)
	own := mustConnect(t, base+"/api/components/p/a/changes/stream/", "")
	project := mustConnect(t, base+"/api/projects/p/changes/stream/", "")
	server := mustConnect(t, base+"/api/changes/stream/", "")
	w.Configure(projects, specs(catalog.AccessPrivate))
	event := func(at string) {
		w.Step(w.IDs["p/a"], repoApp, "main", at, func(ctx context.Context, tx *store.StepTx) error {
			return tx.AddDelta(ctx, store.Delta{ComponentID: w.IDs["p/a"], Entries: []store.Entry{{Action: catalog.ActionHook}}})
		})
	}
	event(head2)                                                   // 4, hidden
	w.Import("p/b", repoDocs, "Bob", sourceFile(numberedUnits(1))) // 5 and 6
	own.next()
	if e, ok := own.next(); ok {
		t.Errorf("the stream of the hidden component goes on with %+v", e)
	}
	for _, c := range []*client{project, server} {
		for _, want := range []string{"5", "6"} {
			if e, ok := c.change(); !ok || e.id != want || strings.Contains(e.data, "/p/a/") {
				t.Errorf("%+v, want %s", e, want)
			}
		}
	}
	w.Configure(projects, specs(catalog.AccessPublic))
	event(head1)
	for _, c := range []*client{project, server} {
		if e, ok := c.change(); !ok || e.id != "7" {
			t.Errorf("%+v, want 7", e)
		}
	}
}
