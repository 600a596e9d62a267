package wire

// Suggestion is the text of a unit on another branch; ours
// (docs/compatibility.md#comments-and-suggestions).
type Suggestion struct {
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
