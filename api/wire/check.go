package wire

// Check is a failing check of a unit (ours).
type Check struct {
	// Unit is the URL of the unit.
	Unit string `json:"unit"`
	// Check is the name that q=check:… takes.
	Check       string `json:"check"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// Failures say where; empty for checks that compare units.
	Failures []CheckFailure `json:"failures"`
}

// CheckFailure is one place where a check fails.
type CheckFailure struct {
	// Form and SourceForm are plural forms, from 0.
	Form       int  `json:"form"`
	SourceForm int  `json:"source_form"`
	Source     Span `json:"source"`
	Target     Span `json:"target"`
}

// Span is a piece of a string in code points, from start up to end.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// FailingUnit is a unit with its failing checks (ours).
type FailingUnit struct {
	ID     int64   `json:"id"`
	Unit   string  `json:"unit"`
	Checks []Check `json:"checks"`
}
