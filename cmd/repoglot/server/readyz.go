package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/ingest/schedule"
	"github.com/repoglot/repoglot/catalog/store"
)

// The states of a component in /readyz.
const (
	statePending   = "pending"   // its first pull has not begun
	stateImporting = "importing" // its first pull is running
	stateReady     = "ready"     // it is served and checked; error says how the last pull failed
	stateFailed    = "failed"    // it was never imported; error says how
)

// healthz answers 200 while the process lives.
func healthz(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"status": "ok"})
}

// readyz answers 200 once every component was imported or its first attempt
// failed, else 503. The body lists state, progress, kind of the error and unserved (files
// that are not served, with the reason, and those that cannot be added) of each public
// component, and push_error where the last push of edits failed; it counts the private ones.
func (s *supervisor) readyz(w http.ResponseWriter, r *http.Request) {
	state, err := s.ready.get(r.Context(), s.readiness)
	if err != nil {
		s.log.Error("readyz", "error", err)
		w.Header().Set("Retry-After", "1")
		writeJSON(w, http.StatusServiceUnavailable, map[string]any{"ready": false, "detail": "the store cannot be read"})
		return
	}
	status := http.StatusOK
	if !state.ready {
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "1")
	}
	body := state.compact
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		body = state.indented // a person reads it
	}
	writeEncoded(w, status, body)
}

// readiness is the state of all components of a plan.
type readiness struct {
	ready             bool             // every component is ready or failed
	public            []map[string]any // never nil
	private           int
	stuck             map[string][]string // files that cannot be added or removed, by project and component
	compact, indented []byte              // the answer
	till              time.Time           // until then it is kept
}

const (
	// readyShare is the part of the time in which answers are made, at most: one that took
	// a time is kept for so many times that time, but for no longer than readyKept.
	readyShare = 4
	readyKept  = 5 * time.Second
	// readyQuick is what small servers need: theirs are not kept.
	readyQuick = 50 * time.Millisecond
	// readyTime bounds the making of an answer.
	readyTime = time.Minute
)

// readyTurn makes answers to /readyz one after the other. Each reads the rows of every branch,
// so requests that come while one is made share it, also if the client goes away that asked
// first, and one that takes long is kept for a while.
type readyTurn struct {
	making singleflight.Group
	kept   atomic.Pointer[readiness]
}

func (t *readyTurn) get(ctx context.Context, read func(context.Context) (*readiness, error)) (*readiness, error) {
	if kept := t.kept.Load(); kept != nil && time.Now().Before(kept.till) {
		return kept, nil
	}
	made, err, _ := t.making.Do("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTime)
		defer cancel()
		begun := time.Now()
		r, err := read(ctx)
		if took := time.Since(begun); err == nil && took > readyQuick {
			r.till = time.Now().Add(min(readyShare*took, readyKept))
			t.kept.Store(r)
		}
		return r, err
	})
	return made.(*readiness), err
}

// readiness returns the state of the components of the plan.
func (s *supervisor) readiness(ctx context.Context) (*readiness, error) {
	p, states := s.snapshot()
	r := &readiness{ready: true, public: []map[string]any{}, stuck: map[string][]string{}}
	if err := s.addStuck(ctx, r); err != nil {
		return nil, err
	}
	for i := range p.branches {
		if err := s.addBranch(ctx, r, p, &p.branches[i], states[p.branches[i].Key]); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(r.public, func(a, b map[string]any) int {
		return cmp.Or(cmp.Compare(a["project"].(string), b["project"].(string)), cmp.Compare(a["component"].(string), b["component"].(string)))
	})
	body := map[string]any{"ready": r.ready, "components": r.public, "private": r.private}
	if s.engine.cluster != nil {
		s.engine.cluster.readyz(body)
	}
	if state, err := s.notify.State(ctx); err != nil {
		return nil, err
	} else if state.Receivers > 0 {
		body["notify"] = state
	}
	r.compact, r.indented = encode(body, 0), encode(body, 2)
	return r, nil
}

// addStuck finds the files that clients added or removed and that cannot be made.
func (s *supervisor) addStuck(ctx context.Context, r *readiness) error {
	return s.engine.db.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		list, err := snap.AwaySince(ctx, time.Now(), true)
		for _, e := range list {
			name := e.Project + "/" + e.Component
			r.stuck[name] = append(r.stuck[name], e.Reason)
		}
		return err
	})
}

func (s *supervisor) addBranch(ctx context.Context, r *readiness, p *Plan, b *ingest.Branch, state schedule.State) error {
	rows, err := s.engine.rows(ctx, b)
	if err != nil {
		return err
	}
	whole := branchError(state, rows)
	running, pulled := s.engine.progress.branch(b.Key)
	add := func(project, slug string, private, imported bool, problem, unpushed catalog.FailureKind) {
		name := componentState(state, imported && !running.Unchecked, problem)
		r.ready = r.ready && (name == stateReady || name == stateFailed)
		if private {
			r.private++
			return
		}
		entry := map[string]any{
			"project": project, "component": slug, "state": name, "error": nil, "progress": nil,
			"unserved": append(s.problems.list(project, slug), r.stuck[project+"/"+slug]...),
		}
		if problem = cmp.Or(problem, whole); problem != "" { // everyone reads it: the kinds alone
			entry["error"] = problem
		}
		if unpushed != "" {
			entry["push_error"] = unpushed
		}
		if pulled {
			entry["progress"] = running.percent()
		}
		r.public = append(r.public, entry)
	}
	found := map[string]bool{}
	for i := range rows {
		c := &rows[i]
		found[c.Project.Slug+"/"+c.Slug], found[c.Project.Slug+"/"+c.Template] = true, true
		add(c.Project.Slug, c.Slug, c.Settings.Private(&c.Project), c.Imported, c.Problem.Kind, c.PushProblem.Kind)
	}
	for _, c := range b.Components { // discoveries without a component
		if !found[c.Spec.Project+"/"+c.Spec.Slug] {
			nothing := state.Finished() && state.Err == nil // there is nothing to find
			add(c.Spec.Project, c.Spec.Slug, p.private(&c.Spec), nothing, "", "")
		}
	}
	return nil
}

// branchError is the kind of the error of a branch as a whole; "" without one. Those of
// components are in their rows: a public one must not reveal a private one's.
func branchError(state schedule.State, rows []store.BranchComponent) catalog.FailureKind {
	single := slices.ContainsFunc(rows, func(c store.BranchComponent) bool { return c.Problem.Failed() })
	if state.Err == nil || state.Status == schedule.OK || single || errors.Is(state.Err, catalog.ErrConflict) {
		return ""
	}
	if stuck := schedule.Stuck(""); errors.As(state.Err, &stuck) {
		return catalog.FailureNoProcess
	}
	return ingest.KindOf(state.Err)
}

// componentState names the state of a component. One that a reload added to a branch that was
// already pulled, or changed during its first pull, waits for the next pull.
func componentState(state schedule.State, imported bool, problem catalog.FailureKind) string {
	switch {
	case imported:
		return stateReady
	case state.Finished() && (state.Err != nil && !errors.Is(state.Err, catalog.ErrConflict) || problem != ""):
		return stateFailed
	case state.Status == schedule.Running:
		return stateImporting
	default:
		return statePending
	}
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	writeEncoded(w, status, encode(body, 0))
}

func writeEncoded(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

// encode returns the line of JSON of a body whose levels are indented by blanks.
func encode(body any, indent int) []byte {
	text, _ := wire.JSON(body, indent) // maps, texts and numbers have a form
	return append(text, '\n')
}

// The bounds of problems: a repository can hold any number of broken files, with long names.
const (
	maxProblems    = 100   // of a component that are kept and shown
	maxProblemText = 1_000 // bytes of one
)

// problems keeps by component the files that the last pull to read them did not serve, and why.
type problems struct {
	mu sync.Mutex
	of map[string][]string // by PROJECT/COMPONENT
}

// note stores the problems that a pull found and returns the new ones.
func (p *problems) note(c *ingest.ComponentReport) []string {
	if c.Problems == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	name := c.Project + "/" + c.Slug
	old := p.of[name]
	p.of[name] = FirstProblems(c.Problems)
	return slices.DeleteFunc(slices.Clone(p.of[name]), func(s string) bool { return slices.Contains(old, s) })
}

// FirstProblems returns the first problems of a list, shortened, and the number of the others.
func FirstProblems(all []string) []string {
	list := make([]string, 0, min(len(all), maxProblems+1))
	for _, s := range all[:min(len(all), maxProblems)] {
		if len(s) > maxProblemText {
			s = strings.ToValidUTF8(s[:maxProblemText/2]+"…"+s[len(s)-maxProblemText/2:], "")
		}
		list = append(list, s)
	}
	if more := len(all) - maxProblems; more > 0 {
		list = append(list, fmt.Sprintf("and %d more files", more))
	}
	return list
}

// list returns the problems of a component, never nil.
func (p *problems) list(project, slug string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.of[project+"/"+slug]...)
}

// maxLogged bounds the new failures in one line of the log.
const maxLogged = 10

// NewFailureLines describes new failures of a pull, up to most, and the number of the others.
func NewFailureLines(report *ingest.Report, most int) (lines []string) {
	names := map[int64]string{}
	for i := range report.Components {
		c := &report.Components[i]
		names[c.ID] = c.Project + "/" + c.Slug
	}
	for _, f := range report.NewFailures.List[:min(most, len(report.NewFailures.List))] {
		name, ok := names[f.ComponentID]
		if !ok {
			name = "component " + strconv.FormatInt(f.ComponentID, 10)
		}
		source := strings.ReplaceAll(f.Source, catalog.FormSeparator, " / ")
		lines = append(lines, fmt.Sprintf("%s %s: %s: %q (unit %d)", name, f.Language, f.Check, source, f.UnitID))
	}
	if more := report.NewFailures.Total - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}
