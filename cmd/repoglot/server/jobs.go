package server

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/repoglot/repoglot/catalog/store/cluster"
)

// Jobs is what repoglot jobs shows as JSON.
type Jobs struct {
	At            time.Time    `json:"at"`
	Configuration string       `json:"configuration"` // the newest fingerprint
	Revision      int64        `json:"revision"`
	Processes     []JobProcess `json:"processes"`
	Branches      []JobBranch  `json:"branches"`
}

// JobProcess is a process of a cluster.
type JobProcess struct {
	cluster.Process
	OlderCopy bool `json:"older_copy"`
	Silent    bool `json:"silent"`
}

// JobBranch is a branch. A time that never was is null.
type JobBranch struct {
	Branch   string     `json:"branch"`
	State    string     `json:"state"` // running, waiting, failed, ok
	Process  string     `json:"process,omitempty"`
	Since    *time.Time `json:"since"` // in this state
	Due      *time.Time `json:"due"`
	WishedBy string     `json:"wished_by,omitempty"`
	Ended    *time.Time `json:"ended"`     // the last pull
	LastGood *time.Time `json:"succeeded"` // the last good one
	Failures int        `json:"failures"`
	Problem  string     `json:"problem,omitempty"`
}

func newJobs(state *cluster.State) *Jobs {
	l := &Jobs{At: state.At, Configuration: state.Newest.Fingerprint, Revision: state.Newest.Revision, Processes: []JobProcess{}, Branches: []JobBranch{}}
	for i := range state.Processes {
		p := state.Processes[i]
		l.Processes = append(l.Processes, JobProcess{p, p.Configuration != l.Configuration, p.Silent(state.At)})
	}
	for i := range state.Mirrors {
		l.Branches = append(l.Branches, newJobBranch(&state.Mirrors[i], state))
	}
	return l
}

func newJobBranch(m *cluster.MirrorState, of *cluster.State) JobBranch {
	at, stuck := of.At, of.Stuck(m)
	b := JobBranch{
		Branch: m.Branch, State: "ok", Since: known(m.Ended), Due: known(m.Due), WishedBy: m.WishedBy,
		Ended: known(m.Ended), LastGood: known(m.Succeeded), Failures: m.Failures, Problem: m.Problem,
	}
	switch {
	case m.Running(at):
		b.State, b.Process, b.Since = "running", m.Holder, known(m.Started)
	case m.Waiting(at):
		b.State, b.Since = "waiting", known(m.Due)
		if !m.Wished.IsZero() {
			b.Since = known(m.Wished)
		}
		if m.Holder != "" { // it died
			b.Since = known(m.Expires)
		}
		if stuck != "" {
			b.State, b.Problem = "failed", stuck
		}
	case m.Problem != "":
		b.State = "failed"
	}
	return b
}

// known is nil for the zero time.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// WriteJobs writes what repoglot jobs shows of a cluster: JSON, or as a table for people what
// runs, waits and failed, in this order.
func WriteJobs(w io.Writer, state *cluster.State, asJSON bool) error {
	l := newJobs(state)
	if asJSON {
		_, err := w.Write(encode(l, 2))
		return err
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "configuration %s\trevision %d\n", l.Configuration, l.Revision)
	for i := range l.Processes {
		p := &l.Processes[i]
		notes := ""
		if p.OlderCopy {
			notes += "\tolder configuration " + p.Configuration
		}
		if p.Silent {
			notes += "\tsilent since " + p.Seen.Format(time.RFC3339)
		}
		if p.Problem != "" {
			notes += "\tpulls nothing: " + p.Problem
		}
		fmt.Fprintf(t, "process\t%s\t%s\tsince %s%s\n", p.ID, p.Work, p.Started.Format(time.RFC3339), notes)
	}
	counts := map[string]int{}
	for _, state := range []string{"running", "waiting", "failed"} {
		for i := range l.Branches {
			if b := &l.Branches[i]; b.State == state {
				fmt.Fprintf(t, "%s\t%s\t%s\n", state, b.Branch, b.details())
			}
		}
	}
	for i := range l.Branches {
		counts[l.Branches[i].State]++
	}
	fmt.Fprintf(t, "%d running, %d waiting, %d failed, %d up to date\n", counts["running"], counts["waiting"], counts["failed"], counts["ok"])
	return t.Flush()
}

func (b *JobBranch) details() string {
	var parts []string
	if b.Process != "" {
		parts = append(parts, "by "+b.Process)
	}
	if b.Since != nil {
		parts = append(parts, "since "+b.Since.Format(time.RFC3339))
	}
	if b.WishedBy != "" {
		parts = append(parts, "wished by "+b.WishedBy)
	}
	switch {
	case b.Failures == 0 && b.Problem != "":
		parts = append(parts, b.Problem)
	case b.Failures > 0:
		parts = append(parts, fmt.Sprintf("failed %d times: %s", b.Failures, strings.ReplaceAll(b.Problem, "\n", "; ")))
	}
	return strings.Join(parts, ", ")
}
