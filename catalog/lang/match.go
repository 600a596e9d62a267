package lang

import (
	"cmp"
	"strings"
	"unicode"
)

// Match returns the language of a file's code (docs/compatibility.md#languages). It
// looks for the sanitised code exactly, without regard to case, with '-' and '+' as
// '_', as an alias, as an English name, as four letters xxYY, and without the
// language's default country (cs_CZ is cs).
//
// An unknown code is a language of its own. It has name, direction and plural of its
// base, the longest known code before a separator. Without a base it is named
// "<code> (generated)" and has two forms `n != 1`. A code that is empty after
// sanitising is "und", the undetermined language.
//
// Two steps differ from Weblate on purpose. Aliases come before names, so that the
// ISO 639 codes dan and mon are Danish and Mongolian, as in the alias lists, and not
// the languages named Dan and Mon; no other code is affected. And the table's codes
// are folded, so that sv_FI is its sv-FI.
func (t *Table) Match(code string) Language {
	code = sanitize(code)
	code = cmp.Or(code, undetermined)
	if i, ok := t.find(code); ok {
		return t.langs[i]
	}
	return t.generate(code)
}

// Variant returns the language object of a second file of one language: the file's own
// code, with name, direction and plural rule of base. It has no aliases, and its plural
// has its own id. For an empty file code it returns base.
func (t *Table) Variant(fileCode string, base Language) Language {
	if fileCode == "" {
		return base
	}
	v := Language{
		Code:      fileCode,
		Name:      base.Name,
		Direction: base.Direction,
		Aliases:   []string{},
		Plural:    base.Plural,

		Population: base.Population,
	}
	v.Plural.ID = stableID(fileCode)
	return v
}

// find is the part of Match that looks in the table.
func (t *Table) find(code string) (int, bool) {
	if i, ok := t.lookup(code); ok {
		return i, true
	}
	if i, ok := t.byName[strings.ToLower(code)]; ok {
		return i, true
	}
	if isFourLetters(code) {
		if i, ok := t.byFold[fold(code[:2]+"_"+code[2:])]; ok {
			return i, true
		}
	}
	key := fold(code)
	if _, ok := t.defaults[key]; ok {
		base, _, _ := strings.Cut(key, "_")
		return t.lookup(base)
	}
	return 0, false
}

// generate makes the language of an unknown, sanitised code. A base is not longer than
// the longest key of the table, so only that many bytes are searched: a name in a git
// tree may have a million separators.
func (t *Table) generate(code string) Language {
	for prefix := code[:min(len(code), t.longest+1)]; ; {
		cut := strings.LastIndexAny(prefix, codeSeparators)
		if cut < 0 {
			break
		}
		prefix = prefix[:cut]
		if i, ok := t.find(prefix); ok {
			return t.Variant(code, t.langs[i])
		}
	}
	return Language{
		Code:      code,
		Name:      code + " (generated)",
		Direction: direction(t.rtl, code),
		Aliases:   []string{},
		Plural:    Plural{ID: stableID(code), Source: SourceDefault, Number: 2, Formula: "n != 1", Type: 1},
	}
}

// sanitize removes characters that are not part of a code: Android's "b+" and the r of
// "pt-rBR", the "(2)" of a copied file, white space, and dots at the ends. It also
// removes bytes that are not UTF-8 and control characters, as codes appear in URLs,
// JSON and SQL text. It repeats until nothing changes, so that the code of a language
// matches that language.
func sanitize(code string) string {
	code, _, _ = strings.Cut(code, "(")
	code = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || unicode.IsSpace(r) || unicode.IsControl(r) {
			return -1
		}
		return r
	}, code)
	for {
		next := strings.Trim(strings.TrimPrefix(code, "b+"), ".")
		if next == code {
			break
		}
		code = next
	}
	if n := len(code) - len("-rXX"); n > 0 && code[n:n+2] == "-r" && isLetter(code[n+2]) && isLetter(code[n+3]) {
		code = code[:n+1] + code[n+2:]
	}
	return code
}

// isFourLetters reports whether code may be ll_CC without the separator.
func isFourLetters(code string) bool {
	if len(code) != 4 {
		return false
	}
	for i := range len(code) {
		if !isLetter(code[i]) {
			return false
		}
	}
	return true
}

// isLetter reports whether c is an ASCII letter.
func isLetter(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z'
}

// direction returns RightToLeft if rtl.csv lists the code or its base. Unlike Weblate
// it ends the base also at '@' and '.'.
func direction(rtl map[string]string, code string) string {
	_, whole := rtl[code]
	_, base := rtl[BaseCode(code)]
	if whole || base {
		return RightToLeft
	}
	return LeftToRight
}
