package wire

// Suggestion is a text that another branch has for a unit; ours.
type Suggestion struct {
	Unit       string   `json:"unit"`
	Target     []string `json:"target"`
	User       *string  `json:"user"`
	AuthorName string   `json:"author_name"`
	Timestamp  *string  `json:"timestamp"`
	Branch     string   `json:"branch"`
	Commit     string   `json:"commit"`
}

// Comment is a comment. Git does not say when a comment was written, nor
// who did: blame tells it of lines, and msgmerge moves those.
type Comment struct {
	ID        int64   `json:"id"` // of the unit: it has one comment at most
	Comment   string  `json:"comment"`
	User      *string `json:"user"`
	Timestamp *string `json:"timestamp"`
	Unit      string  `json:"unit"`
}
