package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

// TestErrorsInBothForms: every error has the keys of Weblate up to 5.9, and from 5.10; the
// new ones come last.
func TestErrorsInBothForms(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for target, want := range map[string]string{
		"GET /api/units/1/":                                `{"detail":"Not found.","errors":[{"code":"not_found","detail":"Not found.","attr":null}],"type":"client_error"}`,
		"GET /api/changes/?page=99999":                     `{"detail":"Invalid page.","errors":[{"code":"not_found","detail":"Invalid page.","attr":null}],"type":"client_error"}`,
		"GET /api/changes/?unit=x":                         `{"unit":["A valid integer is required."],"errors":[{"code":"invalid","detail":"A valid integer is required.","attr":"unit"}],"type":"validation_error"}`,
		"GET /api/translations/demo/app/cs/file/?format=x": `{"format":"File format is not compatible with this translation","errors":[{"code":"invalid","detail":"File format is not compatible with this translation","attr":"format"}],"type":"validation_error"}`,
		"GET /api/changes/?timestamp_after=x&action=x":     `{"action":["Select a valid choice. x is not one of the available choices."],"timestamp":["Enter a valid date/time."],"errors":[{"code":"invalid","detail":"Select a valid choice. x is not one of the available choices.","attr":"action"},{"code":"invalid","detail":"Enter a valid date/time.","attr":"timestamp"}],"type":"validation_error"}`,
		"PUT /api/": `{"detail":"Method \"PUT\" not allowed.","errors":[{"code":"method_not_allowed","detail":"Method \"PUT\" not allowed.","attr":null}],"type":"client_error"}`,
	} {
		method, path, _ := strings.Cut(target, " ")
		rec := call(t, s, method, path)
		if got := rec.Body.String(); got != want {
			t.Errorf("%s: %d\n%s, want\n%s", target, rec.Code, got, want)
		}
	}
}

// TestEncodedQuestionMark: a proxy may encode the second question mark that wlc sends.
func TestEncodedQuestionMark(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	want := get(t, s, csFile+"?format=csv")
	for _, query := range []string{"format=api?format=csv", "format=api%3Fformat=csv", "format=api%3Fformat%3Dcsv", "format=po%3Fx=y%3Fformat=csv"} {
		if got := get(t, s, csFile+"?"+query); got != want {
			t.Errorf("%s: %.100s", query, got)
		}
	}
}

// TestNoTime: the first moment of all is a bound like any other, and who has no date that can
// be read has none.
func TestNoTime(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	for target, none := range map[string]bool{
		"/api/units/?q=added:<0001": true, "/api/units/?q=added:>=0001": false,
		"/api/changes/?timestamp_before=0001-01-01T00:00:00": true, "/api/changes/?timestamp_after=0001-01-01T00:00:00": false,
	} {
		var list struct{ Count int }
		must(t, json.Unmarshal([]byte(get(t, s, target)), &list))
		if (list.Count == 0) != none {
			t.Errorf("%s: %d", target, list.Count)
		}
	}
}

// TestDownloadsWait: a client that asks for more downloads than its share waits for them.
func TestDownloadsWait(t *testing.T) {
	t.Parallel()
	s := serve(demoWorld(t), Options{})
	held := s.shares.downloads.Lease("192.0.2.1") // the address of httptest
	must(t, held.Take(s.shares.downloads.Share))
	const tried = 40 // some more than may wait
	status := make(chan int, tried)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range tried {
		go func() {
			rec := httptest.NewRecorder()
			s.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, http.MethodGet, csFile+"?format=csv&q=state:translated", http.NoBody))
			status <- rec.Code
		}()
	}
	for range tried - 32 {
		if got := <-status; got != http.StatusTooManyRequests {
			t.Errorf("%d for one that is too many", got)
		}
	}
	for s.shares.downloads.Waiting() < 32 && ctx.Err() == nil {
		if len(status) > 0 {
			t.Fatalf("%d without a wait", <-status)
		}
		runtime.Gosched()
	}
	held.Release()
	for range 32 {
		if got := <-status; got != http.StatusOK {
			t.Errorf("%d after a wait", got)
		}
	}
}
