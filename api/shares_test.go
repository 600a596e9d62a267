package api

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/repoglot/repoglot/api/limit"
)

// useUp lets other clients hold all of a pool until free is called.
func useUp(t *testing.T, p *limit.Pool) (free func()) {
	t.Helper()
	var held []*limit.Lease
	for i := range 1 << 16 {
		l := p.Lease(fmt.Sprint("client ", i))
		n := 0
		for l.Take(1) == nil {
			n++
		}
		if held = append(held, l); n == 0 {
			break
		}
	}
	return func() {
		for _, l := range held {
			l.Release()
		}
	}
}

// TestSlowClients: a client that asks for large answers and reads none of them holds
// its share of memory and no more; others get theirs.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	s := bare(bigWorld(t, 3_000), Options{}) // answers are broken off on purpose
	s.shares.inFlight = limit.NewPool("answers", 8<<20, 2<<20)
	server := httptest.NewUnstartedServer(s)
	server.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			_ = c.(*net.TCPConn).SetWriteBuffer(4 << 10)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	hostile := func(i int) net.Conn {
		c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
		must(t, err)
		t.Cleanup(func() { _ = c.Close() })
		_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		_, err = fmt.Fprintf(c, "GET /api/units/?page_size=10000&x=%d HTTP/1.1\r\nHost: l10n.example.org\r\nAccept-Encoding: identity\r\n\r\n", i)
		must(t, err)
		return c
	}
	const tried = 8
	status := make(chan string, tried)
	for i := range tried {
		c := hostile(i)
		go func() {
			line := make([]byte, 12)
			_, err := io.ReadFull(c, line)
			if err != nil {
				line = []byte(err.Error())
			}
			status <- string(line)
		}()
	}
	answered, refused := 0, 0
	for range tried {
		switch got := <-status; got {
		case "HTTP/1.1 200":
			answered++
		case "HTTP/1.1 429":
			refused++
		default:
			t.Errorf("a hostile client got %q", got)
		}
	}
	if answered == 0 || refused == 0 || s.shares.inFlight.Used() > 2<<20 {
		t.Errorf("%d answers, %d refused; %d bytes are held", answered, refused, s.shares.inFlight.Used())
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/api/units/?page_size=10000", http.NoBody)
	must(t, err)
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	if err != nil || res.StatusCode != 200 || n < largeBody {
		t.Errorf("an honest client: %d, %d bytes, %v", res.StatusCode, n, err)
	}
}

// TestSearchesOfClients: while one client's searches wait for their turn, small
// answers, searches of others and the look-up of tokens go on.
func TestSearchesOfClients(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := serve(w, Options{})
	hostile := s.shares.searches.Lease("192.0.2.66")
	must(t, hostile.Take(s.shares.searches.Share))
	from := func(ctx context.Context, address, target string) int {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
		r.RemoteAddr = address + ":1"
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		return rec.Code
	}
	ctx, leave := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for i := range 4 {
		waiting.Go(func() { from(ctx, "192.0.2.66", fmt.Sprintf("/api/units/?q=source:r%%22a%d%%22", i)) })
	}
	for _, target := range []string{"/api/units/?q=state:empty", "/api/units/?page_size=1", "/api/projects/"} {
		if code := from(t.Context(), "192.0.2.1", target); code != 200 {
			t.Errorf("%s: %d", target, code)
		}
	}
	leave()
	waiting.Wait()
	other := s.shares.searches.Lease("other")
	must(t, other.Take(s.shares.searches.Share))
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if code := from(done, "192.0.2.1", "/api/units/?q=state:fuzzy"); code != 503 {
		t.Errorf("a client that left: %d", code)
	}
	hostile.Release()
	other.Release()
	if s.shares.searches.Used() != 0 {
		t.Errorf("%d searches are left", s.shares.searches.Used())
	}
	if !strings.Contains(get(t, s, "/api/units/?q=state:empty"), `"count":`) {
		t.Error("no search afterwards")
	}
}

// TestSearchPrice: a search that costs too much is refused before it runs and told
// why; one that costs much waits for the turn of those, while cheap ones of other
// clients, and of the same one, go on. So do searches as lines and as downloads.
func TestSearchPrice(t *testing.T) {
	t.Parallel()
	w := bigWorld(t, 20_000)
	s := serve(w, Options{})
	from := func(ctx context.Context, address, target string, header ...string) *httptest.ResponseRecorder {
		r := request(http.MethodGet, target, header...).WithContext(ctx)
		r.RemoteAddr = address + ":1"
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		return rec
	}
	units := func(q string) string { return "/api/units/?page_size=1&q=" + url.QueryEscape(q) }
	const hostile, honest = "192.0.2.66", "192.0.2.1"
	dear := strings.Repeat(`r"q.b.c" OR `, 19) + `r"q.b.c"`
	tooDear := strings.Repeat(`r"q.b.c" OR `, 98) + `r"q.b.c"`
	if rec := from(t.Context(), hostile, units(tooDear)); rec.Code != 400 || !strings.Contains(rec.Body.String(), "too large, by about 2 times: name a project") {
		t.Errorf("a search that is too large: %d %s", rec.Code, rec.Body)
	}
	if rec := from(t.Context(), hostile, units("("+tooDear+") language:xx")); rec.Code != 200 {
		t.Errorf("the same search where it finds nothing: %d %s", rec.Code, rec.Body)
	}
	running := s.shares.longSearches.Lease("192.0.2.77")
	must(t, running.Take(s.shares.longSearches.Total))
	for _, request := range [][]string{
		{units(dear)}, {units("x") + "&format=ndjson"}, {"/api/translations/big/big/cs/units/?q=x", "Accept", "application/x-ndjson"}, {"/api/translations/big/big/cs/file/?format=csv&q=x"},
	} {
		ctx, leave := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		waiting.Go(func() { from(ctx, hostile, request[0], request[1:]...) })
		for s.shares.longSearches.Waiting() == 0 && !t.Failed() {
			time.Sleep(time.Millisecond)
		}
		for _, address := range []string{hostile, honest} {
			if rec := from(t.Context(), address, units("q"+request[0][:8]+address)); rec.Code != 200 {
				t.Errorf("a cheap search beside %s: %d %s", request[0], rec.Code, rec.Body)
			}
		}
		leave()
		waiting.Wait()
	}
	running.Release()
	if rec := from(t.Context(), hostile, units(dear)); rec.Code != 200 {
		t.Errorf("a search that waited for its turn: %d %s", rec.Code, rec.Body)
	}
	if s.shares.searches.Used()+s.shares.longSearches.Used() != 0 {
		t.Error("turns are left")
	}
}

// TestLongAnswersInTurn: while a client's long page or download is being made, its next
// one waits, and others get theirs; small pages wait for none. A client that has not read
// its share of large answers gets no long page, which is not even made.
func TestLongAnswersInTurn(t *testing.T) {
	t.Parallel()
	w := bigWorld(t, 3_000)
	s := serve(w, Options{})
	const hostile, honest = "192.0.2.66", "192.0.2.1"
	from := func(ctx context.Context, address, target string) int {
		r := request(http.MethodGet, target).WithContext(ctx)
		r.RemoteAddr = address + ":1"
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		return rec.Code
	}
	const page, download = "/api/units/?page_size=2000&x=", "/api/translations/big/big/cs/file/?format=csv&x="
	pool := s.shares.makers
	for _, target := range []string{page, download} {
		held := pool.Lease(hostile)
		must(t, held.Take(pool.Share))
		ctx, leave := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		waiting.Go(func() { from(ctx, hostile, target+"1") })
		for pool.Waiting() == 0 && !t.Failed() {
			time.Sleep(time.Millisecond)
		}
		if code := from(t.Context(), honest, target+"2"); code != 200 {
			t.Errorf("%s of another client: %d", target, code)
		}
		if code := from(t.Context(), hostile, "/api/units/?page_size=10"); code != 200 {
			t.Errorf("a small page: %d", code)
		}
		leave()
		waiting.Wait()
		held.Release()
	}
	core := s.shares.cores.Lease("other")
	must(t, core.Take(s.shares.cores.Total))
	for _, target := range []string{page + "4", download + "4"} {
		made := make(chan int)
		go func() { made <- from(t.Context(), honest, target) }()
		for s.shares.cores.Waiting() == 0 {
			time.Sleep(time.Millisecond)
		}
		if code := from(t.Context(), honest, "/api/units/?page_size=11"); code != 200 {
			t.Errorf("a small page while no core is left to long answers: %d", code)
		}
		must(t, core.Yield(t.Context()))
		if code := <-made; code != 200 {
			t.Errorf("%s when the core was free: %d", target, code)
		}
	}
	core.Release()
	unread := s.shares.inFlight.Lease(hostile)
	must(t, unread.Take(s.shares.inFlight.Share))
	statements := statementCounter(t, w)
	before := testutil.ToFloat64(statements)
	if code := from(t.Context(), hostile, page+"3"); code != 429 || testutil.ToFloat64(statements) != before {
		t.Errorf("a client that reads nothing: %d after %v statements", code, testutil.ToFloat64(statements)-before)
	}
	unread.Release()
	if code := from(t.Context(), hostile, page+"3"); code != 200 {
		t.Errorf("after it has read: %d", code)
	}
	for _, p := range s.Pools() {
		if n := p.Used(); n != 0 {
			t.Errorf("%d of %s are left", n, p.Name)
		}
	}
}

// TestAnswersToQuestions: a large answer to a POST that asks is counted while it is sent.
func TestAnswersToQuestions(t *testing.T) {
	t.Parallel()
	s := bare(newWriter(t), Options{})
	s.shares.inFlight = limit.NewPool("answers", 8, 8)
	ask := func() int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/memory/lookup/?source_language=en&target_language=cs",
			strings.NewReader(`{"strings":["`+strings.Repeat(strings.Repeat("x", 1900)+`","`, 99)+`x"]}`))
		r.Header.Set("Content-Type", "application/json")
		rec := httptest.NewRecorder()
		s.ServeHTTP(rec, r)
		return rec.Code
	}
	free := useUp(t, s.shares.inFlight)
	if code := ask(); code != http.StatusServiceUnavailable {
		t.Errorf("while too much is being sent: %d", code)
	}
	free()
	if code := ask(); code != http.StatusOK || s.shares.inFlight.Used() != 0 {
		t.Errorf("afterwards: %d, and %d bytes are held", code, s.shares.inFlight.Used())
	}
}
