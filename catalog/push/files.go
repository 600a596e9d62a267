package push

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/edit/message"
	"github.com/repoglot/repoglot/catalog/flush"
	"github.com/repoglot/repoglot/catalog/store"
)

// files returns the files of the group with their pending edits, and sets r.edits.
func (r *run) files(ctx context.Context) (files []flush.File, err error) {
	r.edits, r.codes, r.ofFiles, r.counts = nil, nil, nil, nil
	err = r.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		for i := range r.group.rows {
			row := &r.group.rows[i]
			if err := r.readOfFiles(ctx, snap, row); err != nil {
				return err
			}
			pending, err := snap.PendingTexts(ctx, row.ID)
			pending = slices.DeleteFunc(pending, func(e store.Edit) bool { return r.committed && !e.Committed })
			if err != nil || len(pending) == 0 {
				if err != nil {
					return err
				}
				continue
			}
			translations, err := snap.Translations(ctx, row.ID)
			if err != nil {
				return err
			}
			for t := range translations {
				r.addFile(&files, row, &translations[t], pending)
			}
		}
		return nil
	})
	return files, err
}

// addFile adds the file of a translation, if it has pending edits.
func (r *run) addFile(files *[]flush.File, row *store.BranchComponent, t *catalog.Translation, pending []store.Edit) {
	if slices.ContainsFunc(r.ofFiles, func(e store.Edit) bool {
		return e.Path == t.Filename && e.ComponentID == row.ID && e.Kind != store.EditAddString
	}) {
		return // it is being removed
	}
	s := &row.Settings
	f := flush.File{
		Component: componentKey(row.ID), Language: t.Language, Path: t.Filename,
		Options: edit.Options{Gate: s.Edits.Gate, Forms: t.PluralNumber},
	}
	if s.Edits.Overrule {
		f.Options.Policy = edit.KeepEdit
	}
	var edits []store.Edit
	var last time.Time
	for _, p := range pending {
		if p.TranslationID != t.ID {
			continue
		}
		if !r.group.takes(row, t.Language, p.Last()) {
			continue
		}
		edits = append(edits, p)
		f.Edits = append(f.Edits, p.Edit)
		if p.Updated.After(last) {
			last = p.Updated
		}
	}
	if len(edits) == 0 {
		return
	}
	if !s.Edits.KeepHeader {
		f.Options.Revision = last
	}
	*files, r.edits, r.codes = append(*files, f), append(r.edits, edits), append(r.codes, t.Language)
}

// message returns the function that renders the message of a commit from the template of
// its component.
func (r *run) message(_ []flush.File) func(flush.Group) string {
	return func(g flush.Group) string {
		id, _ := strconv.ParseInt(g.Component, 10, 64)
		for i := range r.group.rows {
			if row := &r.group.rows[i]; row.ID == id {
				text := row.Settings.CommitMessage
				switch {
				case g.Adds:
					text = row.Settings.AddMessage
				case g.Removes:
					text = row.Settings.DeleteMessage
				}
				t, err := message.Parse(message.Translation, text)
				if err != nil {
					return "" // the configuration is checked; else our own message
				}
				return t.Render(r.values(row, g))
			}
		}
		return ""
	}
}

// values are what a template can say of a commit.
func (r *run) values(row *store.BranchComponent, g flush.Group) message.Values {
	v := r.componentValues(row)
	v.Author = message.Person(g.Author.Name, g.Author.Email)
	var names []string
	for _, code := range g.Languages {
		name := code
		if l, ok := r.Languages.ByCode(code); ok {
			name = l.Name
		}
		names = append(names, name)
	}
	var codes []string
	for _, path := range g.Files {
		code, _ := r.Syncer.FileCode(row, path)
		codes = append(codes, cmp.Or(code, strings.Join(g.Languages, ", ")))
	}
	slices.Sort(codes)
	v.Language, v.LanguageCode, v.Filename = strings.Join(names, ", "), strings.Join(slices.Compact(codes), ", "), strings.Join(g.Files, ", ")
	if len(g.Languages) == 1 {
		v.URL += g.Languages[0] + "/"
	}
	v.Stats = r.stats(row, g.Languages)
	return v
}

// stats sums the statistics of translations, with the pending edits that are pushed: those of
// others must not change the commits of a request. They are for people: what cannot be read
// is zero.
func (r *run) stats(row *store.BranchComponent, languages []string) (sum catalog.Stats) {
	byLanguage, known := r.counts[row.ID]
	if !known {
		byLanguage = map[string]catalog.Stats{}
		_ = r.DB.Read(context.Background(), func(ctx context.Context, snap *store.Snapshot) error {
			all, err := snap.Translations(ctx, row.ID)
			for i := range all {
				of := byLanguage[all[i].Language]
				of.Add(all[i].Stats)
				byLanguage[all[i].Language] = of
			}
			if err == nil && r.group.keyed {
				err = r.withoutOthers(ctx, snap, row, all, byLanguage)
			}
			return err
		})
		if r.counts == nil {
			r.counts = map[int64]map[string]catalog.Stats{}
		}
		r.counts[row.ID] = byLanguage
	}
	for _, code := range languages {
		sum.Add(byLanguage[code])
	}
	return sum
}

// withoutOthers counts the strings of edits that go to another branch as the repository has
// them.
func (r *run) withoutOthers(ctx context.Context, snap *store.Snapshot, row *store.BranchComponent, all []catalog.Translation, stats map[string]catalog.Stats) error {
	pending, err := snap.PendingTexts(ctx, row.ID)
	if err != nil {
		return err
	}
	before, codes := map[int64]catalog.State{}, map[int64]string{}
	for i := range all {
		codes[all[i].ID] = all[i].Language
	}
	var ids []int64
	for i := range pending {
		if code, there := codes[pending[i].TranslationID]; there && !r.group.takes(row, code, pending[i].Last()) {
			before[pending[i].UnitID] = pending[i].Base.State
			ids = append(ids, pending[i].UnitID)
		}
	}
	units, err := snap.UnitsByID(ctx, []int64{row.ID}, ids)
	for i := range units {
		u := &units[i]
		of := stats[codes[u.TranslationID]]
		var now catalog.Stats
		now.AddUnit(u)
		of.Subtract(now)
		u.State = before[u.ID]
		of.AddUnit(u)
		stats[codes[u.TranslationID]] = of
	}
	return err
}

func (r *run) componentValues(row *store.BranchComponent) message.Values {
	page := r.BaseURL + "/projects/" + row.Project.Slug + "/" + row.Slug + "/"
	v := message.Values{
		SiteTitle: r.SiteTitle, SiteURL: r.BaseURL, URL: page, WidgetURL: r.BaseURL + "/widget/" + row.Project.Slug + "/" + row.Slug + "/horizontal-auto.svg",
		Project: row.Project.Settings.Name, ProjectSlug: row.Project.Slug, Component: row.Settings.Name, ComponentSlug: row.Slug,
		RemoteBranch: "origin/" + row.Tracking,
	}
	for i := range r.group.rows {
		if o := &r.group.rows[i]; o.ID != row.ID {
			v.Linked = append(v.Linked, message.Linked{Project: o.Project.Settings.Name, Name: o.Settings.Name, URL: r.BaseURL + "/projects/" + o.Project.Slug + "/" + o.Slug + "/"})
		}
	}
	return v
}
