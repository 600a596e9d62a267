package msgmerge

import (
	_ "embed" // languages
	"fmt"
	"regexp"
	"slices"
	"strconv"
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
	str := headerText(form(def.Str)[0], text)
	if name := charset(str); name != "" && strings.EqualFold(charset(text), "UTF-8") {
		str = strings.Replace(str, charsetMark+name, charsetMark+"UTF-8", 1)
	}
	h.Str = []string{str}
	return h
}

// headerText merges the fields.
func headerText(def, ref string) string {
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
		known["Language"] = " " + languageOf(team) + "\n"
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

// languages has, on each line, a code and the English name by which msgmerge knows it.
//
//go:embed languages.txt
var languages string

// languageOf returns the code of the language that a team is named for, if an address follows the
// name: the line feed of the field is a part of its last word, which msgmerge takes off only then.
func languageOf(team string) string {
	team = strings.TrimLeft(team, " \t")
	if i := strings.LastIndexAny(team, " \t") + 1; strings.HasPrefix(team[i:], "<") || strings.ContainsAny(team, "@/") {
		team = strings.TrimRight(team[:i], " \t")
	}
	for line := range strings.SplitSeq(languages, "\n") {
		if code, name, ok := strings.Cut(line, " "); ok && name == team {
			return code
		}
	}
	return ""
}

// charset is what a header says, "" if it says nothing.
func charset(header string) string {
	_, name, _ := strings.Cut(header, charsetMark)
	if end := strings.IndexAny(name, " \t\n"); end >= 0 {
		return name[:end]
	}
	return name
}

// formats are the languages whose formats gettext 0.21 knows, in the order in which it
// writes their flags.
const formats = "c objc python python-brace java java-printf csharp javascript scheme lisp elisp librep ruby sh awk lua object-pascal smalltalk qt qt-plural kde kde-kuit boost tcl perl perl-brace php gcc-internal gfc-internal ycp"

const (
	formatMark = "-format"
	rangeMark  = "range: "
	noWrap     = "no-wrap"
)

// flags returns those flags that gettext knows, in its order and form.
func flags(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	var out []string
	last := map[string]string{} // of a language: the flag that counts is the last one
	for _, flag := range list {
		if name, ok := strings.CutSuffix(flag, formatMark); ok {
			last[language(name)] = flag
		}
	}
	for name := range strings.FieldsSeq(formats) {
		flag, ok := last[name]
		switch {
		case !ok || strings.HasPrefix(flag, "impossible-"):
		case strings.HasPrefix(flag, "no-"):
			out = append(out, flag)
		default:
			out = append(out, name+formatMark)
		}
	}
	if least, most, ok := numbers(list); ok {
		out = append(out, fmt.Sprintf("%s%d..%d", rangeMark, least, most))
	}
	wrap := slices.DeleteFunc(slices.Clone(list), func(flag string) bool { return flag != noWrap && flag != "wrap" })
	if len(wrap) > 0 && wrap[len(wrap)-1] == noWrap {
		out = append(out, noWrap)
	}
	return out
}

// language is the language of a flag without its end.
func language(name string) string {
	for _, prefix := range []string{"no-", "possible-", "impossible-"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return name
}

// numbers reads the flag of a range, such as "range: 0..5".
func numbers(list []string) (least, most int, ok bool) {
	for _, flag := range list {
		rest, found := strings.CutPrefix(flag, rangeMark)
		from, to, dots := strings.Cut(strings.TrimSpace(rest), "..")
		if !found || !dots {
			continue
		}
		a, err := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err == nil && err2 == nil && 0 <= a && a <= b {
			least, most, ok = a, b, true
		}
	}
	return least, most, ok
}

// references returns the references of an entry as gettext writes them: without "./",
// each once.
func references(e *poparse.Entry) []string {
	_, more := positions(e.Comments)
	if len(e.References)+len(more) == 0 {
		return nil
	}
	out := make([]string, 0, len(e.References)+len(more))
	seen := map[string]bool{}
	for _, ref := range append(more, e.References...) {
		if !seen[ref] {
			seen[ref] = true
			for strings.HasPrefix(ref, "./") {
				ref = ref[2:]
			}
			out = append(out, ref)
		}
	}
	return out
}

// position is a comment of Solaris that gettext reads as a reference, of a file without blanks.
var position = regexp.MustCompile(`^[Ff]ile:[ \t]*([^ \t,]+)[ \t]*,[ \t]*line:([0-9]{1,18})[ \t]*$`)

// positions parts such comments from all others.
func positions(comments []string) (others, refs []string) {
	for _, c := range comments {
		if m := position.FindStringSubmatch(c); m == nil {
			others = append(others, c)
		} else {
			line, _ := strconv.Atoi(m[2])
			refs = append(refs, fmt.Sprint(m[1], ":", line))
		}
	}
	return others, refs
}
