package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The bounds of a page as it is sent, and before gzip.
const (
	maxSent = 200_000
	maxPage = 2_000_000
)

// TestCrawl follows the links of the demo's pages, up to some of each shape: every one
// answers, and no page is too large. REPOGLOT_CRAWL names another server, of which it
// follows more and says which pages took longest.
func TestCrawl(t *testing.T) {
	t.Parallel()
	c := crawl{origin: os.Getenv("REPOGLOT_CRAWL"), ofShape: 3, most: 3000, seen: map[string]bool{"/": true}, shapes: map[string]int{}, from: map[string]string{}}
	if c.origin == "" {
		c.origin, c.ofShape, c.most = serveDemo(t), 1, 600
	}
	queue := []string{"/"}
	for len(queue) > 0 && c.pages < c.most {
		target := queue[0]
		queue = append(queue[1:], c.visit(t, target)...)
	}
	if c.pages < 150 {
		t.Errorf("only %d pages", c.pages)
	}
	if os.Getenv("REPOGLOT_CRAWL") != "" || testing.Verbose() {
		slices.SortFunc(c.slowest, func(a, b timed) int { return int(b.took - a.took) })
		t.Logf("%d pages of %d shapes", c.pages, len(c.shapes))
		for _, s := range c.slowest[:min(len(c.slowest), 15)] {
			t.Logf("%v %s", s.took, s.target)
		}
	}
}

// timed is a page with the time of its first answer.
type timed struct {
	target string
	took   time.Duration
}

type crawl struct {
	origin  string
	ofShape int // how many addresses of each shape
	most    int // pages
	seen    map[string]bool
	shapes  map[string]int
	from    map[string]string
	pages   int
	slowest []timed
}

var hrefs = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)

// visit gets a page and returns its links that were not seen.
func (c *crawl) visit(t *testing.T, target string) (next []string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.origin+target, http.NoBody)
	must(t, err)
	req.Header.Set("Accept", "text/html,*/*;q=0.8")
	begun := time.Now()
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxPage+1))
	must(t, err)
	if resp.StatusCode != http.StatusOK {
		t.Errorf("%s, a link of %s: %d %.200s", target, c.from[target], resp.StatusCode, body)
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		return nil
	}
	c.pages++
	c.slowest = append(c.slowest, timed{target, time.Since(begun)})
	var sent bytes.Buffer
	z := gzip.NewWriter(&sent)
	_, _ = z.Write(body)
	must(t, z.Close())
	if browsable := strings.HasPrefix(target, "/api/"); !browsable && (len(body) > maxPage || sent.Len() > maxSent) {
		t.Errorf("%s has %d bytes, %d with gzip", target, len(body), sent.Len())
	}
	here, err := url.Parse(target)
	must(t, err)
	for _, link := range hrefs.FindAllSubmatch(body, -1) {
		to := strings.TrimPrefix(html.UnescapeString(string(link[1])), c.origin)
		u, err := url.Parse(to)
		if err != nil {
			t.Errorf("%s has the link %q: %v", target, to, err)
			continue
		}
		u = here.ResolveReference(u)
		if to = u.RequestURI(); u.Host != "" || u.Scheme != "" || u.Path == "" || c.seen[to] || u.Path == "/logout/" || strings.HasPrefix(u.Path, "/git/") || strings.HasSuffix(u.Path, "/stream/") {
			continue
		}
		if shape := shapeOf(u); c.shapes[shape] < c.ofShape {
			c.shapes[shape]++
			c.seen[to], c.from[to] = true, target
			next = append(next, to)
		}
	}
	return next
}

// shapeOf is what an address has in common with others of its kind.
func shapeOf(u *url.URL) string {
	segments := strings.Split(strings.Trim(u.Path, "/"), "/")
	head := segments[0]
	if len(segments) > 1 && head == "api" {
		head += "/" + segments[1] + "…" + segments[len(segments)-1][:min(3, len(segments[len(segments)-1]))]
	}
	query := u.Query()
	if len(query) > 2 { // choices of choices
		return fmt.Sprint(head, len(segments), len(query))
	}
	keys := slices.Sorted(maps.Keys(query))
	if len(keys) == 1 && slices.Contains([]string{"sort", "only", "kind", "since", "order", "ui"}, keys[0]) {
		keys[0] += "=" + query.Get(keys[0])
	}
	return fmt.Sprint(head, len(segments), keys)
}
