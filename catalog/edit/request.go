package edit

import (
	"errors"

	"github.com/repoglot/repoglot/catalog"
)

// Request is a new text for one string.
type Request struct {
	// UnitID is the string's unit.
	UnitID int64
	// Target has the forms; their number must be that of a translation of the string.
	Target []string
	// State is StateEmpty, StateFuzzy or StateTranslated.
	State catalog.State
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

// Discarded is what became of edits that were taken back.
type Discarded struct {
	// Edits is the number of edits that ended.
	Edits int
	// Sent is the number of those with texts that were sent and may still arrive in the
	// repository. If one does, the text that its string has then is an edit by whoever took
	// it back.
	Sent int
}
