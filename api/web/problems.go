package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store"
)

// problem is why something is not served as it is in the repository.
type problem struct {
	Component, URL string // "" where the page is about the component
	File           string // "": a pull failed, or
	Push           bool   // a push of edits
	Template       bool   // File is the template, to which files are not updated
	Stopped        bool   // File was updated, without all similar strings
	Waits          bool   // File cannot be updated
	Mask, Branch   string // a filemask that selects no file of the branch
	Line           int
	Message        string
	Since          time.Time // zero: unknown
}

// where names a component with its project.
func where(c *store.ComponentRow) string { return c.Settings.Name + " · " + c.Project.Settings.Name }

// fillProblems lists which components are not imported yet, and what is wrong with them: failed
// pulls and pushes, filemasks without files, unreadable files with the time of the entry.
func (p *Pages) fillProblems(ctx context.Context, snap *store.Snapshot, v *view, rows []*store.ComponentRow, named bool) error {
	p.fillImporting(ctx, v, rows)
	byID, ids := map[int64]*store.ComponentRow{}, []int64{}
	for _, c := range rows {
		byID[c.ID], ids = c, append(ids, c.ID)
	}
	add := func(c *store.ComponentRow, p problem) {
		if named {
			p.Component, p.URL = where(c), path("projects", c.Project.Slug, c.Slug)
		}
		v.Problems = append(v.Problems, p)
	}
	for _, c := range rows {
		for _, f := range []*catalog.Failure{&c.Problem, &c.PushProblem} {
			if f.Failed() && len(v.Problems) < maxProblems {
				add(c, problem{Push: f == &c.PushProblem, Message: told(ctx, c, f), Since: f.Since})
			}
		}
	}
	masked := slices.DeleteFunc(slices.Clone(rows), func(c *store.ComponentRow) bool { return !c.Imported || c.Settings.Discovery.Found() })
	sums, err := snap.SumsByComponent(ctx, resource.ImportedIDs(masked))
	if err != nil {
		return err
	}
	has := map[int64]bool{}
	for i := range sums {
		has[sums[i].ComponentID] = has[sums[i].ComponentID] || !sums[i].Source
	}
	for _, c := range masked { // no setting can be corrected if the files that a discovery found are gone
		if !has[c.ID] && len(v.Problems) < maxProblems {
			add(c, problem{Mask: c.Settings.Filemask, Branch: cmp.Or(c.Tracking, c.Branch)})
		}
	}
	if err := p.addTemplates(ctx, snap, v, byID, add); err != nil {
		return err
	}
	found, err := snap.ProblemsOf(ctx, ids, maxProblems)
	if err != nil {
		return err
	}
	for i := range found {
		f := &found[i]
		since, err := sinceWhen(ctx, snap, f.ComponentID, f.Path)
		if err != nil {
			return err
		}
		add(byID[f.ComponentID], problem{File: f.Path, Line: f.Line, Message: f.Message, Since: since})
	}
	return nil
}

// addTemplates adds the templates to which files are not updated: they lost too many strings,
// or cannot be read. A component has at most one that is pending. Files that cannot be updated, or
// for which not all similar strings were found, are added until the next template.
func (p *Pages) addTemplates(ctx context.Context, snap *store.Snapshot, v *view, byID map[int64]*store.ComponentRow, add func(*store.ComponentRow, problem)) error {
	var on []int64
	for id, c := range byID {
		if c.Settings.Edits.Update.On {
			on = append(on, id)
		}
	}
	slices.Sort(on)
	list, _, err := snap.Edits(ctx, store.EditQuery{Components: on, Status: store.EditPending, Kind: store.EditTemplate, Limit: len(on), Counted: true})
	for i := range list {
		if e := &list[i]; e.Reason != "" && len(v.Problems) < maxProblems {
			add(byID[e.ComponentID], problem{Template: true, File: e.Path, Message: e.Reason, Since: e.Updated})
		}
	}
	updated := store.EditQuery{Components: on, Kind: store.EditUpdateFile}
	n := 0
	if err == nil {
		_, n, err = snap.Edits(ctx, updated)
	}
	if err != nil || n == 0 {
		return err
	}
	updated.Offset, updated.Limit, updated.Counted = max(0, n-maxProblems), maxProblems, true
	list, _, err = snap.Edits(ctx, updated)
	last := map[int64]string{}
	for _, e := range slices.Backward(list) {
		if last[e.ComponentID] == "" {
			last[e.ComponentID] = e.Source
		}
		stopped := e.Reason == edit.UpdateStopped
		waits := e.Reason != "" && e.Status == store.EditPending || stopped && e.Status == store.EditFlushed
		if waits && e.Source == last[e.ComponentID] && len(v.Problems) < maxProblems {
			add(byID[e.ComponentID], problem{Stopped: stopped, Waits: !stopped, File: e.Path, Message: e.Reason, Since: e.Updated})
		}
	}
	return err
}

// told is what the client may see of a failure; its time is shown beside it.
func told(ctx context.Context, c *store.ComponentRow, f *catalog.Failure) string {
	shown := *f
	shown.Since = time.Time{}
	return rest.AccessOf(ctx).Failure(&c.Project, &shown)
}

// sinceWhen is the time of the newest entry of a component about a file that cannot be read.
func sinceWhen(ctx context.Context, snap *store.Snapshot, component int64, file string) (time.Time, error) {
	entries, err := snap.Changes(ctx, store.ChangeQuery{ComponentID: component, Actions: []catalog.Action{catalog.ActionParseError}, Newest: true, Limit: maxProblems})
	for i := range entries {
		if entries[i].Event["filename"] == file || entries[i].Event["file"] == file {
			return entries[i].Timestamp, err
		}
	}
	return time.Time{}, err
}

// importing lists the components that are not imported yet.
type importing struct {
	Name, URL, Problem string
	Percent            int
	Running            bool
}

func (p *Pages) fillImporting(ctx context.Context, v *view, rows []*store.ComponentRow) {
	some := slices.ContainsFunc(rows, func(c *store.ComponentRow) bool { return c.Imported })
	for _, c := range rows {
		if c.Imported {
			continue
		}
		i := importing{Name: where(c), URL: path("projects", c.Project.Slug, c.Slug), Problem: told(ctx, c, &c.Problem)}
		i.Percent, i.Running = p.env.Progress(c)
		if v.Live = true; !some { // otherwise somebody may be reading
			v.Refresh = 5
		}
		v.Importing = append(v.Importing, i)
	}
}
