package api

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/websocket"

	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// browserTab is a tab of a Chromium without a window.
type browserTab struct {
	t      *testing.T
	ws     *websocket.Conn
	last   int
	errors []string // of the console
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
			b := &browserTab{t: t, ws: ws}
			for _, domain := range []string{"Page", "Log", "Runtime"} {
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
	if m.Method == "Log.entryAdded" || m.Method == "Runtime.exceptionThrown" {
		b.errors = append(b.errors, string(m.Params))
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
	must(b.t, json.Unmarshal(b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}), &r))
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

// TestBrowser opens each page in Chromium: at 1280 and 320 px, light and dark, English
// and Arabic. There is no error in the console, nothing to scroll sideways, and the
// structure is sound.
func TestBrowser(t *testing.T) {
	b := openBrowser(t)
	site := httptest.NewServer(bare(catalogtest.Demo(t), Options{CacheBytes: 8 << 20}))
	defer site.Close()
	targets := everyPage()
	_, rec := send(site.Config.Handler, http.MethodGet, "/translate/demo/app/cs/")
	targets = append(targets, strings.ReplaceAll(checksumLink.FindString(rec.Body.String()), "&amp;", "&"))
	for i, target := range targets {
		for _, width := range []int{1280, 320} {
			language := []string{"en", "ar"}[(i+width/320)%2]
			with := "?ui="
			if strings.Contains(target, "?") {
				with = "&ui="
			}
			b.errors = nil
			b.load(site.URL+target+with+language, width, i%2 == 0)
			if got := b.ask(`document.documentElement.lang`); got != language {
				t.Errorf("%s: language %q, want %q", target, got, language)
			}
			if got := b.ask(`document.documentElement.scrollWidth <= window.innerWidth ? "" : [...document.querySelectorAll("body *")].filter(e => { const r = e.getBoundingClientRect(); return (r.right > window.innerWidth + 1 || r.left < -1) && !e.closest(".scroll,pre,.vh,.skip"); }).slice(0, 3).map(e => e.outerHTML.slice(0, 200)).join("\n")`); got != "" {
				t.Errorf("%s in %s is wider than %d px: %s", target, language, width, got)
			}
			if got := b.ask(broken); got != "" {
				t.Errorf("%s: %s", target, got)
			}
			if len(b.errors) > 0 {
				t.Errorf("%s: %.500s", target, b.errors)
			}
		}
	}
}
