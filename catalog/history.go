package catalog

import "time"

// History says how much of a branch's past a first import replays as change entries
// (docs/compatibility.md#history). With the zero value the import starts at the head.
// It has no effect on a component that has been imported.
type History struct {
	// Full replays the first-parent history from its first commit on, as far as
	// the bounds below allow.
	Full bool `json:"full,omitempty"`
	// Since, if set, bounds the age: replay begins after the newest first-parent
	// commit with an earlier committer time.
	Since time.Time `json:"since,omitzero"`
	// Commits, if positive, bounds the number of first-parent commits.
	Commits int `json:"commits,omitempty"`
}
