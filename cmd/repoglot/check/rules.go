package check

import "github.com/repoglot/repoglot/poparse"

// Codes of this package; those of warnings from poparse are its Warn constants.
// They are stable: scripts may rely on them.
const (
	// CodeSyntax: the file is not a PO file that can be read.
	CodeSyntax = "syntax"
	// CodeUnreadable: the system does not let us read the file or folder.
	CodeUnreadable = "unreadable"
	// CodeNoHeader: messages, but no header.
	CodeNoHeader = "no-header"
	// CodeHeaderField: fields that gettext expects are missing in the header.
	CodeHeaderField = "header-field"
	// CodeHeaderDefault: header fields as the template had them.
	CodeHeaderDefault = "header-default"
	// CodeNoPluralForms: translated plurals, but no rule in the header.
	CodeNoPluralForms = "no-plural-forms"
	// CodePluralRange: a plural expression that gives no form for some numbers.
	CodePluralRange = "plural-range"
)

// A Rule explains a code. docs/check.md is made from the rules.
type Rule struct {
	// Code is that of the findings.
	Code string
	// Severity is that of the findings.
	Severity Severity
	// Summary is one sentence: what is wrong.
	Summary string
	// Help says what it leads to and what to do.
	Help string
}

// Rules returns all rules, errors first, each code once.
func Rules() []Rule {
	return []Rule{
		{
			CodeSyntax, Error,
			"The file cannot be read as a PO file.",
			"The message says what stands at the place and, where it can be told, what the file looks like instead: a merge conflict, a truncated file, an HTML page, a wrong charset. Only the first such error of a file is reported; mend it and check again.",
		},
		{
			CodeUnreadable, Error,
			"The file or folder cannot be opened or read.",
			"The message is the system's: the path does not exist, or access to it is refused.",
		},
		{
			poparse.WarnCharset, Warning,
			"The header does not name the charset, or names another one than the file is in.",
			"The file was read as UTF-8 or else as ISO-8859-1. Save the file as UTF-8 and write charset=UTF-8 into the header's Content-Type.",
		},
		{
			poparse.WarnNUL, Warning,
			"The file holds a NUL byte or the escape of one.",
			"It was read as U+FFFD; compiled catalogs end a text at it. Remove it.",
		},
		{
			poparse.WarnEscape, Warning,
			"Octal or hexadecimal escapes are no text in the file's charset.",
			"They were read as U+FFFD. Write the characters themselves.",
		},
		{
			poparse.WarnDuplicate, Warning,
			"A message is there twice.",
			"The first one counts; msgfmt refuses the file. Remove one of both, or run msguniq.",
		},
		{
			poparse.WarnHeader, Warning,
			"There is a second header.",
			"The first one counts; msgfmt refuses the file. Remove the second, often left by a merge.",
		},
		{
			poparse.WarnDomain, Warning,
			"The file has domain directives.",
			"Only the messages before the first directive, or else those of the first domain, are served. Write one file for each domain.",
		},
		{
			poparse.WarnPluralIndex, Warning,
			"The indices of plural forms are repeated, out of order or with gaps.",
			"Forms were sorted, the first of a repeated index counts, missing ones are empty; msgfmt refuses the file. Number the forms from 0.",
		},
		{
			poparse.WarnPluralCount, Warning,
			"A plural has more or fewer forms than the header's nplurals.",
			"Add the missing forms or remove those too many, or correct nplurals in the header; msgfmt -c refuses the file.",
		},
		{
			poparse.WarnPluralForms, Warning,
			"The header's Plural-Forms cannot be understood.",
			"Write it as nplurals=NUMBER; plural=EXPRESSION; with a C expression in n, such as nplurals=2; plural=(n != 1);",
		},
		{
			poparse.WarnTooMany, Warning,
			"Comments, references or flags are too many for the size of the file.",
			"Some of them were left out. The file is damaged, or was made to cause trouble.",
		},
		{
			poparse.WarnMore, Warning,
			"There are more findings in the file than are listed.",
			"Mend those that are listed and check again.",
		},
		{
			CodeNoHeader, Warning,
			"The file has messages, but no header.",
			"Charset, language and plural rule are not known then. Put an entry with an empty msgid at the top (msginit makes one); msgfmt -c refuses the file. Templates (.pot) need none.",
		},
		{
			CodeHeaderField, Warning,
			"Fields that gettext expects are missing in the header.",
			"Add them, as msgfmt -c asks for: Project-Id-Version, PO-Revision-Date, Last-Translator, Language-Team, Language, MIME-Version, Content-Type, Content-Transfer-Encoding. Not asked of templates (.pot).",
		},
		{
			CodeHeaderDefault, Warning,
			"Fields of the header are still as the template had them.",
			"Fill them in; msginit does so. Not asked of templates (.pot).",
		},
		{
			CodeNoPluralForms, Warning,
			"There are translated plurals, but the header has no plural rule.",
			"Programs take the rule of English then. Add Plural-Forms to the header; msgfmt -c refuses the file. Not asked of templates (.pot).",
		},
		{
			CodePluralRange, Warning,
			"The plural expression gives no plural form for some numbers.",
			"For a number up to 1000 it divides by zero, or gives an index that is not below nplurals. Correct Plural-Forms in the header; msgfmt -c refuses the file.",
		},
	}
}
