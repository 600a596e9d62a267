package ingest

import (
	"context"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/gitsource/object"
)

// aspect is the part of a string that is attributed: its fingerprint in a version
// of a file, or absent.
type aspect func(version, catalog.Identity) int64

// absent is the aspect of a string that a version does not have.
const absent = int64(0)

// version is one version of a file.
type version struct {
	file   *unit.File // nil: the file is missing, or broken
	broken bool       // it cannot be parsed
}

func (a *attributor) version(ctx context.Context, path string, blob object.Hash) (version, error) {
	if blob.IsZero() {
		return version{}, nil
	}
	f, err := a.loader.load(ctx, a.comp.row.ID, path, blob, a.comp.rules)
	if fault(err) != nil {
		return version{broken: true}, nil
	}
	return version{file: f}, err
}

// has reports whether a version has a string, whatever its translation.
func (v version) has(id catalog.Identity) bool {
	if v.file == nil {
		return false
	}
	_, ok := v.file.Find(id)
	return ok
}

// presence is the aspect of strings of the source translation: translating a
// string does not introduce it.
func presence(v version, id catalog.Identity) int64 {
	if v.has(id) {
		return 1
	}
	return absent
}

// translation is the aspect of strings of other translations.
func translation(v version, id catalog.Identity) int64 {
	if v.file == nil {
		return absent
	}
	if i, ok := v.file.Find(id); ok {
		return v.file.Units[i].Text | 1 // never absent
	}
	return absent
}
