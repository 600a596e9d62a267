package wire

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
