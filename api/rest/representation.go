package rest

// Representation is the form in which an answer is sent.
type Representation struct {
	// CSV asks for the entries of a list as CSV instead of JSON.
	CSV bool
	// Indent is the number of blanks per level of JSON; 0 is compact.
	Indent int
	// Lines asks for a whole list, one entry per line.
	Lines bool
	// Format is the value of the parameter format in links.
	Format string
}
