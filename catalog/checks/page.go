package checks

import (
	"fmt"
	"strings"
)

//go:generate go test . -run TestLanguageNames|TestKeptWords|TestPage|TestVersion -update

// Page returns docs/checks.md.
func Page() string {
	var b strings.Builder
	b.WriteString(`# Quality checks

<!-- Made from the table of catalog/checks: go generate ./catalog/checks -->

A check finds a probable mistake in a translation. Checks of translations run on
strings that are translated or need editing, not on read-only ones. Checks of
sources run on the strings of the source translation.

The flag in the column "off" turns off a check. Write it in the PO file
(` + "`#, ignore-end-stop`" + `) or in the component's ` + "`check_flags`" + `;
` + "`ignore-all-checks`" + ` turns off all checks. A check with a flag in the column "on"
runs only where that flag is given; xgettext itself writes the flags of
placeholders.

| check | name | fails when | example | on | off |
|---|---|---|---|---|---|
`)
	cell := strings.NewReplacer("|", `\|`, "\n", " ")
	for _, c := range All() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | `%s` |\n", c.Name, cell.Replace(c.Title), cell.Replace(c.Description), quoted(c.Example), quoted(c.EnableFlag), c.IgnoreFlag)
	}
	b.WriteString(notes)
	return b.String()
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(s, "|", `\|`) + "`"
}

// notes are the rest of the page: flags, and what the checks leave out.
const notes = `
## Words that need no translation

The check ` + "`same`" + ` ignores a string that has no other words than numbers, marks,
words of up to two letters, words in the names of the project and the component,
and the words of three lists:

- words in the names of languages, from the language-data project (MIT);
- words that translators leave unchanged. A test makes this list from the
  repositories that this project is tested with. A word is on it if at least five
  languages keep it, in at least half of its strings and in two repositories; or
  if at least five languages keep it where it is the whole string, and in a tenth
  of its strings;
- about 240 words of computing, chosen by hand, except words that twenty languages
  of these repositories nearly always translate.

The check was compared with 86,000 recorded units of real components, which the
lists were not made from: the results differ for 0.2 % of them. The flag
` + "`strict-same`" + ` turns off all these exceptions.

## Flags

| flag | meaning |
|---|---|
| ` + "`xml-text`" + ` | all strings are XML, even if they do not look like it |
| ` + "`md-text`" + ` | strings are Markdown: the checks of Markdown run, and ` + "`safe-html`" + ` ignores links |
| ` + "`safe-html`" + ` | turns on the check of that name, and turns off the two checks of XML |
| ` + "`strict-same`" + ` | ` + "`same`" + ` fails for any unchanged text, except placeholders |
| ` + "`strict-format`" + ` | the form for a single number needs its placeholder as well |
| ` + "`max-length:100`" + ` | the maximum length of a translation, in characters; with ` + "`xml-text`" + ` tags do not count |
| ` + "`replacements:old:new:…`" + ` | replaces texts before ` + "`max-length`" + ` counts |
| ` + "`placeholders:$A$:r\"%[a-z]+%\"`" + ` | texts, and regular expressions as r"…", that a translation must keep; ` + "`case-insensitive`" + ` ignores their case |
| ` + "`regex:r\"^[a-z]+$\"`" + ` | a regular expression that every translation must match |
| ` + "`icu-flags:xml:-types`" + ` | changes the rules for ICU messages, see below; colons separate values |
| ` + "`icu-tag-prefix:\"x:\"`" + ` | with ` + "`icu-flags:xml`" + `, only names with this prefix are tags |

A wrong flag is ignored: ` + "`repoglot check --quality`" + ` reports wrong flags in files,
and the server's log reports those in its configuration.

Values with a colon, comma or blank need double quotes. Regular expressions have the
syntax of [RE2](https://github.com/google/re2/wiki/Syntax) and match in linear time.
An expression that needs look-ahead or back-references is ignored, and so is one of
more than about a thousand instructions (` + "`.{1,500}`" + ` has that many); all
` + "`placeholders`" + ` together have the same limit. A string in which the expressions of
` + "`placeholders`" + ` need too many searches is not checked with them. Only the first
hundred ` + "`replacements`" + ` apply, up to 200 bytes each.

## ICU MessageFormat

` + "`icu-message-format`" + ` turns on both checks: the check of sources reports syntax
errors; the check of translations reports syntax errors and differences from the
source. ` + "`ignore-icu-message-format`" + ` turns off both. The values of ` + "`icu-flags`" + `:

| value | meaning |
|---|---|
| ` + "`xml`" + ` | messages have tags, ` + "`<b>…</b>`" + ` and ` + "`<br/>`" + `; a ` + "`<`" + ` without a letter after it is text |
| ` + "`strict-xml`" + ` | the same, except that every ` + "`<`" + ` outside of quotes begins a tag |
| ` + "`-extra`, `-missing`" + ` | arguments that only the translation has, or only the source, are allowed |
| ` + "`-types`" + ` | types may differ; without it, number, plural and selectordinal may replace each other, and a translation may not have a type that the source does not have |
| ` + "`-tags`" + ` | tags and arguments may replace each other, and tags may be empty or not |
| ` + "`-require_other`" + ` | sub-messages need no ` + "`other`" + ` |
| ` + "`-plural_selectors`" + ` | plurals may have other selectors than zero, one, two, few, many, other and =1 |
| ` + "`-submessage_selectors`" + ` | a select may have selectors that the source's does not have |
| ` + "`-highlight`" + ` | is for editors, and has no effect here |

An argument in several places has the types and selectors of all places together; if
a selector occurs twice, both sub-messages count. The checks do not ask which of the
six categories a language has, and do not compare styles.

## Limits

` + "`safe-html`" + ` checks tags, attributes, the schemes of links, comments and tags that
are not closed; a lone ` + "`<`" + ` or ` + "`&`" + ` is text. The name of a BBCode tag has no
brackets.

Some hostile strings are not checked: more than 65,536 BBCode tags, Markdown marks,
matches of ` + "`placeholders`" + `, or names, types and selectors of an ICU message; XML with
elements nested more than 10,000 deep, or with more than 65,536 equals signs. An ICU
message with sub-messages or tags nested more than 50 deep has a syntax error.

The flag ` + "`max-size`" + ` is accepted and ignored. Weblate's check draws the text with a
font and measures the picture; without the author's fonts the result would be a
guess, and a wrong one for most scripts.

` + "`enforced_checks`" + ` of a component is served as it is configured. In Weblate it makes
a failing translation need editing again when it is saved. Here nothing is saved, and
the state of a string is the state in its file.
`
