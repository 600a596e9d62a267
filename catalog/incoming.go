package catalog

import "time"

// Incoming is an open request of somebody to merge a branch into the one that is read, with
// changes of a component's files, and that git no longer merges by itself.
type Incoming struct {
	// Number is what people call it by, URL its page on the forge, or "", and Title its title.
	Number     int
	URL, Title string
	// Head is the commit to be merged, Into the one of the branch that is read.
	Head, Into string
	// Strings is how many strings differ in what both changed, Conflicts those that only a
	// person can decide.
	Strings, Conflicts int64
	// Problem says why it is not merged by meaning; "" if it is.
	Problem string
	// Editable says that the forge permits maintainers to push to its branch.
	Editable bool
	// Failed are words of a remote, for those who may write: why Head cannot be fetched or
	// merged for now, or why the last wish was not granted; "" if nothing failed.
	Failed string
	// Wished is who wants it merged, nil if nobody does.
	Wished *MergeWish
	// Tried is when the last wish that was tried was made.
	Tried time.Time
}

// Mergeable reports whether the merge of a request can be pushed to its branch.
func (i *Incoming) Mergeable() bool { return i.Problem == "" && i.Conflicts == 0 && i.Editable }

// MergeWish is somebody's wish to have a request merged.
type MergeWish struct {
	// Name and Email are the author of the merge, At when it was wished.
	Name, Email string
	At          time.Time
}

// Incomings are the requests that a component shows.
type Incomings struct {
	// List has the last changed first.
	List []Incoming
	// Problem says why List may lack some, "" if it does not. Failed has the words of the
	// forge, for those who may write.
	Problem, Failed string
}

// Find returns the request of a number with a head, nil if it is not listed.
func (l *Incomings) Find(number int, head string) *Incoming {
	for i := range l.List {
		if r := &l.List[i]; r.Number == number && r.Head == head {
			return r
		}
	}
	return nil
}
