package ingest

// Report is the result of a pull.
type Report struct {
	// Head is the commit at the head of the branch, "" if it could not be fetched.
	Head string
	// Steps is the number of transactions that moved components.
	Steps int
	// Changes is the number of change entries written.
	Changes int64
	// Components are the results for the components, in the order of their ids.
	Components []ComponentReport
	// NewFailures are the quality checks that fail since the pull.
	NewFailures NewFailures
}

// ComponentReport is the result of a pull for one component.
type ComponentReport struct {
	// ID is the component's id, Project and Slug its name. A discovery that
	// finds nothing is reported under its own slug, with the id 0.
	ID            int64
	Project, Slug string
	// Head is the commit of the component after the pull.
	Head string
	// Changes is the number of change entries written for it.
	Changes int64
	// Problems has one line for each file that is not served, with the reason, or
	// says that the component has no file. The rest of the component is served. Nil
	// if the pull had no reason to look, so that nothing is new; the first pull of a
	// process always looks.
	Problems []string
	// Err is why the component is not at the branch's head; nil if it is.
	Err error
}
