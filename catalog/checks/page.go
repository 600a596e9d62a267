package checks

import (
	"fmt"
	"strings"
)

//go:generate go test . -run TestLanguageNames|TestKeptWords|TestPage|TestVersion -update

// Page is the page of the documentation that lists the checks, in Markdown.
func Page() string {
	var b strings.Builder
	b.WriteString(`# Quality checks

<!-- Made from the table of catalog/checks: go generate ./catalog/checks -->

A check finds what is probably wrong with a translation. Checks of translations
run on strings that are translated or need editing, not on read-only ones;
checks of sources run on the strings of the source translation.

A check is turned off by the flag in the column "off", written in the PO file
(` + "`#, ignore-end-stop`" + `) or in the component's ` + "`check_flags`" + `;
` + "`ignore-all-checks`" + ` turns all of them off. A check with a flag in the
column "on" runs only where that flag is given; xgettext writes those of the
placeholders itself.

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

// notes say how flags are read and what is left out.
const notes = `
## Words that stay

The check ` + "`same`" + ` passes over a string all of whose words are numbers, marks,
words of up to two letters, words of the names of the project and the component,
or words of three lists:

- words of the names of languages, from the language-data project (MIT);
- words that translators leave as they are: at least five languages of the
  repositories that this project is tested with keep the word, in at least half
  of its strings and in two repositories; or leave a string that is this word
  alone, and a tenth of the others. A test makes the list and keeps it so;
- some 240 words of computing, written by hand, without those that twenty
  languages of these repositories hardly ever leave.

Against 86,000 recorded units of real components the check differs on 0.2 % of
them: it is not made from these records. ` + "`strict-same`" + ` turns off all of this.

## Flags

| flag | meaning |
|---|---|
| ` + "`xml-text`" + ` | all strings are XML, also those that do not look like it |
| ` + "`md-text`" + ` | strings are Markdown: its checks run, and ` + "`safe-html`" + ` passes over links |
| ` + "`safe-html`" + ` | turns on that check, and the two of XML off |
| ` + "`strict-same`" + ` | ` + "`same`" + ` fails for any text that is left unchanged, but for placeholders |
| ` + "`strict-format`" + ` | the form of a single number may not leave its placeholder out, either |
| ` + "`max-length:100`" + ` | the longest translation, in characters; with ` + "`xml-text`" + ` tags do not count |
| ` + "`replacements:old:new:…`" + ` | what is replaced before ` + "`max-length`" + ` counts |
| ` + "`placeholders:$A$:r\"%[a-z]+%\"`" + ` | texts, and regular expressions as r"…", that have to be kept; with ` + "`case-insensitive`" + ` in any case |
| ` + "`regex:r\"^[a-z]+$\"`" + ` | what each translation has to match |
| ` + "`icu-flags:xml:-types`" + ` | what is different with messages of ICU, see below; values are separated by colons |
| ` + "`icu-tag-prefix:\"x:\"`" + ` | with ` + "`icu-flags:xml`" + `, only names that begin like this make tags |

A flag that cannot be followed changes nothing: ` + "`repoglot check --quality`" + ` tells
of those in files, the log of the server of those in its configuration.

Values with a colon, comma or blank stand in double quotes. Regular expressions
are those of [RE2](https://github.com/google/re2/wiki/Syntax), which are matched in linear time: one that
needs look-ahead or back-references is left out, and so is one of more than some
thousand instructions (` + "`.{1,500}`" + ` has that many), or placeholders that have as many
together. A string in which the expressions of ` + "`placeholders`" + ` need too many
searches is not judged by them. Of ` + "`replacements`" + `, the first hundred count, up to
200 bytes each.

## ICU MessageFormat

` + "`icu-message-format`" + ` turns on both checks: that of sources tells of errors in their
syntax, that of translations of errors, and of differences. ` + "`ignore-icu-message-format`" + `
turns off both. The values of ` + "`icu-flags`" + `:

| value | meaning |
|---|---|
| ` + "`xml`" + ` | messages have tags, ` + "`<b>…</b>`" + ` and ` + "`<br/>`" + `; a ` + "`<`" + ` that no letter follows is text |
| ` + "`strict-xml`" + ` | the same, but each ` + "`<`" + ` that is not quoted begins a tag |
| ` + "`-extra`, `-missing`" + ` | arguments that only the translation has, or only the source, do not fail |
| ` + "`-types`" + ` | types may differ; else a number, plural or selectordinal stands for each other, and a translation has no type that the source has not |
| ` + "`-tags`" + ` | tags may be arguments, arguments tags, and tags empty or not |
| ` + "`-require_other`" + ` | sub-messages need no ` + "`other`" + ` |
| ` + "`-plural_selectors`" + ` | plurals have other selectors than zero, one, two, few, many, other and =1 |
| ` + "`-submessage_selectors`" + ` | a select has selectors that the source's has not |
| ` + "`-highlight`" + ` | is for editors, and changes nothing here |

An argument that stands in several places has all their types and selectors together;
of a selector that stands twice, both sub-messages count.
Which of the six categories a language has is not asked, nor are styles compared.

## What is left out

` + "`safe-html`" + ` judges tags, attributes, the schemes of links, comments and tags
that are not closed; a lone ` + "`<`" + ` or ` + "`&`" + ` is text to it. A tag of BBCode has
no brackets in its name.

What only a string that is made for it has is not judged: more than 65,536 tags of
BBCode, marks of Markdown or matches of ` + "`placeholders`" + `, or names, types and
selectors of a message of ICU; XML in which elements stand in each other more than
10,000 deep, or with more than 65,536 equals signs. A message of ICU in which others
or tags stand in each other more than 50 deep has an error.

The flag ` + "`max-size`" + ` is accepted and changes nothing. That check draws the text
with a font and measures the picture; without the fonts of whoever wrote the
flag the answer would be a guess, and a wrong one for most scripts.

` + "`enforced_checks`" + ` of a component is served as it stands. It has Weblate turn a
translation that fails back into one that needs editing when somebody saves it;
nothing is saved here, and the state of a string is that of its file.
`
