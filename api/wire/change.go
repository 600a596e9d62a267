package wire

import (
	"strconv"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// Change is a change entry with the keys of Weblate 4.x in their order, and
// ours after them (docs/compatibility.md#change-entries).
type Change struct {
	Unit        *string `json:"unit"`
	Component   string  `json:"component"`
	Translation *string `json:"translation"`
	User        *string `json:"user"`
	Author      *string `json:"author"`
	Timestamp   string  `json:"timestamp"`
	Action      int16   `json:"action"`
	Target      string  `json:"target"`
	ID          int64   `json:"id"`
	ActionName  string  `json:"action_name"`
	URL         string  `json:"url"`
	// Old is ours: the text before the change.
	Old string `json:"old"`
	// Details is ours. An entry about a string has ChangeDetails; one about a
	// component or a file has a map with the same keys and the event's.
	Details any `json:"details"`
}

// ChangeDetails are the details of an entry about a string.
type ChangeDetails struct {
	Commit     *string `json:"commit"`
	CommitTime *string `json:"commit_time"`
	AuthorName *string `json:"author_name"`
	// State and OldState are -1 where the unit does not exist.
	State    int16  `json:"state"`
	OldState int16  `json:"old_state"`
	Source   string `json:"source"`
	Context  string `json:"context"`
	// CoAuthors are the full names of the commit's Co-authored-by trailers.
	CoAuthors []string `json:"co_authors,omitempty"`
	// PreviousSource is the source of the removed string that this new one
	// replaced, as its translation file says.
	PreviousSource string `json:"previous_source,omitempty"`
	// Language is the code of a translation whose file is gone. It replaces the
	// translation's URL, which would answer 404.
	Language string `json:"language,omitempty"`
}

// NewChange makes the object of a change entry.
func NewChange(l Links, from *catalog.Change) Change {
	o := Change{
		Component:  l.API(ComponentPath(from.Project, from.Component)),
		Timestamp:  ChangeTime(from.Timestamp),
		Action:     int16(from.Action),
		Target:     from.Target,
		ID:         from.ID,
		ActionName: from.Action.Name(),
		URL:        l.API("/api/changes/" + FormatID(from.ID) + "/"),
		Old:        from.Old,
	}
	if from.Action.Credited() && from.Username != "" {
		o.User = OrNull(l.User(from.Username))
		o.Author = o.User
	}
	if from.UnitID == 0 {
		if o.Details = eventDetails(from); from.Action == catalog.ActionRemoveTranslation {
			o.Target = from.Event["file"]
		}
		return o
	}
	o.Unit = OrNull(l.Unit(from.UnitID))
	details := newDetails(from)
	if from.TranslationRemoved {
		details.Language = from.Language
	} else {
		o.Translation = OrNull(l.API(TranslationPath(from.Project, from.Component, from.Language)))
	}
	o.Details = details
	return o
}

func newDetails(from *catalog.Change) ChangeDetails {
	return ChangeDetails{
		Commit:     OrNull(from.Commit),
		CommitTime: TimeOrNull(from.CommitTime, UnitTime),
		AuthorName: OrNull(from.AuthorName),
		State:      int16(from.State),
		OldState:   int16(from.OldState),
		Source:     from.Source,
		Context:    from.Context,

		CoAuthors: from.CoAuthors, PreviousSource: from.Event[catalog.EventPreviousSource],
	}
}

// eventDetails makes the details of an entry about a component or a file
// (docs/compatibility.md#component-events): the keys of every entry, then the
// event's own, which win.
func eventDetails(from *catalog.Change) map[string]any {
	common := newDetails(from)
	details := map[string]any{
		"commit": common.Commit, "commit_time": common.CommitTime, "author_name": common.AuthorName,
		"state": common.State, "old_state": common.OldState, "source": common.Source, "context": common.Context,
	}
	if len(from.CoAuthors) > 0 {
		details["co_authors"] = from.CoAuthors
	}
	for key, value := range from.Event {
		details[key] = value
		if line, err := strconv.Atoi(value); err == nil && key == "line" {
			details[key] = line
		}
	}
	return details
}

// TimeOrNull formats a time by form, which is UnitTime or ChangeTime; nil for the zero time.
func TimeOrNull(t time.Time, form func(time.Time) string) *string {
	if t.IsZero() {
		return nil
	}
	return OrNull(form(t))
}

// ChangePage returns the URL of the page of what a change is about: a string, a translation or a
// component.
func (l Links) ChangePage(c *catalog.Change) string {
	switch {
	case c.Language == "" || c.TranslationRemoved:
		return l.Web(Path("projects", c.Project, c.Component))
	case c.UnitID == 0 || c.Action == catalog.ActionStringRemove:
		return l.Web(Path("projects", c.Project, c.Component, c.Language))
	}
	var h catalog.Hasher
	return l.Web(TranslatePath(c.Project, c.Component, c.Language)) + "?checksum=" + catalog.Checksum(h.Identity(c.Source, c.Context).Hash)
}
