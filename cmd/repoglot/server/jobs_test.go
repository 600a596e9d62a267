package server

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog/store/cluster"
)

// clusterAt is a cluster with a branch in each state.
func clusterAt(at time.Time) *cluster.State {
	ago := func(seconds int) time.Time { return at.Add(-time.Duration(seconds) * time.Second) }
	process := func(id, work, configuration string, seen int) cluster.Process {
		return cluster.Process{ID: id, Machine: "m", PID: 1, Work: work, Version: "v", Configuration: configuration, Started: ago(100), Seen: ago(seen)}
	}
	first := process("a", WorkServe, "new", 1)
	first.Lacks = []string{"nowhere#main"}
	full := process("d", WorkPull, "new", 3)
	full.Problem, full.Lacks = "no room", first.Lacks
	return &cluster.State{
		At: at, Newest: cluster.Configuration{Fingerprint: "new", Revision: 2},
		Processes: []cluster.Process{first, process("b", WorkPull, "old", 2), process("c", WorkPull, "new", 60), full},
		Mirrors: []cluster.MirrorState{
			{Mirror: cluster.Mirror{Branch: "dead#main", Host: "h"}, Holder: "c", Started: ago(70), Expires: ago(40), Due: ago(70)},
			{Mirror: cluster.Mirror{Branch: "failed#main", Host: "h"}, Due: at.Add(time.Minute), Started: ago(9), Ended: ago(8), Problem: "no route\nto host", Failures: 3},
			{Mirror: cluster.Mirror{Branch: "good#main", Host: "h"}, Due: at.Add(time.Minute), Started: ago(6), Ended: ago(5), Succeeded: ago(5)},
			{Mirror: cluster.Mirror{Branch: "nowhere#main"}, Due: ago(30), Started: ago(95), Ended: ago(94), Succeeded: ago(94)},
			{Mirror: cluster.Mirror{Branch: "running#main", Host: "h"}, Holder: "a", Started: ago(3), Expires: at.Add(time.Second), Due: ago(4)},
			{Mirror: cluster.Mirror{Branch: "wished#main", Host: "h"}, Due: at.Add(time.Hour), Wished: ago(2), WishedBy: "a webhook"},
		},
	}
}

// TestJobs: jobs shows what runs where, what waits since when and why, and what failed
// with its reason.
func TestJobs(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var out bytes.Buffer
	must(t, WriteJobs(&out, clusterAt(at), false))
	want := strings.TrimPrefix(`
configuration new  revision 2
process            a             serve  since 2026-01-02T03:02:25Z
process            b             pull   since 2026-01-02T03:02:25Z  older configuration old
process            c             pull   since 2026-01-02T03:02:25Z  silent since 2026-01-02T03:03:05Z
process            d             pull   since 2026-01-02T03:02:25Z  pulls nothing: no room
running            running#main  by a, since 2026-01-02T03:04:02Z
waiting            dead#main     since 2026-01-02T03:03:25Z
waiting            wished#main   since 2026-01-02T03:04:03Z, wished by a webhook
failed             failed#main   since 2026-01-02T03:03:57Z, failed 3 times: no route; to host
failed             nowhere#main  since 2026-01-02T03:03:35Z, no process that pulls has this local repository
1 running, 2 waiting, 2 failed, 1 up to date
`, "\n")
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text, err := json.Marshal(newJobs(clusterAt(at)))
	must(t, err)
	for _, part := range []string{
		`"branch":"failed#main","state":"failed","since":"2026-01-02T03:03:57Z"`, `"problem":"no route\nto host"`, `"older_copy":true`, `"silent":true`, `"problem":"no room"`,
		`"branch":"running#main","state":"running","process":"a"`,
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%s lacks %s", text, part)
		}
	}
}

// TestClusterSummary: what /readyz and /metrics tell of a cluster names nothing.
func TestClusterSummary(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := clusterSummary{Processes: 3, Others: 1, Running: 1, Waiting: 3, Failed: 1, Unseen: 1, Stuck: 1, Paused: 1}
	if got := summarise(clusterAt(at)); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	c := &member{state: clusterAt(at), newest: cluster.Configuration{Fingerprint: "new", Revision: 2}, process: cluster.Process{ID: "m/1", Machine: "m", Work: WorkPull, Configuration: "old"}}
	body := map[string]any{}
	c.readyz(body)
	text, err := json.Marshal(body)
	must(t, err)
	got := string(text)
	if want := `{"cluster":{"processes":3,"other_configurations":1,"running":1,"waiting":3,"failed":1,"silent_processes":1,"stuck":1,"paused_processes":1},` +
		`"configuration":{"newest":"new","older_copy":true,"revision":2},"process":{"configuration":"old","work":"pull"}}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
