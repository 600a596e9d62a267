package catalog

// Count is a number of units with the words and characters of their sources.
type Count struct {
	// Units is the number of units.
	Units int64
	// Words is the sum of their num_words.
	Words int64
	// Chars is the sum of the code points of their sources.
	Chars int64
}

// Add adds the counts of another set of units.
func (c *Count) Add(o Count) {
	c.Units += o.Units
	c.Words += o.Words
	c.Chars += o.Chars
}

// Subtract takes the counts of a set of units away.
func (c *Count) Subtract(o Count) {
	c.Units -= o.Units
	c.Words -= o.Words
	c.Chars -= o.Chars
}

// Stats are the statistics of a set of units (docs/compatibility.md#statistics). The
// zero value belongs to the empty set.
type Stats struct {
	// Total counts all units.
	Total Count
	// Translated counts units of state 20 and above, read-only ones included.
	Translated Count
	// Fuzzy counts units that need editing.
	Fuzzy Count
	// ReadOnly counts units of state 100.
	ReadOnly Count
	// Failing counts units with at least one failing check.
	Failing Count
	// Suggestions and Comments are the numbers of units with at least one. The
	// store counts them; statistics over time leave them out.
	Suggestions, Comments int64
}

// AddUnit counts one more unit.
func (s *Stats) AddUnit(u *Unit) {
	s.AddUnits(Count{Units: 1, Words: int64(u.Words), Chars: int64(u.Chars)}, u.State)
}

// AddUnits counts units that are in one state.
func (s *Stats) AddUnits(n Count, state State) {
	s.Total.Add(n)
	if state.Translated() {
		s.Translated.Add(n)
	}
	if state.Fuzzy() {
		s.Fuzzy.Add(n)
	}
	if state == StateReadOnly {
		s.ReadOnly.Add(n)
	}
}

// Add adds the statistics of another set of units.
func (s *Stats) Add(o Stats) {
	s.Total.Add(o.Total)
	s.Translated.Add(o.Translated)
	s.Fuzzy.Add(o.Fuzzy)
	s.ReadOnly.Add(o.ReadOnly)
	s.Failing.Add(o.Failing)
	s.Suggestions += o.Suggestions
	s.Comments += o.Comments
}

// Subtract takes the statistics of a set of units away.
func (s *Stats) Subtract(o Stats) {
	s.Total.Subtract(o.Total)
	s.Translated.Subtract(o.Translated)
	s.Fuzzy.Subtract(o.Fuzzy)
	s.ReadOnly.Subtract(o.ReadOnly)
	s.Failing.Subtract(o.Failing)
	s.Suggestions -= o.Suggestions
	s.Comments -= o.Comments
}

// Tenths is a percentage in tenths of a percent: 958 is 95.8 %.
type Tenths int

// Percent returns n of total, cut after one decimal
// (docs/compatibility.md#percentages). If total is 0 it returns empty: pass 1000 for
// a measure of completeness, else 0.
func Percent(n, total int64, empty Tenths) Tenths {
	if total == 0 {
		return empty
	}
	return Tenths(1000 * n / total)
}
