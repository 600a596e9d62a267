package main

import (
	"errors"
	"fmt"
	"testing"
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
		problem  string
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
	broken.Problem = "x"
	for _, tt := range []struct {
		name  string
		state schedule.State
		rows  []store.BranchComponent
		want  string
	}{
		{"all is well", schedule.State{Status: schedule.OK}, []store.BranchComponent{sound}, ""},
		{"before any component", failed, nil, "component p/secret: x"},
		{"the branch", failed, []store.BranchComponent{sound, sound}, "component p/secret: x"},
		{"one component", failed, []store.BranchComponent{sound, broken}, ""},
		{"faster process", conflict, []store.BranchComponent{sound}, ""},
	} {
		if got := branchError(tt.state, tt.rows); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
