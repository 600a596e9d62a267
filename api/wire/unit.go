package wire

import "github.com/repoglot/repoglot/catalog"

// Unit is a unit with the keys of Weblate 4.x in their order, and ours after
// them.
type Unit struct {
	Translation     string   `json:"translation"`
	Source          []string `json:"source"`
	PreviousSource  string   `json:"previous_source"`
	Target          []string `json:"target"`
	IDHash          int64    `json:"id_hash"`
	ContentHash     int64    `json:"content_hash"`
	Location        string   `json:"location"`
	Context         string   `json:"context"`
	Note            string   `json:"note"`
	Flags           string   `json:"flags"`
	State           int16    `json:"state"`
	Fuzzy           bool     `json:"fuzzy"`
	Translated      bool     `json:"translated"`
	Approved        bool     `json:"approved"`
	Position        int      `json:"position"`
	HasSuggestion   bool     `json:"has_suggestion"`
	HasComment      bool     `json:"has_comment"`
	HasFailingCheck bool     `json:"has_failing_check"`
	NumWords        int      `json:"num_words"`
	SourceUnit      string   `json:"source_unit"`
	Priority        int      `json:"priority"`
	ID              int64    `json:"id"`
	WebURL          string   `json:"web_url"`
	URL             string   `json:"url"`
	Explanation     string   `json:"explanation"`
	ExtraFlags      string   `json:"extra_flags"`
	Pending         bool     `json:"pending"`
	Timestamp       string   `json:"timestamp"`
	LanguageCode    string   `json:"language_code"` // of newer Weblates
	// Removed is ours: true for a unit that is in no file any more, otherwise
	// left out (docs/compatibility.md#ids).
	Removed bool `json:"removed,omitempty"`
}

// UnitScope is what the units of one translation share. It is for one answer
// and not safe for concurrent use.
type UnitScope struct {
	link        Links
	translation string // URL of the translation
	translate   string // URL of its page, up to the checksum
	language    string // its code in URLs
	forms       int
	text        *unitText // nil until it is needed
}

// NewUnitScope makes the scope of the units of a translation.
func NewUnitScope(l Links, t *catalog.Translation, project, component string) UnitScope {
	return UnitScope{
		link:        l,
		translation: l.API(TranslationPath(project, component, t.Language)),
		translate:   l.Web(TranslatePath(project, component, t.Language)) + "?checksum=",
		language:    t.Language,
		forms:       t.PluralNumber,
	}
}

// Unit makes the object of a unit.
func (s *UnitScope) Unit(u *catalog.Unit) Unit {
	return Unit{
		Translation:     s.translation,
		Source:          catalog.SplitForms(u.Source),
		PreviousSource:  u.PreviousSource,
		Target:          catalog.TargetForms(u.Source, u.Target, s.forms),
		IDHash:          u.Identity.Hash,
		ContentHash:     u.Identity.Hash, // PO is bilingual: both are hashes of source and context
		Location:        u.Location,
		Context:         u.Context,
		Note:            u.Note,
		Flags:           u.Flags,
		State:           int16(u.State),
		Fuzzy:           u.State.Fuzzy(),
		Translated:      u.State.Translated(),
		Approved:        u.State.Approved(),
		Position:        u.Position,
		HasSuggestion:   u.HasSuggestion,
		HasComment:      u.Comment != "",
		HasFailingCheck: u.Failing != [2]uint64{},
		NumWords:        u.Words,
		SourceUnit:      s.link.Unit(u.SourceID),
		Priority:        u.Priority,
		ID:              u.ID,
		WebURL:          s.translate + catalog.Checksum(u.Identity.Hash),
		URL:             s.link.Unit(u.ID),
		Pending:         u.Pending,
		Timestamp:       UnitTime(u.Created),
		LanguageCode:    s.language,
		Removed:         u.Removed,
	}
}

// Suggestion is the text of a unit on another branch; ours
// (docs/compatibility.md#comments-and-suggestions).
type Suggestion struct {
	ID         int64    `json:"id,omitempty"` // of what somebody suggested; a branch's has none
	Unit       string   `json:"unit"`
	Target     []string `json:"target"`
	User       *string  `json:"user"`
	AuthorName string   `json:"author_name"`
	Timestamp  *string  `json:"timestamp"`
	Branch     string   `json:"branch"`
	Commit     string   `json:"commit"`
}

// Comment is a comment. Its author and time are null: git blames lines, and
// msgmerge moves lines.
type Comment struct {
	ID        int64   `json:"id"` // of the unit, which has at most one comment
	Comment   string  `json:"comment"`
	User      *string `json:"user"`
	Timestamp *string `json:"timestamp"`
	Unit      string  `json:"unit"`
}

// Check is a failing check of a unit; ours.
type Check struct {
	// Unit is the URL of the unit.
	Unit string `json:"unit"`
	// Check is the name used in q=check:….
	Check       string `json:"check"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// Failures are the places; empty for checks that compare units.
	Failures []CheckFailure `json:"failures"`
}

// CheckFailure is one place where a check fails.
type CheckFailure struct {
	// Form and SourceForm are the indices of plural forms, from 0.
	Form       int  `json:"form"`
	SourceForm int  `json:"source_form"`
	Source     Span `json:"source"`
	Target     Span `json:"target"`
}

// Span is a part of a string in code points, from Start up to End.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// FailingUnit is a unit with its failing checks; ours.
type FailingUnit struct {
	ID     int64   `json:"id"`
	Unit   string  `json:"unit"`
	Checks []Check `json:"checks"`
}
