package server

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/schedule"
	"github.com/repoglot/repoglot/catalog/store"
)

func TestComponentState(t *testing.T) {
	t.Parallel()
	ended := time.Unix(1, 0)
	for _, tt := range []struct {
		name     string
		state    schedule.State
		imported bool
		problem  catalog.FailureKind
		want     string
	}{
		{"new", schedule.State{}, false, "", statePending},
		{"first pull", schedule.State{Status: schedule.Running}, false, "", stateImporting},
		{"pulled", schedule.State{Status: schedule.OK, LastEnd: ended}, true, "", stateReady},
		{"later pull", schedule.State{Status: schedule.Running, LastEnd: ended}, true, "", stateReady},
		{"later pull failed", schedule.State{Status: schedule.Failed, LastEnd: ended, Err: errors.New("x")}, true, "x", stateReady},
		{"first pull failed", schedule.State{Status: schedule.Failed, LastEnd: ended, Err: errors.New("x")}, false, "", stateFailed},
		{"second try", schedule.State{Status: schedule.Running, LastEnd: ended, Err: errors.New("x")}, false, "x", stateFailed},
		{"added to a branch that was pulled", schedule.State{Status: schedule.OK, LastEnd: ended}, false, "", statePending},
		{"configured anew during its first pull", schedule.State{Status: schedule.Failed, LastEnd: ended, Err: fmt.Errorf("component p/c: %w", catalog.ErrConflict)}, false, "", statePending},
		{"and is being pulled", schedule.State{Status: schedule.Running, LastEnd: ended}, false, "", stateImporting},
	} {
		if got := componentState(tt.state, tt.imported, tt.problem); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestBranchError: the error of one component, which may be private, is not shown
// for the others of its branch.
func TestBranchError(t *testing.T) {
	t.Parallel()
	failed := schedule.State{Status: schedule.Failed, Err: errors.New("component p/secret: x")}
	conflict := schedule.State{Status: schedule.Failed, Err: fmt.Errorf("component p/secret: %w", catalog.ErrConflict)}
	sound, broken := store.BranchComponent{}, store.BranchComponent{}
	broken.Problem.Kind = catalog.FailureOther
	for _, tt := range []struct {
		name  string
		state schedule.State
		rows  []store.BranchComponent
		want  catalog.FailureKind
	}{
		{"all is well", schedule.State{Status: schedule.OK}, []store.BranchComponent{sound}, ""},
		{"before any component", failed, nil, catalog.FailureOther},
		{"the branch", failed, []store.BranchComponent{sound, sound}, catalog.FailureOther},
		{"one component", failed, []store.BranchComponent{sound, broken}, ""},
		{"faster process", conflict, []store.BranchComponent{sound}, ""},
	} {
		if got := branchError(tt.state, tt.rows); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestReadyTurn: requests that come while an answer is made share it, also if the client
// goes away that asked first.
func TestReadyTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var turn readyTurn
		end, n := make(chan struct{}), 0
		read := func(ctx context.Context) (*readiness, error) {
			n++ // one at a time: the race detector would tell
			select {
			case <-end:
				return &readiness{private: n}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		got := make(chan int, 99)
		ask := func(ctx context.Context) {
			go func() {
				state, err := turn.get(ctx, read)
				if err != nil {
					state = &readiness{}
				}
				got <- state.private
			}()
			synctest.Wait()
		}
		gone, leave := context.WithCancel(t.Context())
		ask(gone)
		for range 30 {
			ask(t.Context())
		}
		leave()
		end <- struct{}{}
		for range 31 {
			if first := <-got; first != 1 {
				t.Fatalf("a request that waited has answer %d", first)
			}
		}
		ask(t.Context())
		end <- struct{}{}
		if second := <-got; second != 2 {
			t.Errorf("a request that came later has answer %d", second)
		}
	})
}

// TestReadyKept: an answer that took long is kept for a while, so that many who ask for it
// cost a part of the time; one that was quick is made anew.
func TestReadyKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var turn readyTurn
		n, took := 0, time.Second
		read := func(context.Context) (*readiness, error) {
			n++
			time.Sleep(took)
			return &readiness{private: n}, nil
		}
		ask := func(want int) {
			t.Helper()
			if state, err := turn.get(t.Context(), read); err != nil || state.private != want {
				t.Errorf("%+v, %v, want answer %d", state, err, want)
			}
		}
		begun, asked := time.Now(), 0
		for time.Since(begun) < time.Minute {
			_, _ = turn.get(t.Context(), read)
			time.Sleep(10 * time.Millisecond)
			asked++
		}
		if n > 13 || asked < 1000 {
			t.Errorf("%d of %d answers were made in a minute", n, asked)
		}
		time.Sleep(readyKept)
		took = time.Millisecond
		ask(n + 1)
		ask(n + 1)
	})
}

// TestIndented: an answer for people is indented, one for programs is a line.
func TestIndented(t *testing.T) {
	t.Parallel()
	for indent, want := range map[int]string{0: "{\"ready\":true}\n", 2: "{\n  \"ready\": true\n}\n"} {
		if got := string(encode(map[string]any{"ready": true}, indent)); got != want {
			t.Errorf("indent %d: %q", indent, got)
		}
	}
}
