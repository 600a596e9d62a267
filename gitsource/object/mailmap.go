package object

import (
	"strings"
)

// Mailmap gives people their proper name and address, by the rules of
// gitmailmap(5). The zero value changes nothing.
type Mailmap struct {
	byEmail map[string]*mapped // key: address in lower case
}

// mapped is what is known of one commit address.
type mapped struct {
	name, email string             // proper ones for any name; "" keeps
	byName      map[string]*mapped // for commits of one name, lower case
}

// ParseMailmap reads the four forms of gitmailmap(5). Lines that have none of
// them are skipped, as git does; a later line wins over an earlier one.
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

// cutPerson reads "name <email>" off the front.
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

// Lookup gives the proper name and address of a commit's; what is not mapped
// comes back as it is. Names and addresses are compared without case.
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
