package merge

// String returns the name of an outcome.
func (o Outcome) String() string {
	return [...]string{"unchanged", "ours", "theirs", "same", "combined", "moved", "kept", "conflict"}[o]
}
