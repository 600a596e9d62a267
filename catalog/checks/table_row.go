package checks

// entry is one row of the table. It has one of the functions pair, whole and
// source, except for ScopeAcross.
type entry struct {
	name, title, description, example string // see Check

	scope  Scope
	off    bool   // off by default
	flag   string // turns it on; "" is the name with dashes
	ignore string // turns it off, as "ignore-" and the name with dashes does
	valued bool   // the flag turns it on only with a value

	pair   func(r *run, source, target string) hit   // compares one target form with its source form
	whole  func(r *run, id ID)                       // looks at all forms of a target unit
	source func(r *run, source string, form int) hit // looks at one form of a source unit
}

// enabling returns the flag that turns on a check that is off by default.
func (e *entry) enabling() string {
	if e.flag != "" {
		return e.flag
	}
	return dashed(e.name)
}

// pairCheck makes the row of a check that compares single forms.
func pairCheck(name, title, description, example string, f func(*run, string, string) hit) entry {
	return entry{name: name, title: title, description: description, example: example, pair: f}
}

// flagCheck makes the row of a check of single forms that a flag turns on.
func flagCheck(name, title, flag, description, example string, f func(*run, string, string) hit) entry {
	e := pairCheck(name, title, description, example, f)
	e.off, e.flag = true, flag
	return e
}

// formatCheck makes the row of a check of placeholders. Their syntax is in
// format_notations.go.
func formatCheck(name, language, example string) entry {
	return entry{
		name: name, title: language + " format", example: example, scope: ScopeTarget, off: true, whole: checkFormat,
		description: "The placeholders of " + language + " are not those of the source, or, where only their place tells them apart, in another order.",
	}
}
