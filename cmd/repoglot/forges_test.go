package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/forge"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// forgeEnd is how a request ends.
type forgeEnd struct {
	name     string
	where    string // CI looks at it everywhere, nowhere, or on GitHub; the short form everywhere only
	end      func(p *forgeProject)
	want     string // as forgeProject.state has it
	requests string // the states of the requests
	// logged are the entries since the request was opened, by action.
	logged string
	// then is what happens afterwards.
	then func(p *forgeProject)
}

const (
	allFlushed = "Jedna Dva | Jedna flushed, Dva flushed"
	allPending = "Jedna* Dva* | Jedna pending, Dva pending"
	refused    = "conflict the request 1 was closed without a merge"
	allRefused = "? Dvě? | Jedna " + refused + ", Dva " + refused
)

// forgeEnds are all ends of docs/editing.md#what-happens-when-.
func forgeEnds() []forgeEnd {
	const maintainer = "Maintainer <m@example.org>"
	merge := func(p *forgeProject) {
		p.repo.Commit(p.t, testrepos.Change{Author: maintainer, Merge: p.branch()})
	}
	button := func(do func(p *forgeProject)) func(p *forgeProject) {
		return func(p *forgeProject) {
			do(p)
			p.fake.End(1, "merged")
		}
	}
	texts := func(one, two string) func(*forgeProject) { return func(p *forgeProject) { p.theirs(one, two) } }
	put := func(c testrepos.Change) func(*forgeProject) {
		return func(p *forgeProject) { p.repo.Commit(p.t, c) }
	}
	without := strings.Replace(forgeFile, "\nmsgid \"Two\"\nmsgstr \"Dvě\"\n", "", 1)
	return []forgeEnd{
		{name: "merged", end: button(merge), want: allFlushed, requests: "merged"},
		{name: "closed", where: "everywhere", end: func(p *forgeProject) { p.fake.End(1, "closed") }, want: allRefused, requests: "closed", logged: "59 59", then: restored},
		{name: "merged, and its branch is removed", where: "nowhere", end: button(func(p *forgeProject) {
			merge(p)
			p.repo.Branch(p.t, p.branch(), "")
		}), want: allFlushed, requests: "merged"},
		{name: "merged by a push", where: "nowhere", end: merge, want: allFlushed, requests: "merged"},
		{name: "squashed", where: "nowhere", end: button(texts("Jedna", "Dva")), want: allFlushed, requests: "merged"},
		{name: "rebased", end: button(func(p *forgeProject) {
			p.repo.Commit(p.t, testrepos.Change{Files: map[string]string{"x": "y"}})
			p.repo.Commit(p.t, testrepos.Change{Files: map[string]string{"po/cs.po": p.ours()}, Author: "Jana Nováková <jana@example.org>"})
		}), want: allFlushed, requests: "merged"},
		{name: "cherry-picked, all of it", end: texts("Jedna", "Dva"), want: allFlushed, requests: "closed"},
		{name: "cherry-picked in part", end: texts("Jedna", "Dvě"), want: "Jedna Dva* | Jedna flushed, Dva pending", requests: "open", then: func(p *forgeProject) {
			if body := p.fake.Requests()[0].Body; strings.Contains(body, "Jedna") {
				p.t.Errorf("the request still has what was taken:\n%s", body)
			}
		}},
		{name: "edited by the maintainer first", end: button(texts("Jednička", "Dva")), want: "Jednička? Dva | Jedna conflict conflict, Dva flushed", requests: "merged", logged: "59"},
		{name: "the branch is removed", end: func(p *forgeProject) { p.repo.Branch(p.t, p.branch(), "") }, want: allRefused, requests: "closed", logged: "59 59"},
		{name: "the request is removed", end: func(p *forgeProject) { p.fake.End(1, "removed") }, want: allPending, requests: "removed open"},
		{name: "the main branch is rewritten", end: func(p *forgeProject) {
			p.repo.Commit(p.t, testrepos.Change{Branch: "fresh", Files: map[string]string{"po/cs.po": forgeFile, "root": "new"}})
			p.repo.Branch(p.t, "main", "fresh")
		}, want: allPending, requests: "open"},
		{name: "a string is gone", end: put(testrepos.Change{Files: map[string]string{"po/cs.po": without}}), want: "Jedna* | Jedna pending, Dva pending the file does not have the string now: the edit waits for it, for 90 days", requests: "open", logged: "63", then: func(p *forgeProject) {
			p.repo.Commit(p.t, testrepos.Change{Files: map[string]string{"po/cs.po": forgeFile}})
			p.push()
			p.wants(allPending, "the string is back")
		}},
		{
			name: "the template is updated", end: put(testrepos.Change{Files: map[string]string{"po/cs.po": forgeFile + "\nmsgid \"Three\"\nmsgstr \"\"\n"}}),
			want: "Jedna* Dva*  | Jedna pending, Dva pending", requests: "open", logged: "31",
		},
		{name: "the file is moved", end: moved, want: allPending, requests: "open"},
	}
}

// restored enters the text of one refused edit again: it gets a request of its own, which
// is merged.
func restored(p *forgeProject) {
	p.call(http.MethodPost, fmt.Sprintf("/api/edits/%d/restore/", p.edits()[1].ID), "jana", nil, nil)
	p.push()
	p.wants("? Dva* | Jedna "+refused+", Dva "+refused+", Dva pending", "restored")
	if list := p.fake.Requests(); len(list) != 2 || list[1].State != "open" || strings.Contains(list[1].Body, "Jedna") || !strings.Contains(list[1].Body, "Dva") {
		p.t.Errorf("the request of what was restored: %+v", list)
	}
	p.repo.Commit(p.t, testrepos.Change{Merge: p.branch()})
	p.fake.End(2, "merged")
	p.push()
	p.wants("? Dva | Jedna "+refused+", Dva "+refused+", Dva flushed", "restored and merged")
}

// moved moves the file, and says so in the configuration.
func moved(p *forgeProject) {
	p.repo.Commit(p.t, testrepos.Change{Files: map[string]string{"l10n/cs.po": forgeFile}, Delete: []string{"po/cs.po"}})
	p.settings["filemask"] = "l10n/*.po"
	p.configure()
	if !until(func() bool {
		_, answer := p.try(http.MethodGet, "/api/translations/"+p.slug+"/app/cs/", "", nil)
		return strings.Contains(string(answer), `"filename":"l10n/cs.po"`)
	}) {
		p.t.Error("the file that was moved is not found")
	}
}

// TestForges: a whole server opens a request on each forge, updates it in place, and knows
// what became of its texts, however the request ends (docs/editing.md#what-happens-when-).
// It reaches the forge by https, and pushes with its token.
func TestForges(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it starts servers and pushes")
	}
	t.Parallel()
	w, whole := newForgeWorld(t), t
	type run struct {
		forgeEnd
		*forgeProject
	}
	var runs []run
	for _, kind := range forge.Kinds() {
		for _, end := range forgeEnds() {
			switch {
			case kind == "gitlab" && end.name == "the branch is removed": // which GitLab survives
				end.want, end.requests, end.logged = allPending, "open", ""
			case kind != "github" && kind != "gitlab" && end.name == "merged by a push": // which is no merge for them
				end.requests = "closed"
			}
			if end.where == "everywhere" || kind == "github" && end.where == "" || testsize.Nightly() {
				var settings map[string]any
				if kind == "forgejo" {
					settings = map[string]any{"push_branch": "l10n", "request_per": "language"}
				}
				runs = append(runs, run{end, w.add(kind, map[string]string{"po/cs.po": forgeFile}, settings)})
			}
		}
	}
	w.start()
	for _, r := range runs {
		t.Run(r.fake.Kind+" "+r.name, func(t *testing.T) {
			p := r.forgeProject
			w.t = t
			defer func() { w.t = whole }()
			p.opens(r.where == "everywhere")
			first, last := p.entries(0)
			if got := strings.Join(first, " "); got != "2 31 5" && got != "2 31 31 5" {
				t.Errorf("entries of the edits: %q", got)
			}
			r.end(p)
			p.push()
			p.wants(r.want, "afterwards")
			var states []string
			for _, request := range p.fake.Requests() {
				states = append(states, request.State)
			}
			if got := strings.Join(states, " "); got != r.requests {
				t.Errorf("requests are %q, want %q", got, r.requests)
			}
			entries, _ := p.entries(last)
			if got := strings.Join(entries, " "); got != r.logged {
				t.Errorf("entries %q, want %q", got, r.logged)
			}
			if r.then != nil {
				r.then(p)
			}
		})
	}
}

// opens edits two strings and wants a request with both, updated in place if that is asked.
func (p *forgeProject) opens(updated bool) {
	p.t.Helper()
	p.edit("jana", "One", "Jedna")
	if updated {
		p.push()
	}
	p.edit("jana", "Two", "Dva")
	p.push()
	p.wants(allPending, "in the request")
	list := p.fake.Requests()
	if len(list) != 1 || list[0].State != "open" || list[0].Head != p.branch() || list[0].Base != "main" || !strings.Contains(list[0].Body, "| `cs` | `Two` | `Dvě` | `Dva` |") || !strings.Contains(list[0].Body, "| `cs` | `One` | – | `Jedna` |") {
		p.t.Fatalf("the request: %+v", list)
	}
	if got, want := p.ours(), forgeTexts("Jedna", "Dva"); strings.Count(got, "\n") != strings.Count(want, "\n") || !strings.HasSuffix(want, got[strings.Index(got, "\nmsgid \"One\""):]) {
		p.t.Errorf("the file on our branch:\n%s", got)
	}
}

// wants compares what is served.
func (p *forgeProject) wants(state, when string) {
	p.t.Helper()
	if got := p.state(); got != state {
		p.t.Errorf("%s: state %q, want %q", when, got, state)
	}
}
