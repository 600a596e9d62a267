package unit

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
)

// covered names the fingerprints that change with a field of catalog.Unit. An
// edit of such a field alone is stored.
var covered = map[string]fingerprints{
	"Target":          {Text: true},
	"State":           {Text: true},
	"Note":            {Meta: true, Outline: true},
	"TranslatorBytes": {Meta: true, Outline: true},
	"Flags":           {Meta: true, Outline: true},
	"PreviousSource":  {Meta: true},
	"Priority":        {Meta: true},
	"Location":        {Outline: true},
	"Position":        {Outline: true},
}

// notCovered names the other fields of catalog.Unit and why they are in no
// fingerprint.
var notCovered = map[string]string{
	"ID":            "given by the store",
	"TranslationID": "given by the store",
	"SourceID":      "given by the store",
	"Identity":      "pairs units: another identity is another unit; part of outlines by itself",
	"Source":        "part of Identity",
	"Context":       "part of Identity",
	"Words":         "counted from Source, by rules whose change reads every file again",
	"Chars":         "counted from Source",
	"Comment":       "made by the store from the notes of two units",
	"Failing":       "stored by the quality checks",
	"HasSuggestion": "stored with suggestions",
	"Pending":       "stored with edits",
	"Removed":       "compared by catalog.Diff: Known.Removed",
	"Created":       "the time of the first import; it never changes",
}

// fingerprints tells which fingerprints differ.
type fingerprints struct{ Text, Meta, Outline bool }

// TestCompared changes every field of catalog.Unit alone. It fails for a new
// field until the field is in a fingerprint and covered, or in notCovered.
func TestCompared(t *testing.T) {
	for i := range reflect.TypeFor[catalog.Unit]().NumField() {
		name := reflect.TypeFor[catalog.Unit]().Field(i).Name
		want, isCovered := covered[name]
		if isCovered == (notCovered[name] != "") {
			t.Errorf("Unit.%s must be in covered or in notCovered. If the store keeps what the file says, take it into a fingerprint (fingerprint.go): "+
				"otherwise an edit of it alone is never stored.", name)
			continue
		}
		for set := range 6 {
			before, after := exampleUnit(set), exampleUnit(set)
			change(t, reflect.ValueOf(&after.Unit).Elem().Field(i))
			if after.TranslatorBytes > len(after.Note) {
				continue
			}
			if got := differing(before, after); got != want {
				t.Errorf("Unit.%s, example %d: fingerprints that change (-want +got):\n%s", name, set, cmp.Diff(want, got))
			}
		}
	}
}

// exampleUnit is a unit without flags and note, with flags, or with both; each
// without and with a previous source and a priority. Each of the six takes
// another way through the hashes.
func exampleUnit(set int) *Unit {
	u := &Unit{Unit: catalog.Unit{Source: "One", Target: "Jedna", State: catalog.StateTranslated, Priority: defaultPriority, Position: 3}}
	if set%3 > 0 {
		u.Flags = "c-format"
	}
	if set%3 > 1 {
		u.Note, u.TranslatorBytes = "a note", 2
	}
	if set > 2 {
		u.PreviousSource, u.Priority = "Two", 140
	}
	return u
}

// change gives a field another value.
func change(t *testing.T, field reflect.Value) {
	t.Helper()
	switch field.Kind() {
	case reflect.String:
		field.SetString(field.String() + "!")
	case reflect.Int, reflect.Int16, reflect.Int64:
		field.SetInt(field.Int() + 1)
	case reflect.Bool:
		field.SetBool(!field.Bool())
	case reflect.Struct, reflect.Array: // of no field that is covered
	default:
		t.Fatalf("add a case for %s", field.Type())
	}
}

// differing compares the fingerprints of two units.
func differing(a, b *Unit) fingerprints {
	read := func(u *Unit) (outline int64) {
		c := converter{file: new(File)}
		if u.Flags != "" {
			c.flags.hash = noteAndFlags(&catalog.Unit{Flags: u.Flags}, &c.hasher) // as setFlags does
		}
		c.fingerprint(u)
		return c.file.Outline
	}
	outlineA, outlineB := read(a), read(b)
	return fingerprints{Text: a.Text != b.Text, Meta: a.Meta != b.Meta, Outline: outlineA != outlineB}
}
