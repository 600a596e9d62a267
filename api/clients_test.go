package api

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

const clientsFile = "../../shared/spec/clients.md"

// clients are the clients in a table of what real clients send and read, by the
// beginning of their row. Each function sends exactly what that client sends,
// and reads what it reads.
func clients() map[string]func(*testing.T, *sites) {
	return map[string]func(*testing.T, *sites){
		"wlc 1.13":                              clientWLC,
		"wlc 2.1.1":                             clientWLC2,
		"perceval-weblate 1.0.x":                clientPerceval,
		"mmntm/weblate-mcp 1.3.1":               clientMCP,
		"mishumey fork adds":                    clientMishumey,
		"porscheinformatik/weblate-spring":      clientSpring,
		"m2mtech provider":                      clientM2MTech,
		"groupeminaste/WeblateMobile":           clientWeblateMobile,
		"WeblateOrg/kotlin-sdk":                 clientKotlinSDK,
		"dgaponov/weblate-action":               clientWeblateAction,
		"thunderbird-mobile-weblate CLI":        clientThunderbird,
		"planify metrics, 3D Slicer, F-Droid":   clientScripts,
		"syncthing script/weblatedl.go":         clientSyncthing,
		"compcon":                               clientCompcon,
		"pachli release tool":                   clientPachli,
		"suwayomi changelog, r-devel Slack bot": clientChangePollers,
		"thewiw/weblate-friendly-bridge":        clientFriendlyBridge,
		"openstack-kr migration":                clientOpenstackKR,
		"RubyGem weblate":                       clientRubyGem,
		"Checkmk-weblate-syncer":                clientCheckmkSyncer,
	}
}

// TestClients runs a test for every row of the table, named after it. A row
// without a test, and a test without a row, fails.
func TestClients(t *testing.T) {
	t.Parallel()
	s := newSites(t)
	tests := clients()
	if data, err := os.ReadFile(clientsFile); err == nil {
		compareRows(t, string(data), tests)
	} else if os.Getenv("CI") == "true" {
		t.Fatalf("the table of clients is not there: %v", err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

func compareRows(t *testing.T, text string, tests map[string]func(*testing.T, *sites)) {
	t.Helper()
	_, text, _ = strings.Cut(text, "## What they send and read")
	text, _, _ = strings.Cut(text, "\n## ")
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 || strings.HasPrefix(cells[1], "-") {
			continue
		}
		row, found := strings.TrimSpace(strings.NewReplacer("*", "", "`", "").Replace(cells[1])), false
		for name := range tests {
			if strings.HasPrefix(row, name) {
				found, seen[name] = true, true
			}
		}
		if !found && row != "client (source)" {
			t.Errorf("no test for the row %q", row)
		}
	}
	for name := range tests {
		if !seen[name] {
			t.Errorf("no row for the test %q", name)
		}
	}
}

// sites are servers that clients read.
type sites struct {
	big  string  // bigWorld with 45 strings in a language
	demo string  // demoWorld
	db   *writer // of demo
}

func newSites(t *testing.T) *sites {
	t.Helper()
	big, demo := newWriter(t), demoWorld(t)
	importBig(big, 45)
	serve := func(w *writer) string {
		return listen(t, serve(w, Options{Settings: Settings{CORSOrigins: []string{"*"}}}))
	}
	return &sites{big: serve(big), demo: serve(demo), db: demo}
}

// reply is what a client gets. No client of the table follows a redirect.
type reply struct {
	status int
	header http.Header
	raw    []byte
	body   any
}

// overWire sends a request as written.
func overWire(t *testing.T, method, target, body string, header ...string) *reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	must(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	must(t, err)
	defer res.Body.Close()
	a := &reply{status: res.StatusCode, header: res.Header}
	if a.raw, err = io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	if res.Header.Get("Content-Type") == "application/json" {
		if err := json.Unmarshal(a.raw, &a.body); err != nil {
			t.Fatalf("%s: %v", target, err)
		}
	}
	return a
}

// want sends a GET that has to succeed.
func want(t *testing.T, target string, header ...string) *reply {
	t.Helper()
	a := overWire(t, http.MethodGet, target, "", header...)
	if a.status != http.StatusOK {
		t.Fatalf("%s: %d %.300s", target, a.status, a.raw)
	}
	return a
}

// results are the entries of a list, paged or bare.
func (a *reply) results() []any {
	if object, ok := a.body.(map[string]any); ok {
		list, _ := object["results"].([]any)
		return list
	}
	list, _ := a.body.([]any)
	return list
}

// next is the address of the next page, "" on the last one.
func (a *reply) next() string {
	object, _ := a.body.(map[string]any)
	next, _ := object["next"].(string)
	return next
}

// text is the text under a key of the first object; "" if it is not a string.
func (a *reply) text(key string) string {
	value, _ := firstObject(a.body)[key].(string)
	return value
}

// fields asks for a resource and fails for each field that its object, or the
// first one of its list, does not have.
func fields(t *testing.T, target, names string, header ...string) *reply {
	t.Helper()
	a := want(t, target, header...)
	object := firstObject(a.body)
	for name := range strings.FieldsSeq(names) {
		if _, ok := object[name]; !ok {
			t.Errorf("%s: %s is missing", target, name)
		}
	}
	return a
}

// all follows next, unchanged, to the last page.
func all(t *testing.T, target string, header ...string) (entries []map[string]any, pages int) {
	t.Helper()
	for target != "" {
		if pages++; pages > 100 {
			t.Fatal("a list without an end")
		}
		a := want(t, target, header...)
		for _, e := range a.results() {
			entries = append(entries, e.(map[string]any))
		}
		target = a.next()
	}
	return entries, pages
}
