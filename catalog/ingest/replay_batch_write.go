package ingest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// batchWriter is one run of batch.write.
type batchWriter struct {
	*batch
	tx   *store.StepTx
	made map[int64]int64 // ids of new translations, by their number
}

// id is a translation's id in the store.
func (f *batchWriter) id(translation int64) int64 {
	if translation >= 0 {
		return translation
	}
	if id, ok := f.made[translation]; ok {
		return id
	}
	return f.sealed.ids[translation]
}

func (f *batchWriter) putTranslations(ctx context.Context) error {
	for _, t := range f.sealed.rows {
		number := t.ID
		t.ID = f.id(number) // 0 for a new one
		if err := f.tx.PutTranslation(ctx, &t); err != nil {
			return err
		}
		if number < 0 {
			f.made[number] = t.ID
		}
	}
	return nil
}

func (f *batchWriter) addUnits(ctx context.Context) error {
	units := make([]catalog.Unit, len(f.newUnits))
	list := make([]store.FingerprintedUnit, len(f.newUnits))
	for i, u := range f.newUnits {
		units[i] = u.Unit
		units[i].TranslationID = f.id(u.TranslationID)
		list[i] = u.fingerprinted(&units[i])
	}
	return f.tx.AddUnits(ctx, list)
}

// updateUnits stores the changes of units that were stored before the batch.
func (f *batchWriter) updateUnits(ctx context.Context) error {
	for _, c := range f.sealed.changed {
		var updated []store.FingerprintedUnit
		var removed []int64
		for _, u := range c.units {
			if u.rewritten {
				unit := u.Unit
				unit.TranslationID = f.id(unit.TranslationID)
				updated = append(updated, u.fingerprinted(&unit))
			}
			if u.Removed {
				removed = append(removed, u.ID)
			}
		}
		if err := f.tx.UpdateUnits(ctx, updated); err != nil {
			return err
		}
		if err := f.tx.RemoveUnits(ctx, removed); err != nil {
			return err
		}
	}
	return nil
}

func (f *batchWriter) putLayouts(ctx context.Context) error {
	for _, translation := range slices.Sorted(maps.Keys(f.layouts)) {
		sortByID(f.layouts[translation])
		if err := f.tx.PutLayout(ctx, f.id(translation), f.layouts[translation]); err != nil {
			return err
		}
	}
	return nil
}

func (f *batchWriter) putFiles(ctx context.Context) error {
	for _, translation := range slices.Sorted(maps.Keys(f.files)) {
		file := f.files[translation]
		file.TranslationID = f.id(translation)
		if err := f.tx.PutFile(ctx, file); err != nil {
			return err
		}
	}
	return nil
}

func (f *batchWriter) putStatDays(ctx context.Context) error {
	keys := slices.SortedFunc(maps.Keys(f.days), func(a, b dayKey) int {
		return cmp.Or(cmp.Compare(a.translation, b.translation), strings.Compare(a.day, b.day))
	})
	for _, key := range keys {
		d := f.days[key]
		d.TranslationID = f.id(d.TranslationID)
		if err := f.tx.PutStatDay(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (f *batchWriter) putProblems(ctx context.Context) error {
	keys := slices.SortedFunc(maps.Keys(f.problems), func(a, b problemKey) int {
		return cmp.Or(cmp.Compare(a.component, b.component), strings.Compare(a.path, b.path))
	})
	for _, key := range keys {
		var err error
		if p := f.problems[key]; p != nil {
			err = f.tx.SetProblem(ctx, *p)
		} else {
			err = f.tx.ClearProblem(ctx, key.component, key.path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addChanges stores the authors, in the order of appearance, and the entries.
func (f *batchWriter) addChanges(ctx context.Context) error {
	users := make([]int64, len(f.authors))
	for i, a := range f.authors {
		var err error
		if users[i], err = f.tx.User(ctx, a.name, a.email, a.at); err != nil {
			return err
		}
	}
	for _, d := range f.deltas {
		d.TranslationID = f.id(d.TranslationID)
		if d.AuthorID < 0 {
			d.AuthorID = users[-1-d.AuthorID]
		}
		if err := f.tx.AddDelta(ctx, d); err != nil {
			return err
		}
	}
	return nil
}
