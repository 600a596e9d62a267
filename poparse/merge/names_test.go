package merge

// String returns the name of an outcome.
func (o Outcome) String() string {
	return [...]string{"unchanged", "ours", "theirs", "same", "combined", "moved", "kept", "conflict"}[o]
}

// String returns the name of a choice in the table of the package comment.
func (c Choice) String() string { return [...]string{"either", "ours", "theirs", "conflict"}[c] }
