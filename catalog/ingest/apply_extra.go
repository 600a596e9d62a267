package ingest

import (
	"context"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/catalog/store"
)

// extraStrings are the strings of a source translation that its template lacks
// (docs/compatibility.md#missing-strings).
type extraStrings struct {
	list   []store.ExtraString
	keys   []catalog.Identity         // parallel: of their contexts and msgids
	places map[catalog.Identity]int64 // of keys: the template's string, or 0
	hasher catalog.Hasher
}

// key identifies context and msgid of a string, whatever its msgid_plural.
func (e *extraStrings) key(u *unit.Unit) catalog.Identity {
	if msgid, _, plural := strings.Cut(u.Source, catalog.FormSeparator); plural {
		return e.hasher.Identity(msgid, u.Context)
	}
	return u.Identity
}

// add adds a string that the template lacks.
func (e *extraStrings) add(u *unit.Unit, id int64) {
	if e.places == nil {
		e.places = make(map[catalog.Identity]int64)
	}
	key := e.key(u)
	e.list, e.keys, e.places[key] = append(e.list, store.ExtraString{SourceID: id}), append(e.keys, key), 0
}

// match notes the template's string that an added one changed to. All must be added.
func (e *extraStrings) match(u *unit.Unit, id int64) {
	if len(e.list) == 0 {
		return
	}
	key := e.key(u)
	if place, ok := e.places[key]; ok && place == 0 { // of two in the template the first counts
		e.places[key] = id
	}
}

// putExtra stores the strings of a union that its first file, the template, lacks; had says
// that the component had a template before.
func (a *application) putExtra(ctx context.Context, w *unitWriter, all *unitedFiles, had bool) error {
	var e extraStrings
	if w.row.HasTemplate {
		for i := range all.units {
			if all.holders[i] > 0 {
				e.add(&all.units[i], w.ids[i])
			}
		}
		for i := range all.units {
			if all.holders[i] == 0 {
				e.match(&all.units[i], w.ids[i])
			}
		}
	}
	return e.put(ctx, a, w.row, had)
}

// put stores the strings. Only a component that has a template, or had one, has any.
func (e *extraStrings) put(ctx context.Context, a *application, row *catalog.Translation, had bool) error {
	if !had && !row.HasTemplate {
		return nil
	}
	for i, key := range e.keys {
		e.list[i].ChangedTo = e.places[key]
	}
	return a.tx.PutExtra(ctx, a.comp.row.ID, e.list)
}
