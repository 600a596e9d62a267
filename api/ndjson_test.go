package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/api/limit"
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
)

// listTargets are lists to be asked for: every resource of the table that is a
// list, and some with parameters.
func listTargets(t *testing.T, s *Server) []string {
	t.Helper()
	kinds := map[string]bool{}
	for _, rt := range resource.Routes(&s.env) {
		if rt.Kind == resource.KindList {
			kinds[rt.Path] = true
		}
	}
	var targets []string
	for target := range resources {
		c := s.echo.NewContext(nil, nil)
		s.echo.Router().Find(http.MethodGet, target, c)
		if _, without := unread[target]; kinds[c.Path()] && !without {
			targets = append(targets, target)
			delete(kinds, c.Path())
		}
	}
	delete(kinds, "/api/component-lists/:slug/components/") // is never there
	for path := range kinds {
		t.Errorf("no resource of the tests is of the list %s", path)
	}
	return append(targets,
		"/api/search/?q=a", "/api/units/?q=source:Message", "/api/translations/demo/app/cs/units/?q=state:translated",
		"/api/changes/?ordering=-id", "/api/changes/?action=59&action=63", "/api/changes/?after_id=3", "/api/users/?username=k",
		"/api/projects/demo/statistics/history/?interval=month", "/api/projects/demo/changes/?user=karel",
	)
}

// with adds a parameter to a target.
func with(target, parameter string) string {
	if strings.Contains(target, "?") {
		return target + "&" + parameter
	}
	return target + "?" + parameter
}

// entriesPaged are the entries of a list in JSON, page by page.
func entriesPaged(t *testing.T, s http.Handler, target string, header ...string) []string {
	t.Helper()
	var entries []string
	for target != "" {
		_, rec := send(s, http.MethodGet, target, header...)
		if rec.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", target, rec.Code, rec.Body)
		}
		var page struct {
			Next    string
			Results []json.RawMessage
		}
		if rec.Body.Bytes()[0] == '[' {
			page.Results = decode[[]json.RawMessage](t, rec.Body.String())
		} else {
			must(t, json.Unmarshal(rec.Body.Bytes(), &page))
		}
		for _, r := range page.Results {
			entries = append(entries, string(r))
		}
		target = strings.TrimPrefix(page.Next, "http://l10n.example.org")
	}
	return entries
}

func linesIn(body string) []string {
	if body == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(body, "\n"), "\n")
}

// TestLines: the lines of a list are the entries of all its pages, and HEAD gets
// the same headers.
func TestLines(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := serve(w, Options{CacheBytes: 1 << 20})
	some := 0
	for _, target := range listTargets(t, s) {
		want := entriesPaged(t, s, with(target, "page_size=3"))
		some += min(len(want), 1)
		for _, ask := range [][]string{
			{target, "Accept", rest.TypeLines},
			{with(target, "format=ndjson"), "Accept", "application/json"},
			{with(target, "format=api"), "Accept", "application/json;q=0.5, application/x-ndjson"},
			{with(target, "page=7&page_size=1"), "Accept", rest.TypeLines},
		} {
			_, rec := send(s, http.MethodGet, ask[0], ask[1:]...)
			h := rec.Header()
			if rec.Code != 200 || h.Get("Content-Type") != rest.TypeLines || h.Get("Cache-Control") != "no-store" || h.Get("ETag") != "" || h.Get("Content-Length") != "" {
				t.Errorf("%v: %d %v %.200s", ask, rec.Code, h, rec.Body)
			}
			if diff := cmp.Diff(want, linesIn(rec.Body.String())); diff != "" {
				t.Errorf("%v (-pages +lines):\n%.2000s", ask, diff)
			}
			_, head := send(s, http.MethodHead, ask[0], ask[1:]...)
			if head.Code != 200 || head.Body.Len() != 0 || cmp.Diff(h, head.Header()) != "" {
				t.Errorf("HEAD %v: %d, %s", ask, head.Code, cmp.Diff(h, head.Header()))
			}
		}
	}
	if some < 25 {
		t.Errorf("only %d lists have entries", some)
	}
}

// TestLinesRefused: errors are answered as for a page; a resource that is not a
// list has no lines.
func TestLinesRefused(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for target, status := range map[string]int{
		"/api/translations/demo/hidden/en/units/": 404, "/api/components/secret/lib/translations/": 404, "/api/units/?q=(": 400,
		"/api/changes/?action=x": 400, "/api/projects/demo/": 406, "/api/component-lists/any/components/": 404,
		"/api/changes/?format=xml": 404, "/api/projects/demo/?format=ndjson": 404,
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			_, rec := send(s, method, target, "Accept", rest.TypeLines)
			if rec.Code != status || rec.Header().Get("Content-Type") != rest.TypeJSON {
				t.Errorf("%s %s: %d %v", method, target, rec.Code, rec.Header())
			}
		}
	}
	for accept, want := range map[string]string{
		"application/x-ndjson;q=0":                        rest.TypeJSON,
		"application/json, application/x-ndjson;q=0.9":    rest.TypeJSON,
		"*/*, application/x-ndjson":                       rest.TypeLines,
		"text/html, application/x-ndjson;q=0.1":           rest.TypeHTML,
		"application/x-ndjson;q=0.5, text/plain;q=0.1":    rest.TypeLines,
		"application/x-ndjson;charset=utf-8, */*;q=0.001": rest.TypeLines,
	} {
		_, rec := send(s, http.MethodGet, "/api/projects/", "Accept", accept+", application/json;q=0.001")
		if got := rec.Header().Get("Content-Type"); rec.Code != 200 || got != want {
			t.Errorf("%s: %d %s", accept, rec.Code, got)
		}
	}
	s.shares.spooled, s.spoolMemory = limit.NewPool("spooled", 1, 1), 0
	if _, rec := send(s, http.MethodGet, "/api/projects/", "Accept", rest.TypeLines); rec.Code != 429 || rec.Header().Get("Retry-After") == "" {
		t.Errorf("without a place: %d %v", rec.Code, rec.Header())
	}
	if got := get(t, s, "/api/projects/"); !strings.Contains(got, `"count":`) {
		t.Errorf("a page without a place: %s", got)
	}
}

// TestLinesAccess: lines hide what pages hide, and show it to a token.
func TestLinesAccess(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	s := serve(w, Options{})
	token := w.Token("lines", catalog.ScopeRead)
	for _, target := range listTargets(t, s) {
		want := entriesPaged(t, s, target, "Authorization", "Token "+token)
		_, rec := send(s, http.MethodGet, target, "Accept", rest.TypeLines, "Authorization", "Token "+token)
		if diff := cmp.Diff(want, linesIn(rec.Body.String())); diff != "" {
			t.Errorf("%s (-pages +lines):\n%.2000s", target, diff)
		}
		_, rec = send(s, http.MethodGet, target, "Accept", rest.TypeLines)
		for _, text := range never {
			if strings.Contains(rec.Body.String(), text) {
				t.Errorf("%s shows what is private: %s", target, text)
			}
		}
	}
}

// TestLinesWhileWriting: a step that is stored while a list is sent succeeds and
// does not show in it; both encodings.
func TestLinesWhileWriting(t *testing.T) {
	t.Parallel()
	w := bigWorld(t, 2500)
	s := serve(w, Options{})
	for n, encoding := range []string{"gzip", "zstd", "identity"} {
		want := entriesPaged(t, s, "/api/changes/?page_size=1000")
		out := &pausing{ResponseRecorder: httptest.NewRecorder()}
		out.after = func() { addBigUnits(w, fmt.Sprintf("%040x", n+1), 7) } // once the first page is sent
		s.ServeHTTP(out, request(http.MethodGet, "/api/changes/", "Accept", rest.TypeLines, "Accept-Encoding", encoding))
		if out.after != nil {
			t.Fatal("nothing was written meanwhile")
		}
		body := decoded(t, out.Header().Get("Content-Encoding"), out.Body.Bytes())
		if diff := cmp.Diff(want, linesIn(string(body))); diff != "" {
			t.Errorf("%s (-before +lines):\n%.2000s", encoding, diff)
		}
		if now := sendList(t, s, "/api/changes/").Count; now <= int64(len(want)) {
			t.Errorf("%d entries where there were %d: the step was lost", now, len(want))
		}
	}
}

// pausing calls after when the first bytes are sent.
type pausing struct {
	*httptest.ResponseRecorder
	after func()
}

func (p *pausing) Write(b []byte) (int, error) {
	n, err := p.ResponseRecorder.Write(b)
	if after := p.after; after != nil && n > 0 {
		p.after = nil
		after()
	}
	return n, err
}

// brokenOff asks for all units as lines, and returns what the server panics with.
func brokenOff(s *Server, out http.ResponseWriter, header ...string) (p any) {
	defer func() { p = recover() }()
	s.ServeHTTP(out, request(http.MethodGet, "/api/units/", append(header, "Accept", rest.TypeLines)...))
	return nil
}

// TestLinesGone: no snapshot stays open for a client that goes away or does not
// read, and no list is sent on while the server ends.
func TestLinesGone(t *testing.T) {
	t.Parallel()
	w := bigWorld(t, 20_000)
	s := serve(w, Options{})
	s.streams.timeout = 50 * time.Millisecond
	srv := httptest.NewServer(s)
	defer srv.Close()
	ask := func(ctx context.Context) io.ReadCloser {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/api/units/", nil)
		must(t, err)
		req.Header.Set("Accept", rest.TypeLines)
		req.Header.Set("Accept-Encoding", "identity")
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		res, err := client.Do(req)
		must(t, err)
		return res.Body
	}
	free := func(what string) {
		until(t, func() bool { return s.shares.downloads.Used()+s.shares.makers.Used() == 0 })
		t.Logf("%s holds no snapshot", what)
	}
	ctx, cancel := context.WithCancel(t.Context())
	body := ask(ctx)
	if _, err := bufio.NewReader(body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	free("a client that went away")
	body = ask(t.Context())
	free("a client that does not read")
	if data, err := io.ReadAll(body); err == nil {
		t.Errorf("a list that was cut off looks whole to its client: %d bytes", len(data))
	}
	body = ask(t.Context())
	first := make([]byte, 1)
	if _, err := io.ReadFull(body, first); err != nil {
		t.Fatal(err)
	}
	s.EndStreams()
	if _, err := io.Copy(io.Discard, body); err == nil {
		t.Error("a list goes on while the server ends")
	}
	free("a server that ends")
}

// TestLinesRevoked: a token that is revoked ends the lists that are being sent to
// it.
func TestLinesRevoked(t *testing.T) {
	t.Parallel()
	w := bigWorld(t, 2500)
	s := serve(w, Options{})
	key := w.Token("t", catalog.ScopeRead)
	out := &pausing{ResponseRecorder: httptest.NewRecorder()}
	out.after = func() {
		if err := w.DB.Access().RevokeToken(t.Context(), "t", time.Now()); err != nil {
			t.Error(err)
		}
	}
	broken := brokenOff(s, out, "Authorization", "Token "+key)
	if n := bytes.Count(out.Body.Bytes(), []byte("\n")); broken != http.ErrAbortHandler || n == 0 || n >= 5000 {
		t.Errorf("ended with %v after %d lines", broken, n)
	}
}

// TestLinesMemory: a list ten times as long takes no more memory. Who makes it pauses
// while that is measured, or what it makes meanwhile would count as alive.
func TestLinesMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 40,000 strings and looks at memory alone: not with -short")
	}
	w := bigWorld(t, 40_000)
	s := bare(w, Options{})
	for _, target := range []string{"/api/translations/big/big/cs/units/", "/api/units/", "/api/changes/", "/api/units/?q=state:translated"} {
		lines, peak := 0, uint64(0)
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		before := m.HeapAlloc
		cores := s.shares.cores.Lease("measure")
		out := &counting{header: http.Header{}, each: func(b []byte) {
			lines += bytes.Count(b, []byte("\n"))
			if lines%10_000 < 100 {
				must(t, cores.Wait(t.Context(), s.shares.cores.Total))
				runtime.GC()
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc-min(before, m.HeapAlloc))
				cores.Release()
			}
		}}
		s.ServeHTTP(out, request(http.MethodGet, target, "Accept", rest.TypeLines))
		if lines < 40_000 || lines != int(sendList(t, s, target).Count) {
			t.Errorf("%s: %d lines", target, lines)
		}
		if t.Logf("%s: %d lines, %d kB", target, lines, peak>>10); peak > 8<<20 {
			t.Errorf("%s: %d MB are alive while it is sent", target, peak>>20)
		}
	}
}

// counting looks at what is written and forgets it.
type counting struct {
	header http.Header
	each   func([]byte)
}

func (c *counting) Header() http.Header { return c.header }
func (c *counting) WriteHeader(int)     {}
func (c *counting) Flush()              {}
func (c *counting) Write(b []byte) (int, error) {
	c.each(b)
	return len(b), nil
}

// TestCSVOfEveryList: each list has a table with a row per entry, of the page
// that is asked for.
func TestCSVOfEveryList(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for _, target := range listTargets(t, s) {
		all := entriesPaged(t, s, with(target, "page_size=1000"))
		size, bare := 2, get(t, s, target)[0] == '['
		if bare {
			size = max(len(all), 1) // it has one page
		}
		for page := 1; page == 1 || (page-1)*size < len(all); page++ {
			_, rec := send(s, http.MethodGet, with(target, url.Values{"format": {"csv"}, "page": {fmt.Sprint(page)}, "page_size": {fmt.Sprint(size)}}.Encode()))
			table, err := renderCSVOf(all[min((page-1)*size, len(all)):min(page*size, len(all))])
			must(t, err)
			if rec.Code != 200 || rec.Header().Get("Content-Type") != rest.TypeCSV || rec.Body.String() != table {
				t.Errorf("%s page %d: %d %v\n%.300s\nwant\n%.300s", target, page, rec.Code, rec.Header(), rec.Body, table)
			}
		}
		if bare {
			continue
		}
		if _, rec := send(s, http.MethodGet, with(target, "format=csv&page_size=2&page="+fmt.Sprint(len(all)/2+2))); rec.Code != 404 {
			t.Errorf("%s after the last page: %d", target, rec.Code)
		}
		if page := getList(t, s, with(target, "page_size=2&page=last")); len(all) > 0 && len(page.Results) != (len(all)+1)%2+1 {
			t.Errorf("%s: the last page has %d of %d", target, len(page.Results), len(all))
		}
	}
}

// renderCSVOf is the table of entries in JSON.
func renderCSVOf(entries []string) (string, error) {
	raw := make([]json.RawMessage, len(entries))
	for i, e := range entries {
		raw[i] = json.RawMessage(e)
	}
	table, err := renderCSV(raw)
	return string(table), err
}
