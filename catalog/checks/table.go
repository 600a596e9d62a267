package checks

import "regexp"

// Version numbers the rules of all checks. Raise it when a check is added or
// fails other units than before: results that were stored under another version
// are computed again. TestVersion fails if it was forgotten.
const Version = 9

// ID is the number of a check. It is stored, so it never changes and is never
// used again. The zero value is the first check.
type ID uint8

// The checks that are asked for by number, which is their place in the table (TestNumbers).
const (
	MaxLength        ID = 31
	Inconsistent     ID = 35
	Reused           ID = 36
	MultipleFailures ID = 38
	LongUntranslated ID = 39
	Placeholders     ID = 50
	Regex            ID = 51
	CheckGlossary    ID = 57
)

// rows makes the table of checks. The number of each is its place: a new one comes last.
func rows() []entry {
	whole := func(markers, one string) syntax {
		return syntax{markers: markers, one: regexp.MustCompile(`(?s)^` + one)}
	}
	positions := func(markers, one string) syntax {
		x := whole(markers, one)
		x.positions = true
		return x
	}
	const conversion = `\d*(?:\.\d+)?(?:hh|ll|h|l)?[A-Za-z%]?` // of C's printf
	printf := positions("%", `%(?:(\d+)\$)?[ +#'-]*`+conversion)
	ruby := positions("%", `%(?:(\{[^{}]+\}|<[^<>]+>[A-Za-z]?)|(?:(\d+)\$)?[ +#*-]*`+conversion+`)`)
	ruby.opens = "{<"
	const braces = `\{\{((?:[^{}]|\}[^{}])+)\}\}`
	const star = `(?:\d+|\*)`
	java := formatCheck("java_format", "Java MessageFormat", `"{0} files" → "Dateien"`, whole("{", `\{(\d+(?:,[^{}]*)?)\}`))
	java.syntax.quotes = true
	icuRow := sourceCheck("icu_message_format_syntax", "ICU MessageFormat syntax", "The source has an error in the syntax of ICU MessageFormat.", `"Hello {name"`, icuSyntax).enabledBy(icuFlag)
	icuRow.ignore = "ignore-" + icuFlag
	all := []entry{
		pairCheck("begin_newline", "Starting newline", "Only one of source and translation begins with a line break.", `"\nMenu" → "Menü"`, beginNewline),
		pairCheck("end_newline", "Trailing newline", "Only one of source and translation ends with a line break.", `"Done\n" → "Fertig"`, endNewline),
		pairCheck("begin_space", "Starting spaces", "The translation begins with another number of spaces.", `"  item" → " Eintrag"`, beginSpace),
		pairCheck("end_space", "Trailing space", "The translation ends with another number of spaces.", `"Name: " → "Jméno:"`, endSpace),
		pairCheck("double_space", "Double space", "The translation has two spaces in a row, the source has not.", `"a tree" → "ein  Baum"`, doubleSpace),
		pairCheck("end_stop", "Mismatched full stop", "Only one of source and translation ends with a full stop of its language.", `"It works." → "Es geht"`, endStop),
		pairCheck("end_colon", "Mismatched colon", "Only one of source and translation ends with a colon.", `"Size:" → "Größe"`, endColon),
		pairCheck("end_question", "Mismatched question mark", "Only one of source and translation ends with a question mark.", `"Sure?" → "Sicher"`, endQuestion),
		pairCheck("end_exclamation", "Mismatched exclamation mark", "Only one of source and translation ends with an exclamation mark.", `"Stop!" → "Halt"`, endExclamation),
		pairCheck("end_ellipsis", "Mismatched ellipsis", "Only one of source and translation ends with the character of an ellipsis.", `"Open…" → "Öffnen"`, endEllipsis),
		pairCheck("end_semicolon", "Mismatched semicolon", "Only one of source and translation ends with a semicolon that does not belong to an entity.", `"one;" → "eins"`, endSemicolon),
		pairCheck("escaped_newline", `Mismatched \n`, "The translation has another number of \\n, not counting Windows paths.", `"a\\nb" → "a b"`, escapedNewline),
		pairCheck("newline-count", "Mismatching line breaks", "The translation has another number of line breaks.", `"a\nb" → "a b"`, newlineCount),
		pairCheck("zero-width-space", "Zero-width space", "The translation has a zero-width space (U+200B), the source has not.", `"word" → "Wo\u200brt"`, zeroWidthSpace),
		pairCheck("kashida", "Kashida letter used", "The translation is stretched with decorative kashida letters.", `"house" → "منـزل"`, kashida),
		pairCheck("punctuation_spacing", "Punctuation spacing", "In French and Breton, a high punctuation mark has no blank before it.", `"Why?" → "Pourquoi?"`, punctuationSpacing),
		formsCheck("plurals", "Missing plurals", "Some plural forms are translated, some are empty.", `"%d day", "%d days" → "%d Tag", ""`, plurals),
		formsCheck("same-plurals", "Same plurals", "All plural forms of the translation are the same.", `"%d day", "%d days" → "%d Tag", "%d Tag"`, samePlurals),
		pairCheck("duplicate", "Consecutive duplicated words", "A word stands twice in a row in the translation.", `"the tree" → "der der Baum"`, duplicate),
		formatCheck("python_format", "Python", `"%(n)s files" → "Dateien"`, positions("%", `%(?:(\([^()]+\)))?[ +#-]*`+conversion)),
		formatCheck("python_brace_format", "Python brace", `"{n} files" → "{m} Dateien"`, positions("{", `\{(?:\{|(\w+(?:[.[!:][^{}]*)?|[!:][^{}]*)?\})`)),
		formatCheck("php_format", "PHP", `"%s files" → "Dateien"`, positions("%", `%(?:(\d+)\$)?[ +#-]*`+conversion)),
		formatCheck("c_format", "C", `"%s: %d" → "%d: %s"`, printf),
		formatCheck("perl_format", "Perl", `"%s files" → "Dateien"`, printf),
		formatCheck("perl_brace_format", "Perl brace", `"{n} files" → "Dateien"`, whole("{", `\{(\w+)\}`)),
		formatCheck("javascript_format", "JavaScript", `"%s files" → "Dateien"`, printf),
		formatCheck("lua_format", "Lua", `"%s files" → "Dateien"`, printf),
		formatCheck("java_printf_format", "Java printf", `"%1$s of %2$s" → "%1$s"`, positions("%", `%(?:(\d+)\$)?[-.#+0,(]*\d*(?:\.\d*)?(?:[Tt][A-Za-z]|[A-Za-z%])`)),
		formatCheck("qt_format", "Qt", `"%1 of %2" → "%1"`, whole("%", `%L?\d{1,2}`)),
		formatCheck("qt_plural_format", "Qt plural", `"%n file(s)" → "Dateien"`, whole("%", `%L?n`)),
		formatCheck("percent_placeholders", "Percent", `"%name% left" → "ging"`, whole("%", `%(\w+)%`)),
		formsCheck("max-length", "Maximum length of translation", "A form is longer than the number of characters of the flag max-length:N.", `max-length:4, "Save" → "Speichern"`, maxLength).valuedBy("max-length"),
		sourceCheck("optional_plural", "Unpluralised", "The source says (s) instead of using plural forms.", `"%d file(s)"`, optionalPlural),
		sourceCheck("ellipsis", "Ellipsis", "The source has three full stops instead of an ellipsis.", `"Open..."`, ellipsis),
		sourceCheck("unnamed_format", "Multiple unnamed variables", "The source has several placeholders without a name or number, so that a translation cannot reorder them.", `c-format, "%s in %s"`, unnamedFormat),
		newCheck("inconsistent", "Inconsistent", "The same string is translated in another way elsewhere in the project.", `app "Open" → "Öffnen", docs "Open" → "Offen"`, ScopeAcross),
		newCheck("reused", "Reused translation", "The same translation stands for different strings of the project. Fuzzy strings do not count.", `"Open" → "Auf", "Up" → "Auf"`, ScopeAcross),
		newCheck("translated", "Has been translated", "The string was translated before. Nothing fails it here.", `"Open" → "Öffnen", then ""`, ScopeAcross),
		newCheck("multiple_failures", "Multiple failing checks", "At least two checks fail in the translations of the source.", `"Done." → de "Fertig", fr "Fini"`, ScopeAcross),
		newCheck("long_untranslated", "Long untranslated", "The source is old, and translated far less than the rest of its component.", `"Open" for 91 days in 1 of 10 languages, the rest by 50 %`, ScopeAcross),
		pairCheck("same", "Unchanged translation", "The translation is the source, and has words that are usually translated.", `"Save the file" → "Save the file"`, same),
		pairCheck("bbcode", "BBCode markup", "The translation has other pairs of BBCode tags.", `"[b]bold[/b]" → "fett"`, bbcode),
		formsCheck("xml-invalid", "XML syntax", "The source is well-formed markup (or the flag xml-text says so), the translation is not.", `"<b>x</b>" → "<b>x"`, xmlInvalid),
		formsCheck("xml-tags", "XML markup", "The translation has other tags, or tags with other attributes or in another order.", `"<b>x</b>" → "<i>x</i>"`, xmlTags),
		formatCheck("c_sharp_format", "C#", `"{0} files" → "Dateien"`, whole("{", `\{(\d+(?:[,:][^{}]*)?)\}`)),
		java,
		formatCheck("object_pascal_format", "Object Pascal", `"%d files" → "Dateien"`, positions("%", `%(?:(`+star+`):)?-*`+star+`?(?:\.`+star+`?)?[defgmnpsuxDEFGMNPSUX%]`)),
		formatCheck("ruby_format", "Ruby", `"%{n} files" → "Dateien"`, ruby),
		formatCheck("es_format", "ECMAScript template", `"${n} files" → "Dateien"`, whole("$", `\$\{([^{}]+)\}`)),
		formatCheck("angularjs_format", "AngularJS", `"{{n}} files" → "Dateien"`, whole("{", braces)),
		formsCheck("placeholders", "Placeholders", "The placeholders that the flag placeholders:one:two:r\"regular expression\" names are not those of the source.", `placeholders:$URL$, "at $URL$" → "bei"`, placeholders).valuedBy("placeholders").with((*run).holderSource),
		formsCheck("regex", "Regular expression", "A form does not match the regular expression of the flag regex:r\"expression\".", `regex:r"^[a-z]+$", "word" → "Wort"`, regex).valuedBy("regex"),
		pairCheck("url", "URL", "The translation is not a URL of http, https, ftp or ftps.", `"http://a.org/en" → "a.org/de"`, checkURL).enabledBy("url"),
		pairCheck("safe-html", "Unsafe HTML", "The translation has tags or attributes that the source has not, comments, links to scripts, or tags that are not closed.", `"<b>x</b>" → "<script>x</script>"`, safeHTML).enabledBy("safe-html"),
		pairCheck("md-reflink", "Markdown references", "The translation has other references of Markdown.", `"[a][1]" → "[a][2]"`, mdReflink).enabledBy("md-text"),
		pairCheck("md-link", "Markdown links", "The translation has another number of links of Markdown, or other ones inside the document.", `"[a](#top)" → "[a](#oben)"`, mdLink).enabledBy("md-text"),
		pairCheck("md-syntax", "Markdown syntax", "The translation uses other marks of Markdown: emphasis, code, strike-out, bare links.", `"**a**" → "a"`, mdSyntax).enabledBy("md-text"),
		pairCheck("check_glossary", "Does not follow glossary", "A term of the glossary is translated in another way, or by a forbidden word.", `glossary branch → Zweig, "a branch" → "ein Ast"`, checkGlossary).enabledBy("check-glossary"),
		formatCheck("scheme_format", "Scheme", `"~a files" → "Dateien"`, positions("~", `~(?:\d*(@\*~))?(?:[\d,#+-]|'[^~])*[:@]*[A-Za-z%&|~*?()\[\]{};^!_/\n$]`)),
		formatCheck("vue_format", "Vue I18n", `"{n} files" → "Dateien"`, whole("{%@", `(?:%?\{([^{}]+)\}|@(?:\.[A-Za-z]*)?:(?:\((?:[\w-]|\.\w)+\)?|(?:[\w-]|\.\w)+))`)),
		formatCheck("i18next_interpolation", "i18next", `"{{n}} files" → "Dateien"`, whole("{$", `(?:\$t\(([^()]+)\)|`+braces+`)`)),
		formsCheck("icu_message_format", "ICU MessageFormat", "The translation has an error in the syntax of ICU MessageFormat, other arguments or tags than the source, arguments of another type, selectors that a select of the source or a plural does not have, or no sub-message for other.", `"{n, plural, one {# file} other {# files}}" → "{n, plural, one {# Datei}}"`, checkICU).enabledBy(icuFlag).with((*run).icuSource),
		icuRow,
	}
	for i := range all {
		all[i].ID, all[i].IgnoreFlag = ID(i), "ignore-"+dashed(all[i].Name)
	}
	return all
}

// These tables never change.
var (
	table     = rows()
	byDefault = where(func(e *entry) bool { return e.Default() })
	byFlag    = masksByFlag()
)

// entry is one row of the table. It has one of the functions pair and source, except for
// ScopeAcross.
type entry struct {
	Check
	ignore string // turns it off, as IgnoreFlag does
	valued bool   // EnableFlag turns it on only with a value

	pair       func(r *run, source, target string) hit   // compares one target form with its source form
	sourceForm func(r *run, i int) int                   // which that is; nil: as usual
	source     func(r *run, source string, form int) hit // looks at one form of a source unit
	syntax     *syntax                                   // of the placeholders that it compares, or nil
}

// newCheck makes the row of a check that is on.
func newCheck(name, title, description, example string, scope Scope) entry {
	return entry{Check: Check{Name: name, Title: title, Description: description, Example: example, Scope: scope}}
}

// pairCheck makes the row of a check that compares single forms.
func pairCheck(name, title, description, example string, f func(*run, string, string) hit) entry {
	e := newCheck(name, title, description, example, ScopePair)
	e.pair = f
	return e
}

// formsCheck makes the row of a check of all forms of a target unit, which it gets in turn.
func formsCheck(name, title, description, example string, f func(*run, string, string) hit) entry {
	e := pairCheck(name, title, description, example, f)
	e.Scope = ScopeTarget
	return e
}

// sourceCheck makes the row of a check of the forms of a source unit.
func sourceCheck(name, title, description, example string, f func(*run, string, int) hit) entry {
	e := newCheck(name, title, description, example, ScopeSource)
	e.source = f
	return e
}

// enabledBy has a flag turn the check on, which is off by default.
func (e entry) enabledBy(flag string) entry {
	e.EnableFlag = flag
	return e
}

// valuedBy is enabledBy for a flag with a value.
func (e entry) valuedBy(flag string) entry {
	e.EnableFlag, e.valued = flag, true
	return e
}

// with has another rule say which source form the forms are compared with.
func (e entry) with(sourceForm func(*run, int) int) entry {
	e.sourceForm = sourceForm
	return e
}

// formatCheck makes the row of a check of placeholders.
func formatCheck(name, language, example string, x syntax) entry {
	const description = "The placeholders are not those of the source, or, where only their place tells them apart, in another order."
	e := formsCheck(name, language+" format", description, example, checkFormat).enabledBy(dashed(name)).with((*run).formatSource)
	e.syntax = &x
	return e
}
