package web

import (
	"context"
	"strings"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/poparse/diff"
)

// comparison is what two commits differ in.
type comparison struct {
	Commits          []link // from, to
	SourceLanguage   string
	Files            []comparedFile
	Strings          []comparedString
	Ignored, Omitted int64 // changes without a meaning; strings that are counted only
}

type comparedFile struct {
	*diff.File
	URL   string
	Other int // changes that have no column
}

type comparedString struct {
	diff.String
	File         *diff.File
	First        bool // of its file on this page
	Source, Text []span
	State        catalog.State
	Lines        []comparedLines
	Checks       []string // messages of those that fail now
}

type comparedLines struct {
	Mark string // that the lines have in the file
	Diff []span
}

func (p *Pages) compare(ctx context.Context, snap *store.Snapshot, r *rest.Request, v *view, row *store.ComponentRow) error {
	report, err := p.env.Compare(ctx, snap, r, row)
	if err != nil {
		return err
	}
	if keep := resource.KeepOf(row); keep == rest.KeepNever { // else the page is kept if it is asked for: the program may change
		v.Keep = keep
	}
	v.named(v.L.T("Comparison"), where(row))
	c := comparison{SourceLanguage: row.Settings.SourceLanguage}
	v.Body = &c
	for _, id := range []string{report.Base, report.Head} {
		c.Commits = append(c.Commits, link{Name: id, URL: commitURL(row.Settings.Repoweb, id)})
	}
	g, only := report.Ignored, v.param("file")
	c.Ignored = int64(g.References + g.Dates + g.Order + g.Wrapping + g.Obsolete + g.Marks)
	for i := range report.Files {
		f, n := &report.Files[i], &report.Files[i].Counts
		c.Files = append(c.Files, comparedFile{f, v.with("file", f.Path), n.Emptied + n.Confirmed + n.Forms + n.Comments + n.Notes + n.Flags + n.Header})
		if only == f.Path {
			c.Files[i].URL = v.with("file", "") // back to all
		} else if only != "" {
			continue
		}
		c.Omitted += int64(f.Omitted)
		for _, s := range f.Strings {
			c.Strings = append(c.Strings, comparedString{String: s, File: f})
		}
	}
	v.Pages, c.Strings = cutPage(v, "page", c.Strings, stringsOnPage)
	for i := range c.Strings {
		s := &c.Strings[i]
		s.First = i == 0 || s.File != c.Strings[i-1].File
		s.fill()
	}
	return nil
}

// fill marks what changed in a string.
func (s *comparedString) fill() {
	join := func(id, plural string) string {
		if plural == "" {
			return id
		}
		return id + catalog.FormSeparator + plural
	}
	old, source := join(s.OldSource, s.OldPlural), join(s.String.Source, s.Plural)
	if s.Kind != "reworded" {
		old = source
	}
	s.Source = difference(old, source)
	texts := [2]string{}
	for i, t := range []*diff.Text{s.Old, s.New} {
		if t != nil {
			texts[i] = strings.Join(t.Forms, catalog.FormSeparator)
			s.State = map[string]catalog.State{"fuzzy": catalog.StateFuzzy, "translated": catalog.StateTranslated}[t.State]
		}
	}
	s.Text = difference(texts[0], texts[1])
	for _, c := range s.File.Checks {
		if s.New != nil && c.Line == s.Line {
			s.Checks = append(s.Checks, c.Message)
		}
	}
	for _, l := range s.String.Lines {
		mark := map[string]string{"comment": "#", "note": "#.", "flags": "#,"}[l.Name]
		s.Lines = append(s.Lines, comparedLines{mark, difference(strings.Join(l.Old, "\n"), strings.Join(l.New, "\n"))})
	}
}

// comparable sets the address of the comparison of the oldest commit of changes with
// the newest one. Those of a template may be of another repository.
func (p *Pages) comparable(v *view, c *store.ComponentRow, changes []change) {
	var oldest, newest *change
	for i := range changes {
		of := &changes[i]
		if of.Commit == "" || of.Kind == "event" {
			continue
		}
		if oldest == nil || of.CommitTime.Before(oldest.CommitTime) {
			oldest = of
		}
		if newest == nil || of.CommitTime.After(newest.CommitTime) {
			newest = of
		}
	}
	if p.env.Commits != nil && oldest != nil && oldest.Commit != newest.Commit && !c.Settings.TemplateElsewhere() {
		v.Compare = path("projects", c.Project.Slug, c.Slug, "compare", oldest.Commit+"..."+newest.Commit)
	}
}
