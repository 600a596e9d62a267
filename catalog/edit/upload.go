package edit

import (
	"errors"
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/plural"
)

// Method is what an upload does.
type Method string

// The methods of Weblate that a server of PO files has. approve, source and add are
// not among them: a PO file cannot keep an approval, and the template decides which
// strings there are.
const (
	Translate Method = "translate" // make the texts translations
	Fuzzy     Method = "fuzzy"     // make them translations that need editing
	Suggest   Method = "suggest"   // make them suggestions
	Replace   Method = "replace"   // make the strings that the upload has what it has; others stay
)

// UploadOptions are the fields of an upload.
type UploadOptions struct {
	Method Method
	// Conflicts says which strings with a text are changed: "" and "ignore" those that
	// need editing, "replace-translated" and "replace-approved" all.
	Conflicts string
	// Fuzzy says what happens to uploaded texts that need editing: "" leaves them out,
	// "process" keeps their state, "approve" makes them translations.
	Fuzzy string
}

// Validate returns an [*InvalidError] for a value that no field has.
func (o UploadOptions) Validate() error {
	switch {
	case !slices.Contains([]Method{Translate, Fuzzy, Suggest, Replace}, o.Method):
		return &InvalidError{"method", "This method is not available here."}
	case !slices.Contains([]string{"", "ignore", "replace-translated", "replace-approved"}, o.Conflicts):
		return &InvalidError{"conflicts", "\"" + o.Conflicts + "\" is not a valid choice."}
	case !slices.Contains([]string{"", "process", "approve"}, o.Fuzzy):
		return &InvalidError{"fuzzy", "\"" + o.Fuzzy + "\" is not a valid choice."}
	}
	return nil
}

// Current is a string as it is served, pending edits included.
type Current struct {
	Text
	// ReadOnly says that it must not be translated.
	ReadOnly bool
	// Forms is the number of plural forms of a translation, 1 without a plural.
	Forms int
}

// Change is what an upload wants of one string.
type Change struct {
	Context, Source string
	// Text is the uploaded one.
	Text Text
}

// Counts are the numbers of an upload's answer.
type Counts struct {
	NotFound, Skipped, Accepted, Total int
	// Problems say of the first entries whose text no edit can have why.
	Problems []string
}

// maxProblems bounds the problems that an upload's answer lists.
const maxProblems = 20

// skip counts an entry that cannot be an edit of its string.
func (c *Counts) skip(e *poparse.Entry, why error) {
	c.Skipped++
	if invalid, ok := errors.AsType[*InvalidError](why); ok && len(c.Problems) < maxProblems {
		c.Problems = append(c.Problems, fmt.Sprintf("line %d: %s", e.Line, invalid.Message))
	}
}

// CheckUpload returns an [*InvalidError] for a file that is not meant for a translation
// with a plural rule: of which bytes have been replaced, or with plurals of another rule.
func CheckUpload(f *poparse.File, number int, formula string) error {
	for _, w := range f.Warnings {
		if w.Code == poparse.WarnNUL {
			return &InvalidError{"file", fmt.Sprintf("Line %d has a NUL, which no text can have.", w.Line)}
		}
	}
	theirs, ok := f.PluralForms()
	if !ok || number == 0 {
		return nil
	}
	for e := range f.Live() {
		if e.HasPlural && !samePlural(theirs, number, formula) {
			return &InvalidError{"file", "Plural forms do not match the language."}
		}
	}
	return nil
}

// samePlural reports whether a file's plural rule is that of a translation.
func samePlural(theirs poparse.PluralForms, number int, formula string) bool {
	a, errA := plural.Compile(theirs.Expression)
	b, errB := plural.Compile(formula)
	if theirs.Number != number || errA != nil || errB != nil {
		return theirs.Number == number
	}
	for n := range 1001 { // no language looks further than at the last three digits
		if a.Eval(n) != b.Eval(n) {
			return false
		}
	}
	return a.Eval(1_000_000) == b.Eval(1_000_000)
}

// Upload returns what an uploaded file changes. find returns a string of the
// translation, false if it is not there; units is the number of strings. With the
// method suggest, the changes are suggestions.
//
// The counts are Weblate's: entries that are left out for their own state (not
// translated, or needing editing) are in Total only, and replace accepts all strings of
// the translation. Entries whose number of plural forms differs are skipped, with
// replace too.
func Upload(f *poparse.File, o UploadOptions, units int, find func(catalog.Identity) (Current, bool)) ([]Change, Counts, error) {
	if err := o.Validate(); err != nil {
		return nil, Counts{}, err
	}
	var (
		counts  Counts
		changes []Change
		h       catalog.Hasher
		seen    = map[catalog.Identity]bool{}
	)
	for e := range f.Live() {
		counts.Total++
		id := h.Identity(SourceOf(e), e.Context)
		text, ok := o.textOf(e)
		if !ok || seen[id] {
			continue
		}
		seen[id] = true
		current, found := find(id)
		if !found {
			counts.NotFound++
			continue
		}
		forms := e.Str
		if text.State == catalog.StateEmpty {
			forms = make([]string, current.Forms)
		}
		switch text, err := NewText(forms, text.State, current.Forms); {
		case err != nil || !o.takes(current, text):
			counts.skip(e, err)
		default:
			counts.Accepted++
			changes = append(changes, Change{Context: e.Context, Source: SourceOf(e), Text: text})
		}
	}
	if o.Method == Replace {
		counts.NotFound, counts.Skipped, counts.Accepted = 0, 0, units
	}
	return changes, counts, nil
}

// textOf returns the text that an entry brings, false if it is left out.
func (o UploadOptions) textOf(e *poparse.Entry) (Text, bool) {
	text := TextOf(e)
	if o.Method == Replace {
		return text, true
	}
	switch text.State {
	case catalog.StateEmpty:
		return text, false
	case catalog.StateFuzzy:
		if o.Fuzzy == "" {
			return text, false
		}
		if o.Fuzzy == "approve" {
			text.State = catalog.StateTranslated
		}
	}
	if o.Method == Fuzzy {
		text.State = catalog.StateFuzzy
	}
	return text, true
}

// takes reports whether a text changes a string.
func (o UploadOptions) takes(current Current, text Text) bool {
	was, now := current.normal(), text.normal()
	switch {
	case current.ReadOnly || was == now:
		return false
	case o.Method == Suggest:
		return was.Target != now.Target
	case o.Method == Replace:
		return true
	}
	return !was.State.Translated() || o.Conflicts == "replace-translated" || o.Conflicts == "replace-approved"
}
