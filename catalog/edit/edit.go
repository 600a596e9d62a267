package edit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

// Text is the translation of a string, and its state.
type Text struct {
	// Target has the plural forms, joined by catalog.FormSeparator.
	Target string
	// State is StateEmpty, StateFuzzy or StateTranslated: a PO file keeps no others. A base
	// may be StateAbsent: the file lacks the string, and its template has it.
	State catalog.State
}

// Absent reports whether it is the base of a string that its file lacks.
func (t Text) Absent() bool { return t.State == catalog.StateAbsent }

// TextOf returns the text that a file has for a string: an empty first form is an
// untranslated string, fuzzy or not (docs/po.md#states).
func TextOf(e *poparse.Entry) Text {
	t := Text{Target: catalog.JoinForms(e.Str), State: catalog.StateTranslated}
	if e.Fuzzy {
		t.State = catalog.StateFuzzy
	}
	return t.normal()
}

// normal returns the text as it is read from a file: without empty forms at the end,
// and untranslated if the first form is empty.
func (t Text) normal() Text {
	t.Target = catalog.TrimForms(t.Target)
	if catalog.SplitForms(t.Target)[0] == "" {
		t.State = catalog.StateEmpty
	}
	return t
}

// Cut returns the text with the forms that a language of a number of them shows; with all
// if the number is 0, not known.
func (t Text) Cut(forms int) Text {
	if list := catalog.SplitForms(t.Target); forms > 0 && len(list) > forms {
		t.Target = catalog.JoinForms(list[:forms])
	}
	return t
}

// Equal reports whether a file has the same for both.
func (t Text) Equal(other Text) bool { return t.normal() == other.normal() }

// Author is somebody who wrote a text.
type Author struct {
	Name, Email string
	// Time is when they did so last.
	Time time.Time
	// Person is whose text it becomes when it is stored: the id of an account, that of a token,
	// negative, or 0. Stranger says that the account has no role in the project.
	Person   int64
	Stranger bool
}

// Edit is what happened to one string since the repository's text.
type Edit struct {
	// Context and Source identify the string; the plural forms of Source are joined.
	Context, Source string
	// Base is the repository's text when the first change was made.
	Base Text
	// Sent are texts of before that were sent to the repository and may still arrive, the
	// oldest first.
	Sent []Text
	// Ours is the last text. For a plural it has as many forms as the translation had
	// when it was written.
	Ours Text
	// Previous is the source that Ours was made for, forms joined, if it needs editing and was
	// taken over from a similar string, for one that the file lacks; "" otherwise.
	Previous string
	// Reviewer accepted Ours, which somebody else wrote; zero: nobody did.
	Reviewer Author
	// Authors are all who wrote a text since Base, each once, by the time of their
	// last one: the last author wrote Ours.
	Authors []Author
}

// Identity returns the identity of the string.
func (e Edit) Identity() catalog.Identity {
	var h catalog.Hasher
	return h.Identity(e.Source, e.Context)
}

// Nothing reports whether the last change brought the repository's text back.
func (e Edit) Nothing() bool { return e.Ours.Equal(e.Base) }

// Last returns the author of Ours, the zero Author if the edit has none.
func (e Edit) Last() Author {
	if len(e.Authors) == 0 {
		return Author{}
	}
	return e.Authors[len(e.Authors)-1]
}

// Request is a new text for one string.
type Request struct {
	// UnitID is the string's unit. SourceID is, of a string that the file lacks, the
	// template's; whoever stores the request sets UnitID to the unit that it has become.
	UnitID, SourceID int64
	// Target has the forms; their number must be that of a translation of the string.
	Target []string
	// State is StateEmpty, StateFuzzy or StateTranslated.
	State catalog.State
	// Previous is Edit.Previous.
	Previous string
	// If, if not nil, is asked with the string as it is: the request is refused with
	// ErrChanged if it says no.
	If func(now *catalog.Unit) bool
}

// Why a request is refused, besides an [*InvalidError].
var (
	// ErrNotTaken: the component takes no edits (push_mode is not set).
	ErrNotTaken = errors.New("the component takes no edits")
	// ErrNotAdded: a language cannot be added, or its file cannot be removed.
	ErrNotAdded = errors.New("it cannot be added")
	// ErrHasPlural: a string cannot be added, as the file has it with a plural.
	ErrHasPlural = errors.New("the file has this string with a plural")
	// ErrLocked: the component takes no edits for now.
	ErrLocked = errors.New("the component is locked")
	// ErrReadOnly: the string must not be translated.
	ErrReadOnly = errors.New("the string is read-only")
	// ErrChanged: the string is not as the editor saw it.
	ErrChanged = errors.New("the string has changed meanwhile")
	// ErrNoRoom: the disk is too full to store edits.
	ErrNoRoom = errors.New("the server has too little room to store edits")
)

// BoundError says that somebody has suggested as much as they may for now.
type BoundError struct {
	Message string
	// Until is when the next suggestion is taken; zero: when others were answered.
	Until time.Time
}

// Error returns the message.
func (e *BoundError) Error() string { return e.Message }

// Answer is what becomes of a suggestion.
type Answer struct {
	// ID is the id of its edit, UnitID the id of its string.
	ID, UnitID int64
	// Accept makes it an edit, or it is rejected. Why is said to whoever made it.
	Accept bool
	Why    string
	// Own finds it only for whoever made it.
	Own bool
	// Target is the text that is accepted instead, by whoever accepts; nil: as it is.
	Target []string
	// If is Request.If.
	If func(now *catalog.Unit) bool
}

// Discarded is what became of edits that were taken back.
type Discarded struct {
	// Edits is the number of edits that ended.
	Edits int
	// Sent is the number of those with texts that were sent and may still arrive in the
	// repository. If one does, the text that its string has then is an edit by whoever took
	// it back.
	Sent int
}

// Why files are compared with their template: it has changed, an admin wishes it, or wishes it
// although files lose many of their strings. It is the context of an edit of that kind.
const (
	UpdateByItself = ""
	UpdateWished   = "wished"
	UpdateForced   = "forced"
)

// UpdateStopped is the reason of an update that ended and could not find all similar strings.
const UpdateStopped = "there are too many strings to find all similar ones: some texts that were there are not offered again"

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
