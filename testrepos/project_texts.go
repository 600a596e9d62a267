package testrepos

import (
	"fmt"
	"slices"
)

// projectMessage is a string of a template.
type projectMessage struct {
	number   int // in its component
	key      int // the same in all components that share it
	revision int // how often its source changed
	context  string
	source   string
	plural   string // "" without
	format   bool   // has %d
	file     int    // its source file
	line     int
}

// projectTexts makes the texts of all components.
type projectTexts struct {
	project          Project
	english, foreign []string
}

// message makes string n of a component, from 0; a number is never used again.
func (t *projectTexts) message(component, n, revision int) *projectMessage {
	key := (component + 1) * 1_000_000_000
	switch place := n * 37 % 100; { // 37 and 100 have no common divisor: every hundred has each
	case place < t.project.Shared/2:
		key = 0
	case place < t.project.Shared:
		key = (component/10 + 1) * 10_000_000
	}
	key += n
	m := &projectMessage{number: n, key: key, revision: revision, format: every(n, 12)}
	m.source = string(appendSentence(nil, t.english, t.project.Seed, key))
	if revision > 0 {
		m.source += fmt.Sprintf(" (%d)", revision+1)
	}
	if m.format {
		m.source += ": %d"
	}
	if every(n, 9) {
		m.context = "menu"
	}
	if every(n, 10) {
		m.plural = m.source + " each"
	}
	if n%3 == 0 {
		m.source += "."
	}
	return m
}

// target makes the translation of a form. times counts the translations of the string
// in its file: a translator always writes another text.
func (t *projectTexts) target(component int, m *projectMessage, lang string, form, times int) string {
	h := mix(t.project.Seed + uint64(form)*7919 + uint64(times)*104729)
	for _, c := range lang {
		h = mix(h + uint64(c))
	}
	chance := mix(h ^ uint64(m.key) ^ uint64(component)<<40)
	if times > 1 || chance%16 == 0 { // a component has its own translation of a shared string
		h = mix(h + uint64(component))
	}
	text := string(appendSentence(nil, t.foreign, h, m.key))
	if m.format && chance%50 != 1 {
		text += ": %d"
	}
	if m.source[len(m.source)-1] == '.' && chance%40 != 2 {
		text += "."
	}
	if chance%60 == 3 {
		text += " "
	}
	return text
}

// pluralForms returns the number of forms of a language, and the value of its header.
func pluralForms(lang string) (int, string) {
	switch {
	case slices.Contains([]string{"ja", "ko", "zh_Hans", "zh_Hant", "th", "vi", "id", "ms", "lo", "my", "ka"}, lang):
		return 1, "nplurals=1; plural=0;"
	case slices.Contains([]string{"cs", "sk"}, lang):
		return 3, "nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;"
	case slices.Contains([]string{"ru", "uk", "be", "sr", "hr", "bs"}, lang):
		return 3, "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"
	case lang == "pl":
		return 3, "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"
	case slices.Contains([]string{"fr", "pt_BR", "tr", "oc"}, lang):
		return 2, "nplurals=2; plural=(n > 1);"
	}
	return 2, "nplurals=2; plural=(n != 1);"
}
