package checks

// icuMessage is a message of ICU MessageFormat: how it uses each name.
type icuMessage struct {
	ok        bool // the syntax is right
	at        int  // where it is wrong, in bytes
	arguments map[string]*icuArgument
	order     []*icuArgument // by their first place
	facts     int            // number of names, types and selectors that are kept
}

// icuArgument is how a message uses one name: as an argument, a tag, or both.
type icuArgument struct {
	name     string
	from, to int                 // the first place, up to its sub-messages or contents; to is 0 while unknown
	types    map[string]struct{} // such as "number"; nil if it has no type
	choices  map[string]struct{} // selectors of sub-messages; nil if it has no sub-messages
	notCount bool                // it has a type that is not a number's
	misnamed bool                // a plural has a wrong selector
	tag      bool                // a tag has the name
	full     bool                // a tag of the name has contents
	empty    bool                // a tag of the name is empty
}

// many reports whether the message has more facts than are kept. Such a message
// is not checked.
func (m *icuMessage) many() bool { return m.facts >= maxMarks }

// note counts a fact, and reports whether to keep it.
func (m *icuMessage) note() bool {
	if m.many() {
		return false
	}
	m.facts++
	return true
}

// use returns the argument of a name, which is used at byte from.
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

// ends records where the first place of the argument ends.
func (a *icuArgument) ends(at int) {
	if a.to == 0 {
		a.to = at
	}
}

// setType records a type of the argument.
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

// choose records a selector of the argument.
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

// counts reports whether all types of the argument are types of numbers.
func (a *icuArgument) counts() bool { return a.types != nil && !a.notCount }

// isTag reports whether the name is used by tags and by no argument with a type.
func (a *icuArgument) isTag() bool { return a.tag && a.types == nil }

// icuPlural reports whether a type has the selectors of plurals.
func icuPlural(name string) bool { return name == "plural" || name == "selectordinal" }

// icuPluralSelector reports whether s is a category of CLDR or a number such as
// "=1".
func icuPluralSelector(s string) bool {
	switch s {
	case "zero", "one", "two", "few", "many", icuOther:
		return true
	}
	return s[0] == '='
}

// icuOther is the selector that every argument with sub-messages needs.
const icuOther = "other"
