package msgmerge

import (
	"strings"

	"github.com/repoglot/repoglot/poparse"
)

// fields are the fields of a header, in the order in which msgmerge writes them; all
// others follow.
const fields = "Project-Id-Version Report-Msgid-Bugs-To POT-Creation-Date PO-Revision-Date Last-Translator Language-Team Language MIME-Version Content-Type Content-Transfer-Encoding"

const charsetMark = "charset="

// header merges the header of a file with that of its template, which may be nil.
func (m *merger) header(def, ref *poparse.Entry) *poparse.Entry {
	template := poparse.Entry{Str: []string{""}}
	if ref != nil {
		template = *ref
	}
	h := m.update(def, &template, false)
	text := ""
	if ref != nil {
		text = form(ref.Str)[0]
	}
	str := m.headerText(form(def.Str)[0], text)
	if charset(text) == "UTF-8" {
		str = inUTF8(str)
	}
	h.Str = []string{str}
	return h
}

// headerText merges the fields.
func (m *merger) headerText(def, ref string) string {
	known, unknown := map[string]string{}, ""
	for line := range strings.Lines(def) {
		if !strings.HasSuffix(line, "\n") {
			line += "\n"
		}
		if name, value, ok := field(line); ok {
			known[name] = value
		} else {
			unknown += line
		}
	}
	team, hasTeam := known["Language-Team"]
	if _, ok := known["Language"]; !ok && hasTeam {
		known["Language"] = " " + m.languageOf(team) + "\n"
	}
	for _, name := range []string{"Report-Msgid-Bugs-To", "POT-Creation-Date"} {
		if _, rest, ok := strings.Cut(ref, name+":"); ok {
			value, _, _ := strings.Cut(rest, "\n")
			known[name] = value + "\n"
		}
	}
	var b strings.Builder
	for name := range strings.FieldsSeq(fields) {
		if value, ok := known[name]; ok {
			b.WriteString(name + ":" + value)
		}
	}
	return b.String() + unknown
}

// field parts a line of a header into a known name and its value.
func field(line string) (name, value string, ok bool) {
	for name := range strings.FieldsSeq(fields) {
		if len(line) > len(name) && line[len(name)] == ':' && strings.EqualFold(line[:len(name)], name) {
			return name, line[len(name)+1:], true
		}
	}
	return "", "", false
}

// languageOf returns the code of the language that a team is named for.
func (m *merger) languageOf(team string) string {
	team = strings.Trim(strings.TrimSuffix(team, "\n"), " \t")
	if i := strings.LastIndexAny(team, " \t") + 1; strings.HasPrefix(team[i:], "<") || strings.HasSuffix(team, ">") || strings.ContainsAny(team, "@/") {
		team = strings.TrimRight(team[:i], " \t")
	}
	if m.Language == nil || team == "" {
		return ""
	}
	return m.Language(team)
}

// charset is what a header says, "" if it says nothing.
func charset(header string) string {
	_, rest, ok := strings.Cut(header, charsetMark)
	if !ok {
		return ""
	}
	name := rest
	if end := strings.IndexAny(rest, " \t\n"); end >= 0 {
		name = rest[:end]
	}
	if strings.EqualFold(name, "utf-8") {
		return "UTF-8"
	}
	return name
}

// inUTF8 names UTF-8 in a header that names another charset.
func inUTF8(header string) string {
	if name := charset(header); name != "" && name != "UTF-8" {
		return strings.Replace(header, charsetMark+name, charsetMark+"UTF-8", 1)
	}
	return header
}
