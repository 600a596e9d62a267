package wire

// EditedUnit is the answer to a change of a unit, with Weblate's keys.
type EditedUnit struct {
	Target      []string `json:"target"`
	State       int16    `json:"state"`
	Explanation string   `json:"explanation"`
	ExtraFlags  string   `json:"extra_flags"`
	Labels      []string `json:"labels"`
}

// Edit is an edit of the journal; ours.
type Edit struct {
	ID int64 `json:"id"`
	// Kind is text, add-string, add-file, remove-file, update-file or template.
	Kind string `json:"kind"`
	// Unit is the string of a text, null in other kinds.
	Unit         *string  `json:"unit"`
	Component    string   `json:"component"`
	LanguageCode string   `json:"language_code"`
	Filename     string   `json:"filename"`
	Status       string   `json:"status"`
	Reason       string   `json:"reason"`
	Source       []string `json:"source"`
	Context      string   `json:"context"`
	BaseTarget   []string `json:"base_target"`
	BaseState    int16    `json:"base_state"`
	Target       []string `json:"target"`
	State        int16    `json:"state"`
	// Authors are the names of all who wrote a text, the last one last.
	Authors []string `json:"authors"`
	// Branch is the branch of ours that has the text.
	Branch  *string `json:"branch"`
	Created string  `json:"created"`
	Updated string  `json:"updated"`
	// History is what happened to it, the oldest first; lists do not have it.
	History []EditEvent `json:"history,omitempty"`
}

// EditEvent is something that happened to an edit.
type EditEvent struct {
	Timestamp string `json:"timestamp"`
	// Name is who did it, null for the server.
	Name   *string  `json:"name"`
	Event  string   `json:"event"`
	Target []string `json:"target"`
	State  int16    `json:"state"`
}

// Uploaded is the answer to an upload, with Weblate's keys.
type Uploaded struct {
	NotFound int  `json:"not_found"`
	Skipped  int  `json:"skipped"`
	Accepted int  `json:"accepted"`
	Total    int  `json:"total"`
	Result   bool `json:"result"`
	Count    int  `json:"count"`
	// Problems is ours: why texts of the file cannot be edits, of the first ones.
	Problems []string `json:"problems,omitempty"`
}

// Done is the answer to an operation on a repository.
type Done struct {
	Result bool   `json:"result"`
	Detail string `json:"detail,omitempty"`
}
