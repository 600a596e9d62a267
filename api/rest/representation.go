package rest

// Representation is the form in which an answer is rendered.
type Representation struct {
	// CSV asks for the results of a list as CSV, else JSON.
	CSV bool
	// Indent is the number of blanks per level of JSON; 0 is compact.
	Indent int
	// Lines asks for a list whole, an entry per line.
	Lines bool
	// Format is the value of the parameter format in links.
	Format string
}
