package resource_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
)

// slowOperator pushes and commits until it is told to end, or its context does.
type slowOperator struct {
	operator
	began chan string
	end   chan struct{}
	ended chan error
}

func (o *slowOperator) wait(ctx context.Context, what string) (bool, error) {
	o.began <- what
	select {
	case <-o.end:
	case <-ctx.Done():
	}
	o.ended <- ctx.Err()
	return true, ctx.Err()
}

func (o *slowOperator) Push(ctx context.Context, _ int64, _ *catalog.Token) (bool, error) {
	return o.wait(ctx, "push")
}

func (o *slowOperator) Commit(ctx context.Context, _ int64, _ []int64) (bool, error) {
	return o.wait(ctx, "commit")
}

// TestOperationsOutliveClients: what a client asked for goes on when the client goes away,
// and keeps its turn, until it is done or the server ends.
func TestOperationsOutliveClients(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	o := &slowOperator{began: make(chan string), end: make(chan struct{}), ended: make(chan error, 1)}
	s := api.New(api.Options{DB: e.DB, Languages: e.Languages, Edits: e.Editor, Operations: o})
	handled := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r)
		handled <- struct{}{}
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(s.EndOperations)
	e.pools = s.Pools()
	begin := func(operation string) {
		t.Helper()
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, "POST", srv.URL+"/api/components/demo/app/repository/", strings.NewReader(`{"operation": "`+operation+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Token "+e.tokens["admin"])
		req.Header.Set("Content-Type", asJSON)
		left := make(chan error, 1)
		go func() {
			resp, err := srv.Client().Do(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			left <- err
		}()
		if got := <-o.began; got != operation {
			t.Fatalf("%s: %s began", operation, got)
		}
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Fatalf("the client of %s did not go away: %v", operation, err)
		}
		<-handled
		select {
		case err := <-o.ended:
			t.Fatalf("%s ended with its client: %v", operation, err)
		default:
		}
		if used := e.pool("operations").Used(); used != 1 {
			t.Errorf("%s: %d turns are held without a client, want 1", operation, used)
		}
	}
	for _, operation := range []string{"push", "commit"} {
		begin(operation)
		o.end <- struct{}{}
		if err := <-o.ended; err != nil {
			t.Errorf("%s ended: %v", operation, err)
		}
	}
	for e.pool("operations").Used() > 0 { // the last one gives its turn back
		runtime.Gosched()
	}
	begin("push")
	s.EndOperations()
	if err := <-o.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("at the end of the server: %v", err)
	}
	if used := e.pool("operations").Used(); used != 0 {
		t.Errorf("%d turns are held after the end", used)
	}
}
