package check

// Severity tells how bad a finding is: [Error] or [Warning].
type Severity string

const (
	// Error: the file cannot be read.
	Error Severity = "error"
	// Warning: the file can be read, but something in it should be mended.
	Warning Severity = "warning"
)

// A Finding is one thing that is wrong with a file.
type Finding struct {
	// File is the path as it was found, unescaped; [StdinName] for the standard
	// input.
	File string
	// Line and Column are 1-based; Column counts characters. A finding about
	// the file as a whole stands at 1:1.
	Line, Column int
	// Severity is that of the Code.
	Severity Severity
	// Code is stable; docs/check.md and [Rules] explain it.
	Code string
	// Message says what is wrong and what to do about it, unescaped.
	Message string
}

// Counts are the numbers of msgfmt --statistics: live messages of the domain
// that a catalog takes, without the header (po-semantics.md).
type Counts struct {
	// Translated messages have a msgstr (in a plural: a msgstr[0]) and no fuzzy
	// flag.
	Translated int
	// Fuzzy messages have a msgstr and the fuzzy flag.
	Fuzzy int
	// Untranslated messages have no msgstr, be they fuzzy or not.
	Untranslated int
}

// add sums up.
func (c *Counts) add(o Counts) {
	c.Translated += o.Translated
	c.Fuzzy += o.Fuzzy
	c.Untranslated += o.Untranslated
}

// A Result is the verdict on one file.
type Result struct {
	// File is the path as in [Finding.File].
	File string
	// Template tells a .pot file.
	Template bool
	// Parsed tells whether the file could be read, and Counts hold.
	Parsed bool
	// Counts is zero unless Parsed.
	Counts Counts
	// Findings are sorted by line and column; nil if all is well.
	Findings []Finding
}

// A Summary adds up results. Its zero value is ready to use.
type Summary struct {
	// Files is the number of files looked at, unreadable ones included.
	Files int
	// Errors and Warnings are numbers of findings.
	Errors, Warnings int
}

// Add takes in the verdict on one more file.
func (s *Summary) Add(r Result) {
	s.Files++
	for i := range r.Findings {
		if r.Findings[i].Severity == Error {
			s.Errors++
		} else {
			s.Warnings++
		}
	}
}
