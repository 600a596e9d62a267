package checks

import (
	"fmt"
	"strings"
)

//go:generate go test . -run TestLanguageNames|TestPage -update

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
placeholders itself. The words of languages' names that the check ` + "`same`" + `
passes over come from the language-data project (MIT).

| check | name | fails when | example | on | off |
|---|---|---|---|---|---|
`)
	cell := strings.NewReplacer("|", `\|`, "\n", " ")
	for _, c := range All() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | `%s` |\n", c.Name, cell.Replace(c.Title), cell.Replace(c.Description), quoted(c.Example), quoted(c.EnableFlag), c.IgnoreFlag)
	}
	b.WriteString(`
Not built yet: their flags are accepted and change nothing. ` + "`placeholders`, `regex`, `url`, `safe-html`, `md-reflink`,\n`md-link`, `md-syntax`, `check_glossary`, `max-size`, `icu_message_format`,\n`scheme_format`, `vue_format`, `i18next_interpolation`" + `; of ` + "`max-length`" + ` the flag
` + "`replacements`" + `, of ` + "`java_format`" + ` the rule on single apostrophes.
`)
	return b.String()
}

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(s, "|", `\|`) + "`"
}
