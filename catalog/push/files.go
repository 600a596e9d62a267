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
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
)

// read reads the pending edits of the group.
func (r *run) read(ctx context.Context) error {
	r.files, r.edits, r.ofFiles = nil, nil, nil
	r.counts, r.there = map[int64]map[string]catalog.Stats{}, map[string][]byte{}
	return r.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) error {
		for i := range r.group.rows {
			row := &r.group.rows[i]
			before := len(r.ofFiles)
			if !r.committed { // clones get files and strings when they are pushed
				list, err := snap.PendingFiles(ctx, row.ID)
				if err != nil {
					return err
				}
				list = slices.DeleteFunc(list, func(e store.Edit) bool {
					return e.Kind == store.EditTemplate || !r.group.takes(row, e.Language, e.Last())
				})
				r.ofFiles = append(r.ofFiles, list...)
			}
			pending, err := snap.PendingTexts(ctx, row.ID)
			pending = slices.DeleteFunc(pending, func(e store.Edit) bool { return r.committed && !e.Committed })
			if err != nil {
				return err
			}
			if len(pending)+len(r.ofFiles) == before {
				continue
			}
			translations, err := snap.Translations(ctx, row.ID)
			if err != nil {
				return err
			}
			if row.Settings.TemplateElsewhere() {
				if r.there[templateName(row, row.Settings.NewBase)], err = elsewhere(ctx, snap, translations); err != nil {
					return err
				}
			}
			template := store.TemplateOf(translations)
			for t := range translations {
				r.addFile(row, &translations[t], template, pending)
			}
		}
		return nil
	})
}

// addFile adds the file of a translation, if it has pending edits.
func (r *run) addFile(row *store.BranchComponent, t *catalog.Translation, template *catalog.Translation, pending []store.Edit) {
	if slices.ContainsFunc(r.ofFiles, func(e store.Edit) bool {
		return e.Path == t.Filename && e.ComponentID == row.ID && e.Kind == store.EditRemoveFile
	}) {
		return // it is being removed
	}
	s := &row.Settings
	f := flush.File{
		Component: componentKey(row.ID), Language: t.Language, Path: t.Filename,
		Options: edit.Options{Gate: s.Edits.Gate, Overrule: s.Edits.Overrule, Forms: t.PluralNumber, NoLocation: s.Edits.Update.NoLocation},
	}
	var edits []store.Edit
	var last time.Time
	for _, p := range pending {
		if p.TranslationID != t.ID || !r.group.takes(row, t.Language, p.Last()) {
			continue
		}
		edits = append(edits, p)
		f.Edits = append(f.Edits, p.Edit)
		if p.Base.Absent() && template != nil {
			f.Template = templateName(row, template.Filename)
		}
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
	r.files, r.edits = append(r.files, f), append(r.edits, edits)
}

// message renders the message of a commit from the template of its component.
func (r *run) message(g flush.Group) string {
	id, _ := strconv.ParseInt(g.Component, 10, 64)
	row := r.group.row(id)
	kind, text := message.Translation, row.Settings.CommitMessage
	switch {
	case g.Adds:
		text = row.Settings.AddMessage
	case g.Removes:
		text = row.Settings.DeleteMessage
	case g.Updates:
		kind, text = message.Addon, row.Settings.AddonMessage
	}
	t, err := message.Parse(kind, text)
	if err != nil {
		return "" // the configuration is checked; else our own message
	}
	return t.Render(r.values(row, g))
}

// values are what a template can say of a commit.
func (r *run) values(row *store.BranchComponent, g flush.Group) message.Values {
	v := r.componentValues(row)
	v.Author, v.Addon = message.Person(g.Author.Name, g.Author.Email), "msgmerge"
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
	before, byID := map[int64]catalog.State{}, catalog.ByKey(all, translationID)
	var ids []int64
	for i := range pending {
		if t := byID[pending[i].TranslationID]; t != nil && !r.group.takes(row, t.Language, pending[i].Last()) {
			before[pending[i].UnitID] = pending[i].Base.State
			ids = append(ids, pending[i].UnitID)
		}
	}
	units, err := snap.UnitsByID(ctx, []int64{row.ID}, ids)
	for i := range units {
		u := &units[i]
		code := byID[u.TranslationID].Language
		of := stats[code]
		var now catalog.Stats
		now.AddUnit(u)
		of.Subtract(now)
		if u.State = before[u.ID]; u.State != catalog.StateAbsent {
			of.AddUnit(u)
		}
		stats[code] = of
	}
	return err
}

func (r *run) componentValues(row *store.BranchComponent) message.Values {
	base := r.BaseURL()
	page := base + "/projects/" + row.Project.Slug + "/" + row.Slug + "/"
	v := message.Values{
		SiteTitle: r.SiteTitle, SiteURL: base, URL: page, WidgetURL: base + "/widget/" + row.Project.Slug + "/" + row.Slug + "/horizontal-auto.svg",
		Project: row.Project.Settings.Name, ProjectSlug: row.Project.Slug, Component: row.Settings.Name, ComponentSlug: row.Slug,
		RemoteBranch: "origin/" + row.Tracking,
	}
	for i := range r.group.rows {
		if o := &r.group.rows[i]; o.ID != row.ID {
			v.Linked = append(v.Linked, message.Linked{Project: o.Project.Settings.Name, Name: o.Settings.Name, URL: base + "/projects/" + o.Project.Slug + "/" + o.Slug + "/"})
		}
	}
	return v
}

// filesToChange returns what flush needs of the files and strings to be added, and the files
// to be removed.
func (r *run) filesToChange() []flush.FileChange {
	return catalog.Each(r.ofFiles, func(e *store.Edit) flush.FileChange {
		row := r.group.row(e.ComponentID)
		code, _ := r.Syncer.FileCode(row, e.Path)
		f := flush.FileChange{
			Component: componentKey(e.ComponentID), Path: e.Path, Code: cmp.Or(code, e.Language), Removes: e.Kind == store.EditRemoveFile,
			New: edit.NewFile{Code: e.Language, Author: e.Last()},
		}
		if l, ok := r.Languages.ByCode(e.Language); ok {
			f.New.Name, f.New.Plural = l.Name, l.Plural
		}
		switch e.Kind {
		case store.EditUpdateFile:
			o := r.msgmerge(row)
			f.Template, f.Update = templateName(row, row.Settings.NewBase), &o
		case store.EditAddFile, store.EditRemoveFile:
			f.Template = templateName(row, row.Settings.NewBase)
		default:
			f.String = &edit.NewString{Context: e.Context, Source: e.Source, Text: e.Ours, Author: e.Last()}
			if f.Options.Gate = row.Settings.Edits.Gate; !row.Settings.Edits.KeepHeader {
				f.Options.Revision = e.Last().Time
			}
		}
		return f
	})
}

// settleFiles ends the edits of files and strings that the repository has, as the last pull
// found, and of those that the component would not have.
func (p *Pusher) settleFiles(ctx context.Context, held *ingest.Held, rows []store.BranchComponent) error {
	for i := range rows {
		pending, err := store.Get(ctx, p.DB, (*store.Snapshot).PendingFiles, rows[i].ID)
		if err != nil {
			return err
		}
		if len(pending) == 0 {
			continue
		}
		there, known, err := filesAt(ctx, held, rows[i].Head, pending)
		if err == nil && known {
			err = p.Editor.Settle(ctx, rows[i], pending, there)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// filesAt returns which files of some edits a commit has. It is not known if the commit is
// not the mirror's.
func filesAt(ctx context.Context, held *ingest.Held, commit string, edits []store.Edit) (there map[string]bool, known bool, err error) {
	m := held.Mirror()
	if head, err := m.Head(); err != nil || head.Hash.String() != commit {
		return nil, false, nil // so the next pull finds it
	}
	reader, err := m.Reader(ctx)
	if err != nil {
		return nil, false, err
	}
	defer reader.Close()
	there = map[string]bool{}
	for i := range edits {
		there[edits[i].Path] = false
	}
	list, err := reader.Snapshot(ctx, reader.Head().Hash, func(path string) bool {
		_, asked := there[path]
		return asked
	}, nil)
	for i := range list {
		there[list[i].Path] = true
	}
	return there, true, err
}
