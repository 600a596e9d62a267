package checks

// icuMessage is what a message of ICU MessageFormat says of each name in it.
type icuMessage struct {
	ok        bool // its syntax is right
	at        int  // where it is not, in bytes
	arguments map[string]*icuArgument
	order     []*icuArgument // by their first place
	facts     int            // kept ones
}

// icuArgument is what a message says of one name: of arguments, of tags, or of
// both.
type icuArgument struct {
	name     string
	from, to int                 // the first place, up to its sub-messages or contents; 0 of to: not known yet
	types    map[string]struct{} // such as "number"; nil if none is given
	choices  map[string]struct{} // selectors of sub-messages; nil without
	notCount bool                // a type is not that of a number
	misnamed bool                // a selector of a plural is none
	tag      bool                // a tag has the name
	full     bool                // a tag has contents
	empty    bool                // a tag has none
}

// many reports more facts than are kept: such a message is not judged.
func (m *icuMessage) many() bool { return m.facts >= maxMarks }

// note counts a fact; it reports whether it is kept.
func (m *icuMessage) note() bool {
	if m.many() {
		return false
	}
	m.facts++
	return true
}

// use is the argument of a name that stands at byte from.
func (m *icuMessage) use(name string, from int) *icuArgument {
	if a := m.arguments[name]; a != nil {
		return a
	}
	a := &icuArgument{name: name, from: from}
	if m.note() {
		if m.arguments == nil {
			m.arguments = make(map[string]*icuArgument)
		}
		m.arguments[name] = a
		m.order = append(m.order, a)
	}
	return a
}

// ends notes where the first place of the argument ends.
func (a *icuArgument) ends(at int) {
	if a.to == 0 {
		a.to = at
	}
}

// setType notes a type of the argument.
func (m *icuMessage) setType(a *icuArgument, name string) {
	if _, known := a.types[name]; known || !m.note() {
		return
	}
	if a.types == nil {
		a.types = make(map[string]struct{}, 1)
	}
	a.types[name] = struct{}{}
	a.notCount = a.notCount || name != "number" && !icuPlural(name)
}

// choose notes a selector of the argument.
func (m *icuMessage) choose(a *icuArgument, selector string, plural bool) {
	a.misnamed = a.misnamed || plural && !icuPluralSelector(selector)
	if _, known := a.choices[selector]; known || !m.note() {
		return
	}
	if a.choices == nil {
		a.choices = make(map[string]struct{}, 2)
	}
	a.choices[selector] = struct{}{}
}

// counts reports an argument all types of which are those of numbers.
func (a *icuArgument) counts() bool { return a.types != nil && !a.notCount }

// isTag reports a name of tags only; an argument without a type may have it, too.
func (a *icuArgument) isTag() bool { return a.tag && a.types == nil }

// icuPlural reports the types whose selectors are those of plurals.
func icuPlural(name string) bool { return name == "plural" || name == "selectordinal" }

// icuPluralSelector reports the categories of CLDR and numbers such as "=1".
func icuPluralSelector(s string) bool {
	switch s {
	case "zero", "one", "two", "few", "many", icuOther:
		return true
	}
	return s[0] == '='
}

// icuOther is the selector that no argument with sub-messages may lack.
const icuOther = "other"
