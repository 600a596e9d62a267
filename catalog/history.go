package catalog

import "time"

// History says how much of a branch's past a first import replays as change
// entries (decision 19). The zero value is none: the import starts at the head.
// It has no effect on a component that is imported already.
type History struct {
	// Full replays the first-parent history from its first commit on, as far as
	// the bounds below allow.
	Full bool `json:"full,omitempty"`
	// Since, if set, leaves out what is before it: replay begins behind the
	// newest first-parent commit with an earlier committer time.
	Since time.Time `json:"since,omitzero"`
	// Commits, if positive, bounds the number of first-parent commits.
	Commits int `json:"commits,omitempty"`
}
