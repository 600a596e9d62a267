package resource_test

import (
	"context"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/repoglot/repoglot/api/limit"
)

// flood holds what one client may have of a pool, with as many requests behind it as may
// wait, until end is called.
func flood(t *testing.T, p *limit.Pool, client string) (end func()) {
	t.Helper()
	held := p.Lease(client)
	if err := held.Take(p.Share); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	const waiting = 32
	for range waiting {
		wg.Go(func() {
			lease := p.Lease(client)
			defer lease.Release()
			_ = lease.Wait(ctx, 1) // until the end
		})
	}
	for p.Waiting() < waiting {
		runtime.Gosched()
	}
	return func() { cancel(); wg.Wait(); held.Release() }
}

// TestWritesInTurn: a token that writes much at a time gets 429 for whatever it writes,
// those of others are stored meanwhile, and pulls and pushes are counted on their own.
func TestWritesInTurn(t *testing.T) {
	e := newEditor(t)
	unit := e.units["app cs Open"]
	patch := func(token string, want int) {
		t.Helper()
		if status, answer, _ := e.send(token, "PATCH", unit, asJSON, `{"target": ["Otevřít `+token+`"], "state": 20}`); status != want {
			t.Errorf("%s: %d %s, want %d", token, status, answer, want)
		}
	}
	patch("admin", 200)
	if status, answer, _ := e.send("write", "POST", unit+"suggestions/", asJSON, `{"target": ["Otevři"]}`); status != 201 {
		t.Fatalf("a suggestion: %d %s", status, answer)
	}
	kind, file := form(t, "msgid \"Open\"\nmsgstr \"Otevírat\"\n")
	refused := func(method, path, kind, body string) {
		t.Helper()
		headers := []string{}
		token := "admin"
		if path == "/login/" {
			token, headers = "", []string{"Sec-Fetch-Site", "same-origin"}
		}
		if status, answer, header := e.send(token, method, path, kind, body, headers...); status != 429 || header.Get("Retry-After") == "" || !strings.Contains(answer, "This client writes too much at a time.") {
			t.Errorf("%s %s: %d %s", method, path, status, answer)
		}
	}
	writes, operations := e.pool("writes"), e.pool("operations")
	const component = "/api/components/demo/app/"
	end := flood(t, writes, e.client("admin"))
	refused("PATCH", unit, asJSON, `{"target": ["Otevřít"], "state": 20}`)
	refused("POST", unit+"suggestions/", asJSON, `{"target": ["Otevírat"]}`)
	refused("POST", "/api/suggestions/2/accept/", "", "")
	refused("POST", "/api/translations/demo/app/cs/file/", kind, file)
	refused("POST", component+"lock/", asJSON, `{"lock": true}`)
	refused("POST", component+"repository/", asJSON, `{"operation": "reset"}`)
	refused("DELETE", "/api/edits/1/", "", "")
	refused("POST", "/login/", asForm, url.Values{"token": {e.tokens["admin"]}}.Encode())
	patch("write", 200)
	if status, answer, _ := e.send("admin", "POST", component+"repository/", asJSON, `{"operation": "push"}`); status != 200 || !strings.Contains(answer, `"result":true`) {
		t.Errorf("a push beside edits: %d %s", status, answer)
	}
	end()
	patch("admin", 200)

	end = flood(t, operations, e.client("admin"))
	for _, operation := range []string{"commit", "push", "pull"} {
		refused("POST", component+"repository/", asJSON, `{"operation": "`+operation+`"}`)
	}
	patch("admin", 200)
	end()
	if writes.Used()+operations.Used() != 0 || writes.Waiting()+operations.Waiting() != 0 {
		t.Error("turns are held by nobody")
	}
	e.Verify()
}
