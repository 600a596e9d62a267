package hooks

import (
	"bufio"
	"net/http"
	"net/textproto"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// recorded is a payload as a service sends it.
type recorded struct {
	header        http.Header
	payload, want string
}

// payloads are those of testdata by name; the service comes before the dash.
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

// TestPayloads reads what each service sends.
func TestPayloads(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for name, p := range payloads(t) {
		from, _, _ := strings.Cut(name, "-")
		for i := range services {
			if services[i].name != from {
				continue
			}
			seen[from] = true
			n, err := services[i].read(p.header, []byte(p.payload))
			if err != nil || n == nil {
				t.Errorf("%s: %v, %v", name, n, err)
				continue
			}
			n.tidy()
			for line := range strings.Lines(p.want) {
				key, want, _ := strings.Cut(strings.TrimSpace(line), ": ")
				_, matches := n.about(want)
				got := map[string]string{"service": n.service, "name": n.fullName, "branches": strings.Join(n.branches, " "), "default": n.fallback}[key]
				switch key {
				case "match", "miss":
					if matches != (key == "match") {
						t.Errorf("%s: about(%q) = %v", name, want, matches)
					}
				default:
					if got != want {
						t.Errorf("%s: %s = %q, want %q", name, key, got, want)
					}
				}
			}
		}
	}
	if len(seen) != len(services) {
		t.Errorf("payloads of %v only", seen)
	}
}

// TestByAddressAlone: the addresses alone match, without the full name.
func TestByAddressAlone(t *testing.T) {
	t.Parallel()
	for name, repo := range map[string]string{
		"github-push": "git://github.com/kitchen/teapot.git", "github-old": "git@github.com:kitchen/teapot.git",
		"gitlab-push": "https://gitlab.example.com/kitchen/crockery/teapot", "gitlab-old": "http://gitlab.example.com/kitchen/teapot.git",
		"gitea-push": "ssh://gitea@git.example.org:2022/kitchen/teapot.git", "forgejo-push": "https://codeberg.example/kitchen/teapot",
		"gitee-push": "git://gitee.com/kitchen/teapot.git", "bitbucket-push": "https://bitbucket.org/kitchen/teapot",
		"bitbucket-server": "ssh://git@bitbucket.example:7999/kit/teapot.git", "azure-push": "git@ssh.dev.azure.com:v3/kitchen/Crockery/Tea Pot",
		"pagure-push": "ssh://git@pagure.example/kitchen/teapot",
	} {
		p := payloads(t)[name]
		from, _, _ := strings.Cut(name, "-")
		for i := range services {
			if services[i].name != from {
				continue
			}
			n, err := services[i].read(p.header, []byte(p.payload))
			if err != nil || n == nil {
				t.Fatalf("%s: %v", name, err)
			}
			n.tidy()
			n.fullName = ""
			if _, ok := n.about(repo); !ok {
				t.Errorf("%s: %s is none of %q", name, repo, n.repos)
			}
		}
	}
}

// TestOtherEvents: what is no push changes nothing.
func TestOtherEvents(t *testing.T) {
	t.Parallel()
	for i := range services {
		s := &services[i]
		header := http.Header{"X-Github-Event": {"issues"}, "X-Gitea-Event": {"issues"}, "X-Event-Key": {"diagnostics:ping"}}
		payload := `{"test":true,"topic":"issue.edit","msg":{},"eventType":"workitem.created","action":"opened"}`
		n, err := s.read(header, []byte(payload))
		if wantError := s.name == "gitee"; n != nil || (err != nil) != wantError {
			t.Errorf("%s: %v, %v", s.name, n, err)
		}
	}
}
