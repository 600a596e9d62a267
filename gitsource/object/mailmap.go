package object

import (
	"strings"
)

// Mailmap maps names and addresses in commits to a person's proper name and
// address (gitmailmap(5)). The zero value changes nothing.
type Mailmap struct {
	byEmail map[string]*mapped // key: address in lower case
}

// mapped is the mapping of one commit address.
type mapped struct {
	name, email string             // the proper ones; "" keeps the commit's
	byName      map[string]*mapped // for commits with one name, in lower case
}

// ParseMailmap reads the four forms of lines in gitmailmap(5). Other lines are
// skipped, as git does; a later line overrides an earlier one.
func ParseMailmap(text string) Mailmap {
	m := Mailmap{byEmail: map[string]*mapped{}}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.ToValidUTF8(strings.TrimSuffix(line, "\r"), "\uFFFD")
		if strings.HasPrefix(line, "#") {
			continue
		}
		name1, email1, rest, ok := cutPerson(line)
		if !ok {
			continue
		}
		name2, email2, _, two := cutPerson(rest)
		if two {
			m.add(name1, email1, name2, email2)
		} else if name1 != "" {
			m.add(name1, "", "", email1)
		}
	}
	return m
}

// cutPerson reads "name <email>" from the start of s.
func cutPerson(s string) (name, email, rest string, ok bool) {
	open := strings.IndexByte(s, '<')
	if open < 0 {
		return "", "", "", false
	}
	end := strings.IndexByte(s[open:], '>')
	if end < 0 {
		return "", "", "", false
	}
	end += open
	return cleanName(s[:open]), cleanName(s[open+1 : end]), s[end+1:], true
}

func (m Mailmap) add(name, email, oldName, oldEmail string) {
	key := strings.ToLower(oldEmail)
	e := m.byEmail[key]
	if e == nil {
		e = &mapped{}
		m.byEmail[key] = e
	}
	if oldName != "" {
		if e.byName == nil {
			e.byName = map[string]*mapped{}
		}
		e.byName[strings.ToLower(oldName)] = &mapped{name: name, email: email}
		return
	}
	if name != "" {
		e.name = name
	}
	if email != "" {
		e.email = email
	}
}

// Lookup returns the proper name and address for the name and address in a
// commit, or these themselves if they are not mapped. Case does not matter.
func (m Mailmap) Lookup(name, email string) (properName, properEmail string) {
	e := m.byEmail[strings.ToLower(email)]
	if e == nil {
		return name, email
	}
	if special := e.byName[strings.ToLower(name)]; special != nil {
		e = special
	}
	if e.name != "" {
		name = e.name
	}
	if e.email != "" {
		email = e.email
	}
	return name, email
}
