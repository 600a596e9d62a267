package edit

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
)

// InvalidError says why a text cannot be an edit of a string. Its messages are
// Weblate's where Weblate has one.
type InvalidError struct {
	// Field is the field of the request, "target" or "state".
	Field string
	// Message is for the user.
	Message string
}

// Error returns the message, after the field.
func (e *InvalidError) Error() string { return e.Field + ": " + e.Message }

// MaxText bounds the bytes of a translation with all its forms: no string of a program
// has more, and a file is read and written whole.
const MaxText = 256 << 10

// NewText returns the text of a request for a string with a number of plural forms, 1
// without a plural, or an [*InvalidError]. It is stored as sent: nothing is trimmed or
// replaced.
func NewText(target []string, state catalog.State, forms int) (Text, error) {
	if len(target) != forms {
		return Text{}, &InvalidError{"target", "Number of plurals does not match"}
	}
	size, empty := 0, true
	for _, form := range target {
		size += len(form)
		empty = empty && form == ""
		if message := unwritable(form); message != "" {
			return Text{}, &InvalidError{"target", message}
		}
	}
	switch {
	case size > MaxText:
		return Text{}, &InvalidError{"target", fmt.Sprintf("Translation text too long, at most %d bytes are stored", MaxText)}
	case !slices.Contains([]catalog.State{catalog.StateEmpty, catalog.StateFuzzy, catalog.StateTranslated}, state):
		return Text{}, &InvalidError{"state", "Invalid state"}
	case state == catalog.StateEmpty && !empty:
		return Text{}, &InvalidError{"state", "Can not use empty state with non empty target"}
	case state != catalog.StateEmpty && empty:
		return Text{}, &InvalidError{"state", "Can not use non empty state with empty target"}
	case state != catalog.StateEmpty && target[0] == "":
		return Text{}, &InvalidError{"target", "The first plural form is empty: a PO file would have the string untranslated"}
	}
	return Text{Target: catalog.JoinForms(target), State: state}, nil
}

// unwritable says why a form cannot be stored, "" if it can. Control characters except
// tab and line feed are refused, U+001E among them, which separates forms.
func unwritable(form string) string {
	if !utf8.ValidString(form) {
		return "The text is not valid UTF-8"
	}
	i := strings.IndexFunc(form, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' || 0x7F <= r && r < 0xA0
	})
	if i < 0 {
		return ""
	}
	r, _ := utf8.DecodeRuneInString(form[i:])
	return fmt.Sprintf("Control characters other than tab and line feed are not allowed, found %U", r)
}
