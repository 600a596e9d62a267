package web_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/websocket"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// browserTab is a tab of a Chromium without a window.
type browserTab struct {
	t      *testing.T
	ws     *websocket.Conn
	last   int
	errors []string        // of the console
	hosts  map[string]bool // of requests
}

var devTools = regexp.MustCompile(`DevTools listening on ws://([^/]+)/`)

// openBrowser starts Chromium. Without it the test is skipped; in CI that is a failure.
func openBrowser(t *testing.T) *browserTab {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("chromium is not installed: run .ci/tools")
		}
		t.Skip("chromium is not installed: .ci/tools installs it")
	}
	cmd := exec.CommandContext(t.Context(), program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-port=0", "--remote-allow-origins=*",
		"--user-data-dir="+t.TempDir(), "about:blank")
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	host := make(chan string, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(host)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if m := devTools.FindStringSubmatch(lines.Text()); m != nil {
				host <- m[1]
				_, _ = io.Copy(io.Discard, out)
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended        // its children, which write into its directory, are gone, too
		_ = cmd.Wait() // killed
	})
	at, ok := <-host
	if !ok {
		t.Fatal("chromium did not start")
	}
	return attach(t, at)
}

// attach connects to the first tab.
func attach(t *testing.T, host string) *browserTab {
	t.Helper()
	answer, err := http.Get("http://" + host + "/json/list")
	must(t, err)
	defer answer.Body.Close()
	var tabs []struct {
		Type string `json:"type"`
		URL  string `json:"webSocketDebuggerUrl"`
	}
	must(t, json.NewDecoder(answer.Body).Decode(&tabs))
	for _, tab := range tabs {
		if tab.Type == "page" {
			ws, err := websocket.Dial(tab.URL, "", "http://"+host)
			must(t, err)
			ws.MaxPayloadBytes = 64 << 20
			b := &browserTab{t: t, ws: ws, hosts: map[string]bool{}}
			for _, domain := range []string{"Page", "Log", "Runtime", "Network"} {
				b.call(domain+".enable", nil)
			}
			return b
		}
	}
	t.Fatal("chromium has no tab")
	return nil
}

// message is what the browser sends: an answer, or an event.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
}

// receive reads a message and notes errors of the console.
func (b *browserTab) receive() message {
	b.t.Helper()
	must(b.t, b.ws.SetDeadline(time.Now().Add(30*time.Second)))
	var m message
	must(b.t, websocket.JSON.Receive(b.ws, &m))
	remark := strings.Contains(string(m.Params), `"level":"info"`) // such as that a field had the focus before autofocus
	if m.Method == "Log.entryAdded" && !remark || m.Method == "Runtime.exceptionThrown" {
		b.errors = append(b.errors, string(m.Params))
	}
	if m.Method == "Network.requestWillBeSent" {
		var sent struct{ Request struct{ URL string } }
		must(b.t, json.Unmarshal(m.Params, &sent))
		if u, err := url.Parse(sent.Request.URL); err == nil && u.Scheme != "data" {
			b.hosts[u.Host] = true
		}
	}
	return m
}

// call calls a method and returns its result.
func (b *browserTab) call(method string, params any) json.RawMessage {
	b.t.Helper()
	b.last++
	must(b.t, websocket.JSON.Send(b.ws, map[string]any{"id": b.last, "method": method, "params": params}))
	for {
		if m := b.receive(); m.ID == b.last {
			return m.Result
		}
	}
}

// load shows a page in a window of a width, in the dark or not.
func (b *browserTab) load(url string, width int, dark bool) {
	b.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]string{"name": "prefers-color-scheme", "value": scheme}}})
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
	b.call("Page.navigate", map[string]string{"url": url})
	for b.receive().Method != "Page.loadEventFired" {
	}
}

// ask evaluates an expression that gives a text.
func (b *browserTab) ask(expression string) string {
	b.t.Helper()
	var r struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
	}
	must(b.t, json.Unmarshal(b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}), &r))
	return fmt.Sprint(r.Result.Value)
}

// broken lists what is wrong with the structure of a page, one fault per line: headings
// that leave out a level, header cells without a scope, controls and pictures without a
// name, ids that repeat.
const broken = `(() => {
	const out = [];
	const levels = [...document.querySelectorAll("h1,h2,h3,h4,h5,h6")].map(h => +h.tagName[1]);
	levels.reduce((a, b) => { if (b > a + 1) out.push("h" + b + " after h" + a); return b; }, 0);
	if (levels.filter(l => l === 1).length !== 1) out.push(levels.filter(l => l === 1).length + " h1");
	for (const th of document.querySelectorAll("main table:not(.manual table) th")) if (!th.scope && !th.closest(".manual")) out.push("th without scope: " + th.textContent);
	for (const c of document.querySelectorAll("input:not([type=hidden],[hidden]),select")) if (!c.labels.length && !c.getAttribute("aria-label")) out.push("control without label: " + c.outerHTML);
	for (const c of document.querySelectorAll("a,button,summary")) if (!(c.textContent.trim() || c.getAttribute("aria-label"))) out.push("no name: " + c.outerHTML);
	for (const c of document.querySelectorAll("img")) if (!c.alt) out.push("no alt: " + c.outerHTML);
	const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
	ids.filter((id, i) => ids.indexOf(id) !== i).forEach(id => out.push("two of id " + id));
	for (const tag of ["header", "main", "footer"]) if (document.querySelectorAll("body > " + tag).length !== 1) out.push("no " + tag);
	return out.slice(0, 10).join("\n");
})()`

// axe lists the violations of the rules of axe-core, one per line.
const axe = `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + " " + n.failureSummary.slice(0, 300)).join(" | ")).join("\n"))`

// readAxe reads axe-core (testdata/axe.txt).
func readAxe(t *testing.T) string {
	t.Helper()
	f, err := os.Open("testdata/axe.min.js.gz")
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	source, err := io.ReadAll(z)
	must(t, err)
	return string(source)
}

// The parts of a test that everything on a page can be reached with the key Tab, and that
// what has the focus is seen.
const (
	watchFocus = `(() => {
	window.reached = new Set(); window.unseen = new Set();
	document.addEventListener("focusin", e => { reached.add(e.target); if (getComputedStyle(e.target).outlineStyle === "none") unseen.add(e.target); });
	window.wanted = [...document.querySelectorAll('a[href],button,input:not([type=hidden]),select,summary,[tabindex="0"]')].filter(e => e.checkVisibility());
	return wanted.length + 8 * document.querySelectorAll("input[type=date]").length; // which have several stops
})()`
	notReached = `[...wanted.filter(e => !reached.has(e)).map(e => "not reached: " + e.outerHTML), ...[...unseen].map(e => "no outline: " + e.outerHTML)].map(s => s.slice(0, 200)).slice(0, 5).join("\n")`
)

// tab presses the key Tab.
func (b *browserTab) tab() {
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9})
	}
}

// keyboard walks over a page with the key Tab.
func (b *browserTab) keyboard(target string) {
	b.t.Helper()
	n, err := strconv.Atoi(b.ask(watchFocus))
	must(b.t, err)
	for range n + 5 {
		b.tab()
	}
	if got := b.ask(notReached); got != "" {
		b.t.Errorf("%s by keyboard: %s", target, got)
	}
}

// TestBrowser opens each page in Chromium: at 1280 and 390 px, light and dark, English
// and Arabic. There is no error in the console, no request to another host, nothing to
// scroll sideways, no violation of the rules of axe-core, and everything is reached by
// keyboard. At night it opens each page in all eight ways, otherwise each in one, and
// applies the rules to every second one; with -short each fourth page. It keeps a
// picture of each in the folder REPOGLOT_SHOTS, if there is one.
func TestBrowser(t *testing.T) {
	b := openBrowser(t)
	site := httptest.NewServer(bare(demo(t), api.Options{CacheBytes: 8 << 20}))
	defer site.Close()
	rules := readAxe(t)
	targets := append(catalogtest.DemoPages(), unknownTarget)
	_, rec := send(site.Config.Handler, http.MethodGet, "/translate/demo/app/cs/")
	targets = append(targets, strings.ReplaceAll(checksumLink.FindString(rec.Body.String()), "&amp;", "&"))
	for i, target := range targets {
		if testing.Short() && i%4 > 0 {
			continue
		}
		for way := range 8 {
			width, language, dark, apply := []int{1280, 390}[way&1], []string{"en", "ar"}[way>>1&1], way>>2 == 1, rules
			if !testsize.Nightly() {
				if way != i%4*2+min(i%3, 1) { // the keyboard's page is wide
					continue
				}
				if i/4%2 == 1 { // the rules take most of the time
					apply = ""
				}
			}
			b.inspect(site.URL, target, language, apply, width, dark)
			if way&1 == 0 && i%3 == 0 {
				b.keyboard(target)
			}
		}
	}
	for host := range b.hosts {
		if "http://"+host != site.URL {
			t.Errorf("a request to %s", host)
		}
	}
}

// unknownTarget is an address that does not exist.
const unknownTarget = "/nothing/"

// inspect opens a page in one way.
func (b *browserTab) inspect(origin, target, language, rules string, width int, dark bool) {
	b.t.Helper()
	with := "?ui="
	if strings.Contains(target, "?") {
		with = "&ui="
	}
	b.errors = nil
	b.load(origin+target+with+language, width, dark)
	where := fmt.Sprintf("%s in %s at %d px, dark %v", target, language, width, dark)
	if got := b.ask(`document.documentElement.lang`); got != language {
		b.t.Errorf("%s: language %q", where, got)
	}
	if got := b.ask(`document.documentElement.scrollWidth <= window.innerWidth ? "" : [...document.querySelectorAll("body *")].filter(e => { const r = e.getBoundingClientRect(); return (r.right > window.innerWidth + 1 || r.left < -1) && !e.closest(".scroll,pre,.vh,.skip"); }).slice(0, 3).map(e => e.outerHTML.slice(0, 200)).join("\n")`); got != "" {
		b.t.Errorf("%s is wider: %s", where, got)
	}
	if got := b.ask(broken); got != "" {
		b.t.Errorf("%s: %s", where, got)
	}
	if folder := os.Getenv("REPOGLOT_SHOTS"); folder != "" {
		height, err := strconv.Atoi(b.ask("document.documentElement.scrollHeight"))
		must(b.t, err)
		must(b.t, os.MkdirAll(folder, 0o755))
		must(b.t, os.WriteFile(filepath.Join(folder, url.QueryEscape(where)+".png"), b.picture(width, min(height, 4000)), 0o644))
	}
	if len(b.errors) > 0 && target != unknownTarget { // whose status is an error of the console
		b.t.Errorf("%s: %.500s", where, b.errors)
	}
	if rules == "" {
		return
	}
	b.ask(rules)
	if got := b.ask(axe); got != "" {
		b.t.Errorf("%s: %s", where, got)
	}
}
