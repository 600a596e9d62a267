package editing

import (
	"context"
	"errors"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/poparse"
)

// Upload makes edits, or suggestions, of a PO file for a translation, as Edit does. An
// error of the file is an [*edit.InvalidError] of the field file.
func (d *Editor) Upload(ctx context.Context, component, translation int64, by edit.Author, data []byte, o edit.UploadOptions) (counts edit.Counts, err error) {
	if err := o.Validate(); err != nil {
		return counts, err
	}
	if len(data) == 0 {
		return counts, &edit.InvalidError{Field: "file", Message: "The submitted file is empty."}
	}
	f, err := poparse.Parse("file", data)
	if err != nil {
		return counts, &edit.InvalidError{Field: "file", Message: err.Error()}
	}
	defer wrap(&err, "upload into translation %d", translation)
	err = d.editing(ctx, component, translation, by, func(ctx context.Context, e *transaction) (err error) {
		counts, err = e.upload(ctx, f, o)
		return err
	})
	return counts, err
}

func (e *transaction) upload(ctx context.Context, f *poparse.File, o edit.UploadOptions) (counts edit.Counts, err error) {
	known, err := e.tx.Known(ctx, e.translation)
	if err != nil {
		return counts, err
	}
	all := make(map[catalog.Identity]int64, len(known))
	for i := range known {
		if !known[i].Removed {
			all[known[i].Identity] = known[i].ID
		}
	}
	var ids []int64
	for p := range f.Live() {
		source := p.ID
		if p.HasPlural {
			source += catalog.FormSeparator + p.IDPlural
		}
		if id, ok := all[e.hasher.Identity(source, p.Context)]; ok {
			ids = append(ids, id)
		}
	}
	units, err := e.load(ctx, slices.Compact(slices.Sorted(slices.Values(ids))))
	if err != nil {
		return counts, err
	}
	if err := edit.CheckUpload(f, e.row.PluralNumber, e.row.PluralFormula); err != nil {
		return counts, err
	}
	changes, counts, err := edit.Upload(f, o, len(all), func(id catalog.Identity) (edit.Current, bool) {
		u, ok := units[all[id]]
		return edit.Current{
			Text: edit.Text{Target: u.Target, State: u.State}, ReadOnly: u.State == catalog.StateReadOnly, Forms: catalog.FormsOf(u.Source, e.row.PluralNumber),
		}, ok
	})
	if err != nil {
		return counts, err
	}
	for i := range changes {
		c := &changes[i]
		u := units[all[e.hasher.Identity(c.Source, c.Context)]]
		if o.Method == edit.Suggest {
			if _, err = e.suggest(ctx, &u, c.Text); errors.Is(err, errSuggested) {
				counts.Accepted, counts.Skipped, err = counts.Accepted-1, counts.Skipped+1, nil
			}
		} else {
			_, err = e.one(ctx, &edit.Request{UnitID: u.ID, Target: catalog.SplitForms(c.Text.Target), State: c.Text.State}, u)
		}
		if err != nil {
			return counts, err
		}
	}
	return counts, e.store(ctx)
}
