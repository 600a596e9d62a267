package hooks

import (
	"bufio"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// recorded is a payload as a service sends it.
type recorded struct {
	header        http.Header
	payload, want string
}

// payloads reads the payloads of testdata by name: the service, a dash and what it
// is.
func payloads(tb testing.TB) map[string]recorded {
	tb.Helper()
	files, err := filepath.Glob("testdata/payloads/*.txtar")
	if err != nil || len(files) < len(services) {
		tb.Fatalf("%d payloads for %d services, %v", len(files), len(services), err)
	}
	list := map[string]recorded{}
	for _, path := range files {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		var r recorded
		for _, f := range archive.Files {
			switch f.Name {
			case "header":
				h, err := textproto.NewReader(bufio.NewReader(strings.NewReader(string(f.Data) + "\n"))).ReadMIMEHeader()
				if err != nil {
					tb.Fatalf("%s: %v", path, err)
				}
				r.header = http.Header(h)
			case "payload":
				r.payload = string(f.Data)
			case "want":
				r.want = string(f.Data)
			}
		}
		list[strings.TrimSuffix(filepath.Base(path), ".txtar")] = r
	}
	return list
}

// TestPayloads reads what each service sends. In testdata, want says what becomes
// of a payload: match and miss are configured repositories, and address is one
// that must match without the full name. Each service has a payload and an
// address.
func TestPayloads(t *testing.T) {
	t.Parallel()
	recorded, addresses := map[string]bool{}, map[string]bool{}
	for name, p := range payloads(t) {
		from, _, _ := strings.Cut(name, "-")
		s := serviceNamed(from)
		if s == nil {
			t.Errorf("%s: no service is called %s", name, from)
			continue
		}
		recorded[from] = true
		n, err := s.notification(p.header, []byte(p.payload))
		if err != nil || n == nil {
			t.Errorf("%s: %v, %v", name, n, err)
			continue
		}
		if n.ofRequest != strings.HasSuffix(name, "-request") {
			t.Errorf("%s: of a request: %v", name, n.ofRequest)
		}
		for line := range strings.Lines(p.want) {
			key, want, _ := strings.Cut(strings.TrimSpace(line), ": ")
			_, matches := n.about(want)
			got := map[string]string{"service": n.service, "name": n.fullName, "branches": strings.Join(n.branches, " "), "default": n.defaultBranch, "request": strconv.FormatBool(n.ofRequest)}[key]
			switch key {
			case "match", "miss":
				if matches != (key == "match") {
					t.Errorf("%s: about(%q) = %v", name, want, matches)
				}
			case "address":
				addresses[from] = true
				unnamed := *n
				unnamed.fullName = ""
				if _, ok := unnamed.about(want); !ok {
					t.Errorf("%s: %s is not in %q", name, want, n.repos)
				}
			default:
				if got != want {
					t.Errorf("%s: %s = %q, want %q", name, key, got, want)
				}
			}
		}
	}
	for _, name := range Services() {
		if !recorded[name] || !addresses[name] {
			t.Errorf("%s: no payload with an address in testdata", name)
		}
	}
}

// TestManualNamesServices: the README and docs/webhooks.md name every service.
func TestManualNamesServices(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if list := "/hooks/{" + strings.Join(Services(), ",") + "}/"; !strings.Contains(string(readme), list) {
		t.Errorf("README.md lacks %s", list)
	}
	manual, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Services() {
		if row := "| `https://HOST/hooks/" + name + "/` |"; !strings.Contains(string(manual), row) {
			t.Errorf("docs/webhooks.md lacks the row of %s", name)
		}
	}
}

// TestRequestEvents: events of requests that change neither a branch nor whether it is open are
// none, and odd ones are no error.
func TestRequestEvents(t *testing.T) {
	t.Parallel()
	for name, p := range payloads(t) {
		from, kind, _ := strings.Cut(name, "-")
		if kind != "request" {
			continue
		}
		for old, want := range map[string][]string{
			`"action": "`:   {`"action": "un`, `"action": 7, "x": "`, `"nothing": "`},
			`"ref": "main"`: {`"ref": null`, `"ref": ["main"]`}, `"target_branch": "stable"`: {`"target_branch": ""`},
		} {
			for _, new := range want {
				payload := strings.Replace(p.payload, old, new, 1)
				if n, err := serviceNamed(from).notification(p.header, []byte(payload)); payload != p.payload && (n != nil || err != nil) {
					t.Errorf("%s with %s: %+v, %v", name, new, n, err)
				}
			}
		}
	}
}

// TestOtherEvents: events that are neither of pushes nor of requests change nothing.
func TestOtherEvents(t *testing.T) {
	t.Parallel()
	for i := range services {
		s := &services[i]
		header := http.Header{"X-Github-Event": {"issues"}, "X-Gitea-Event": {"issues"}, "X-Event-Key": {"diagnostics:ping"}}
		payload := `{"test":true,"topic":"issue.edit","msg":{},"eventType":"workitem.created","action":"opened"}`
		n, err := s.notification(header, []byte(payload))
		if wantError := s.name == "gitee"; n != nil || (err != nil) != wantError {
			t.Errorf("%s: %v, %v", s.name, n, err)
		}
	}
}

// Services returns the names of all services as they are in paths.
func Services() []string {
	names := make([]string, len(services))
	for i := range services {
		names[i] = services[i].name
	}
	return names
}
