package edit

import (
	"fmt"
	"slices"

	"github.com/repoglot/repoglot/poparse"
)

// NewString is a string without plural forms that a client adds to a file.
type NewString struct {
	// Context and Source identify it.
	Context, Source string
	// Text is its translation.
	Text Text
	// Author adds it.
	Author Author
}

// Check returns an [*InvalidError] if it cannot be stored.
func (s *NewString) Check() error {
	for _, f := range []struct{ name, text string }{{"source", s.Source}, {"context", s.Context}} {
		message := unwritable(f.text)
		switch {
		case len(f.text) > MaxText:
			message = fmt.Sprintf("The text is too long, at most %d bytes are stored", MaxText)
		case f.name == "source" && f.text == "":
			message = "This field may not be blank."
		}
		if message != "" {
			return &InvalidError{f.name, message}
		}
	}
	_, err := NewText([]string{s.Text.Target}, s.Text.State, 1)
	return err
}

// Append adds the string behind the last live entry of a file, and removes an obsolete one
// of the same string; all else but the header's revision keeps its bytes. A file that has
// the string stays as it is. An error says why the string cannot be added.
func (s *NewString) Append(name string, data []byte, o Options) ([]byte, error) {
	f, err := poparse.Parse(name, data)
	if err != nil {
		return nil, fmt.Errorf("add a string: %w", err)
	}
	for e := range f.Live() {
		switch {
		case e.ID != s.Source || e.Context != s.Context:
		case !e.HasPlural:
			return data, nil
		default:
			return nil, fmt.Errorf("add a string: %w", ErrHasPlural)
		}
	}
	// An obsolete entry of the string would be a second definition for msgfmt.
	f.Entries = slices.DeleteFunc(f.Entries, func(e *poparse.Entry) bool {
		return e.Obsolete && e.ID == s.Source && e.Context == s.Context
	})
	e := poparse.Entry{Context: s.Context, HasContext: s.Context != "", ID: s.Source, Str: []string{""}}
	at := 0
	if f.Header != nil {
		e.Domain = f.Header.Domain
	}
	for i, other := range f.Entries {
		if !other.Obsolete {
			at, e.Domain = i+1, other.Domain
		}
	}
	c := change{entry: &e, was: e, wants: with(e, s.Text)}
	if o.Gate {
		if err := CheckEntry(&c.wants, nil); err != nil {
			return nil, fmt.Errorf("add a string: %w", err)
		}
	}
	f.Entries = slices.Insert(f.Entries, at, &e)
	a := applier{file: f, options: o}
	out, _, err := a.bytes([]change{c}, s.Author)
	if err == nil {
		err = a.check(out, []change{c})
	}
	if err != nil {
		return nil, fmt.Errorf("add a string: %w", err)
	}
	return out, nil
}
