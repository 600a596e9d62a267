package checks

// entry is one row of the table; one of pair, whole and source is set, but for
// checks across units.
type entry struct {
	name, title, description, example string

	scope  Scope
	off    bool   // by default
	flag   string // enables it; "" is the dashed name
	ignore string // turns it off, beside "ignore-" and the dashed name
	valued bool   // the flag needs a value to enable it
	pair   func(r *run, source, target string) hit
	whole  func(r *run, id ID)
	source func(r *run, source string, form int) hit
}

// enabling is the flag that turns on a check that is off by default.
func (e *entry) enabling() string {
	if e.flag != "" {
		return e.flag
	}
	return dashed(e.name)
}

func pairCheck(name, title, description, example string, f func(*run, string, string) hit) entry {
	return entry{name: name, title: title, description: description, example: example, pair: f}
}

// flagCheck is a check of pairs that a flag turns on.
func flagCheck(name, title, flag, description, example string, f func(*run, string, string) hit) entry {
	e := pairCheck(name, title, description, example, f)
	e.off, e.flag = true, flag
	return e
}

func formatCheck(name, language, example string) entry {
	return entry{
		name: name, title: language + " format", example: example, scope: ScopeTarget, off: true, whole: checkFormat,
		description: "The placeholders of " + language + " are not those of the source, or, where only their place tells them apart, in another order.",
	}
}
