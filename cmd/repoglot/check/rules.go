package check

import "github.com/repoglot/repoglot/poparse"

// Codes of this package. The Err and Warn constants of poparse are further codes. Codes are stable: scripts may rely on them.
const (
	// CodeUnreadable: the system does not let us read the file or folder.
	CodeUnreadable = "unreadable"
	// CodeNoHeader: the file has messages and no header.
	CodeNoHeader = "no-header"
	// CodeHeaderField: fields that gettext expects are missing in the header.
	CodeHeaderField = "header-field"
	// CodeHeaderDefault: header fields still have the template's placeholders.
	CodeHeaderDefault = "header-default"
	// CodeNoPluralForms: there are translated plurals, but the header has no rule.
	CodeNoPluralForms = "no-plural-forms"
	// CodePluralRange: a plural expression gives no form for some numbers.
	CodePluralRange = "plural-range"
	// CodeNoLanguage: quality checks need the language of a file, which is unknown.
	CodeNoLanguage = "no-language"
	// CodeCheckFlag: a flag for the quality checks is unknown.
	CodeCheckFlag = "check-flag"
	// CodeTemplateMissing: the template has strings that the file lacks.
	CodeTemplateMissing = "template-missing"
	// CodeTemplateGone: the file has strings that the template does not have.
	CodeTemplateGone = "template-gone"
	// CodeTemplateRefused: the file or the template cannot be merged.
	CodeTemplateRefused = "template-refused"
)

// A Rule explains a code. docs/check.md is made from the rules.
type Rule struct {
	// Code is the code of the findings.
	Code string
	// Severity is the severity of the findings.
	Severity Severity
	// Summary describes the problem in one sentence.
	Summary string
	// Help says what the problem leads to and what to do.
	Help string
}

// Rules returns all rules, errors first, each code once: a file with an error
// cannot be read, one with a warning can.
func Rules() []Rule {
	return []Rule{
		errorRule(poparse.ErrNotPO, "The file is not a PO file.",
			"The message says what it looks like instead: HTML (perhaps the error page of a server), JSON, an INI file, a mail, an archive, a compiled catalog, a pointer of Git LFS. Put the PO file in its place."),
		errorRule(poparse.ErrConflict, "The markers of a merge conflict are in the file.",
			"Resolve the conflict and commit the file again."),
		errorRule(poparse.ErrTruncated, "The file ends inside an entry or a string.",
			"Its end is missing, as after a download that broke off or a full disk. Get the whole file."),
		errorRule(poparse.ErrCharset, "The charset is not known.",
			"The header names a charset that cannot be read, or the file is in UTF-32. Convert the file to UTF-8 and write charset=UTF-8 into the header."),
		errorRule(poparse.ErrBytes, "Bytes in the file are not text in the file's charset.",
			"Correct the bytes at the place named, or the charset in the header. msgfmt does not look at those in comments."),
		errorRule(poparse.ErrText, "There is text where none can be.",
			"Only keywords, strings in quotes and comments, which begin with #, may be in a PO file. Put it in quotes, make it a comment, or remove it."),
		errorRule(poparse.ErrAfterString, "There is text after the closing quote of a string.",
			"Usually a quote inside the text has no backslash: write \\\"."),
		errorRule(poparse.ErrKeyword, "There is a word that is not a keyword where a keyword must be.",
			"The keywords are msgctxt, msgid, msgid_plural, msgstr and domain. Correct the word, or make the line a comment."),
		errorRule(poparse.ErrUnclosed, "A string is not closed on its line.",
			"Put a quote at the end of the line; write a line break in the text as \\n, and go on in a new string on the next line."),
		errorRule(poparse.ErrLooseString, "A string belongs to no keyword.",
			"The line of its msgid or msgstr is missing, or there is a comment between the lines of a string. Add the missing line, or move the comment before the entry."),
		errorRule(poparse.ErrNoString, "A keyword has no string after it.",
			"Write one in quotes; an empty one is \"\"."),
		errorRule(poparse.ErrEscape, "A backslash and the character after it make no escape.",
			"Write two backslashes for one. The escapes are the same as in C: \\n, \\t, \\\", \\\\ and a few more."),
		errorRule(poparse.ErrNoMsgid, "An entry has no msgid.",
			"There is a msgctxt, msgid_plural or msgstr alone: the line of the msgid is missing or commented out."),
		errorRule(poparse.ErrNoMsgstr, "An entry has no msgstr directly after its msgid.",
			"Add msgstr \"\" if there is no translation yet; comments go before the entry, not between its lines."),
		errorRule(poparse.ErrPlural, "msgid_plural and the numbers of the msgstr do not fit together.",
			"An entry with msgid_plural has msgstr[0], msgstr[1] and so on; an entry without it has a single msgstr."),
		errorRule(poparse.ErrPrevious, "The lines with #| are not a previous msgid.",
			"Write a msgctxt, msgid and msgid_plural, in this order, directly before the msgctxt or msgid of the entry, with no comment between. All of them may be removed: msgmerge writes them again."),
		errorRule(poparse.ErrMixed, "Lines with and without #~, or #|, are mixed.",
			"All lines of an obsolete entry begin with #~, all lines of a previous string with #|, and no others do."),
		errorRule(CodeUnreadable, "The file or folder cannot be opened or read.",
			"The message comes from the operating system: the path does not exist, or access to it is refused."),
		warningRule(poparse.WarnCharset, "The header does not name the charset, or names a charset that the file is not in.",
			"The file was read as UTF-8 or else as ISO-8859-1. Save the file as UTF-8 and write charset=UTF-8 into the header's Content-Type."),
		warningRule(poparse.WarnNUL, "The file holds a NUL byte or the escape of one.",
			"It was read as U+FFFD; a compiled catalog ends the text there. Remove it."),
		warningRule(poparse.WarnEscape, "Octal or hexadecimal escapes are not text in the file's charset.",
			"They were read as U+FFFD. Write the characters themselves."),
		warningRule(poparse.WarnDuplicate, "A message is there twice.",
			"The first one counts; msgfmt refuses the file. Remove one of the two, or run msguniq."),
		warningRule(poparse.WarnHeader, "There is a second header.",
			"The first one counts; msgfmt refuses the file. Remove the second one; merges often leave one."),
		warningRule(poparse.WarnDomain, "The file has domain directives.",
			"Only the messages before the first directive, or else the messages of the first domain, are served. Write one file for each domain."),
		warningRule(poparse.WarnPluralIndex, "The indices of plural forms are repeated, out of order or with gaps.",
			"Forms were sorted, the first of a repeated index counts, missing ones are empty; msgfmt refuses the file. Number the forms from 0."),
		warningRule(poparse.WarnPluralCount, "A plural has more or fewer forms than the header's nplurals.",
			"Add the missing forms, remove the extra ones, or correct nplurals in the header; msgfmt -c refuses the file."),
		warningRule(poparse.WarnPluralForms, "The header's Plural-Forms cannot be understood.",
			"Write it as nplurals=NUMBER; plural=EXPRESSION; with a C expression in n, such as nplurals=2; plural=(n != 1);"),
		warningRule(poparse.WarnTooMany, "There are too many comments, references or flags for the size of the file.",
			"Some of them were left out. The file is damaged or malicious."),
		warningRule(poparse.WarnMore, "There are more findings in the file than are listed.",
			"Correct the listed ones and check again."),
		warningRule(CodeNoHeader, "The file has messages and no header.",
			"Charset, language and plural rule are unknown. Put an entry with an empty msgid at the top (msginit makes one); msgfmt -c refuses the file. Templates (.pot) need none."),
		warningRule(CodeHeaderField, "Fields that gettext expects are missing in the header.",
			"Add the fields that msgfmt -c asks for: Project-Id-Version, PO-Revision-Date, Last-Translator, Language-Team, Language, MIME-Version, Content-Type, Content-Transfer-Encoding. Not asked of templates (.pot)."),
		warningRule(CodeHeaderDefault, "Fields of the header still have the placeholders of the template.",
			"Fill them in; msginit does so. Not asked of templates (.pot)."),
		warningRule(CodeNoPluralForms, "There are translated plurals, but the header has no plural rule.",
			"Programs then use the English rule. Add Plural-Forms to the header; msgfmt -c refuses the file. Not asked of templates (.pot)."),
		warningRule(CodePluralRange, "The plural expression gives no plural form for some numbers.",
			"For a number up to 1000 it divides by zero, or gives an index that is not below nplurals. Correct Plural-Forms in the header; msgfmt -c refuses the file."),
		warningRule(CodeNoLanguage, "The language of the file is unknown, and --quality needs it.",
			"Write its code into the header's Language field, or name the file or the folder above LC_MESSAGES after it."),
		warningRule(CodeCheckFlag, "Neither --quality nor a server can use a flag of an entry.",
			"No check has that name, or the value is not a number, not a regular expression of RE2, or too large. Correct the flag; docs/checks.md lists all flags."),
		warningRule(CodeTemplateMissing, "The file lacks strings of the template that --template names.",
			"Nobody can translate them before they are in the file: run msgmerge FILE TEMPLATE."),
		warningRule(CodeTemplateGone, "The file has strings that the template that --template names does not have.",
			"Programs do not ask for them any more: msgmerge FILE TEMPLATE makes them obsolete. Or the template is an old one."),
		warningRule(CodeTemplateRefused, "The file cannot be compared with the template that --template names.",
			"One of them has a string twice, or several domains; msgmerge refuses it, too. The message names the line."),
	}
}

func errorRule(code, summary, help string) Rule { return Rule{code, Error, summary, help} }

func warningRule(code, summary, help string) Rule { return Rule{code, Warning, summary, help} }
