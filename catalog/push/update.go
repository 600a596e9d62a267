package push

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/editing"
	"github.com/repoglot/repoglot/catalog/flush"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/msgmerge"
)

// self is who updates files.
func (p *Pusher) self() edit.Author { return edit.Author{Name: p.Name, Email: p.Email()} }

// noteTemplates stores which of some components have another template than their files were
// compared with. It looks once at each head.
func (p *Pusher) noteTemplates(ctx context.Context, rows []store.BranchComponent) error {
	for i := range rows {
		row := &rows[i]
		if looked, _ := p.looked.Load(row.ID); looked == row.At() || !row.Settings.Edits.Update.On {
			continue
		}
		if err := p.Editor.NoteTemplate(ctx, row.ID, edit.UpdateByItself, p.self()); err != nil {
			return err
		}
		p.looked.Store(row.ID, row.At())
	}
	return nil
}

// waits reports whether an edit is of a template that is not quiet for long enough.
func (p *Pusher) waits(row *store.BranchComponent, e *store.Edit) bool {
	age := p.Now().Sub(e.Created)
	return e.Kind == store.EditTemplate && e.Context == edit.UpdateByItself && age < row.Settings.Edits.Update.After && age >= -ahead
}

// updateFiles compares the files of components with templates that have changed, and makes
// edits of the updates. A template that would cost the files more than half of their strings
// waits for an admin, as one that cannot be read waits for another one: reasons has those of kept.
func (p *Pusher) updateFiles(ctx context.Context, held *ingest.Held, rows []store.BranchComponent) (kept []store.Edit, reasons map[int64]string, err error) {
	reasons = map[int64]string{}
	if err := p.noteTemplates(ctx, rows); err != nil {
		return nil, nil, err
	}
	for i := range rows {
		row := &rows[i]
		due, err := store.Get(ctx, p.DB, (*store.Snapshot).PendingFiles, row.ID)
		due = slices.DeleteFunc(due, func(e store.Edit) bool { return e.Kind != store.EditTemplate || p.waits(row, &e) })
		for k := 0; k < len(due) && err == nil; k++ {
			e := &due[k]
			if reasons[e.ID], err = p.compare(ctx, held, row, e); reasons[e.ID] != "" {
				kept = append(kept, *e)
			}
		}
		if err != nil {
			return kept, reasons, err
		}
	}
	return kept, reasons, nil
}

// compare is updateFiles for one component; reason says why nothing is updated.
func (p *Pusher) compare(ctx context.Context, held *ingest.Held, row *store.BranchComponent, e *store.Edit) (reason string, err error) {
	if head, err := held.Mirror().Head(); err != nil || head.Hash.String() != row.Head {
		return "", nil // the next pull comes first
	}
	all, err := store.Get(ctx, p.DB, (*store.Snapshot).Translations, row.ID)
	if err != nil {
		return "", err
	}
	source := store.TemplateOf(all)
	if source != nil && source.Filename == e.Path && e.Context != edit.UpdateForced {
		var sum catalog.Progress
		for i := range all {
			sum.Add(catalog.NewProgress(&all[i], source))
		}
		if sum.Missing > p.most {
			return fmt.Sprintf("the files lack %d strings of %s, more than %d: if that is meant, send operation msgmerge with force", sum.Missing, e.Path, p.most), nil
		}
	}
	reader, err := held.Mirror().Reader(ctx)
	if err != nil {
		return "", err
	}
	defer reader.Close()
	byPath := map[string]*catalog.Translation{e.Path: nil}
	for i := range all {
		if !all[i].IsSource {
			byPath[all[i].Filename] = &all[i]
		}
	}
	list, err := reader.Snapshot(ctx, reader.Head().Hash, func(path string) bool {
		_, wanted := byPath[path]
		return wanted
	}, nil)
	if err != nil {
		return "", err
	}
	var text []byte
	if row.Settings.TemplateElsewhere() {
		err = p.DB.Read(ctx, func(ctx context.Context, snap *store.Snapshot) (err error) {
			text, err = elsewhere(ctx, snap, all)
			return err
		})
	} else if f := catalog.Find(list, func(f *object.File) bool { return f.Path == e.Path }); f != nil {
		text, err = reader.Blob(ctx, f.Blob, p.MaxFile)
	}
	switch {
	case err != nil:
		return "", err
	case text == nil:
		return "the repository has no " + e.Path, nil
	}
	parsed, err := poparse.Parse(e.Path, text)
	if err != nil {
		return err.Error(), nil
	}
	template, err := msgmerge.NewTemplate(parsed)
	if err != nil {
		return err.Error(), nil
	}
	var files, broken []editing.FileUpdate
	changed, had, gone := row.Settings.Edits.Update.Any || e.Context != edit.UpdateByItself, 0, 0
	for _, f := range list {
		t := byPath[f.Path]
		if t == nil {
			continue
		}
		if text, err = reader.Blob(ctx, f.Blob, p.MaxFile); err != nil {
			return "", err
		}
		u, err := flush.Compare(f.Path, text, template, p.msgmerge(row))
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil: // its edit stays, with the reason; the others are updated
			broken = append(broken, editing.FileUpdate{TranslationID: t.ID, Language: t.Language, Path: f.Path})
			continue
		case !u.Same:
			files = append(files, editing.FileUpdate{TranslationID: t.ID, Language: t.Language, Path: f.Path})
		}
		changed, had, gone = changed || u.Changed(), had+u.Strings, gone+u.Gone
	}
	e.Lossy = gone > had/2 || gone > 0 && e.Lossy // what was added since is made of this template
	if e.Lossy && e.Context != edit.UpdateForced {
		return fmt.Sprintf("%s lacks %d of %d strings of the files: if that is meant, send operation msgmerge with force", e.Path, gone, had), nil
	}
	if !changed {
		files = nil
	}
	return "", p.Editor.UpdateFiles(ctx, e, sumOf(parsed), append(files, broken...), p.self())
}

// elsewhere returns what a component serves of a template that is elsewhere.
func elsewhere(ctx context.Context, snap *store.Snapshot, all []catalog.Translation) ([]byte, error) {
	t := store.TemplateOf(all)
	if t == nil {
		return nil, nil
	}
	f, err := snap.File(ctx, t.ID)
	return f.Data, err
}

// templateName names the template of a component among the files of a flush: by its path, or
// by more if that is elsewhere.
func templateName(row *store.BranchComponent, path string) string {
	if row.Settings.TemplateElsewhere() {
		return row.Project.Slug + "/" + row.Slug + ": " + path
	}
	return path
}

// sumOf tells the strings of a template from those of another one.
func sumOf(template *poparse.File) string {
	var list [][sha256.Size]byte
	var text []byte
	for e := range template.Live() {
		text = fmt.Appendf(text[:0], "%q %t %q %q", e.Context, e.HasPlural, e.ID, e.IDPlural)
		list = append(list, sha256.Sum256(text))
	}
	slices.SortFunc(list, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	h := sha256.New()
	for i := range list {
		h.Write(list[i][:])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// msgmerge are the options of the updates of a component.
func (p *Pusher) msgmerge(row *store.BranchComponent) msgmerge.Options {
	u := &row.Settings.Edits.Update
	return msgmerge.Options{
		Previous: u.Previous, NoFuzzyMatching: u.NoFuzzyMatching, NoLocation: u.NoLocation, NoWrap: u.NoWrap,
	}
}

// endUpdates ends the updates of files that are as their template wants them, at the head
// or on the branch that is read after a push.
func (r *run) endUpdates(ctx context.Context, result flush.Result) error {
	done := map[int64][]store.Edit{}
	for i, u := range result.Updated {
		if e := r.ofFiles[i]; result.FileProblems[i] == nil && (u.Same || r.group.mode == catalog.PushDirect) {
			if u.Stopped {
				e.Reason = edit.UpdateStopped
			} else if e.Reason != edit.UpdateStopped { // else what stopped was merged
				e.Reason = ""
			}
			done[e.ComponentID] = append(done[e.ComponentID], e)
		}
	}
	for component, edits := range done {
		if err := r.Editor.Updated(ctx, component, edits); err != nil {
			return err
		}
	}
	return nil
}
