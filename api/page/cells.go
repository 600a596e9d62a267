package page

import (
	"strconv"
	"strings"
)

// forms shows the forms of a string, each in a line. Sources are left to
// themselves; targets have the direction of their language.
func (t *tabler) forms(key string) func(*node) string {
	return func(row *node) string {
		code := ""
		if key == "target" {
			code = languageOf(row.text("translation"))
		}
		var b strings.Builder
		if list := row.get(key); list != nil {
			for _, form := range list.members {
				b.WriteString(t.passage(form.value, code))
			}
		}
		return b.String()
	}
}

// single is forms for a text that is not in a list.
func (t *tabler) single(key string) func(*node) string {
	return func(row *node) string {
		if value := row.text(key); value != "" {
			return t.passage(value, languageOf(row.text("translation")))
		}
		return ""
	}
}

// passage is a text of a language, in its direction.
func (t *tabler) passage(value, code string) string {
	direction := ""
	if t.direction != nil && code != "" {
		direction = t.direction(code)
	}
	if direction != "rtl" && direction != "ltr" {
		direction = "auto"
	}
	attributes := ` dir="` + direction + `"`
	if code != "" {
		attributes += ` lang="` + escaped(strings.ReplaceAll(code, "_", "-")) + `"`
	}
	shown := cut(value, maxCell)
	return `<div class="text"` + attributes + `>` + escaped(shown) + left(value, shown) + `</div>`
}

// state is that of a string, in words (facts §3).
func state(row *node) string {
	names := map[string]string{"0": "untranslated", "10": "needs editing", "20": "translated", "30": "approved", "100": "read-only"}
	number := row.text("state")
	name, known := names[number]
	if !known {
		return short(number)
	}
	return `<span class="state s` + number + `">` + name + `</span>`
}

// progress is a bar and the number that it stands for.
func progress(row *node) string {
	percent, err := strconv.ParseFloat(row.text("translated_percent"), 64)
	if err != nil {
		return ""
	}
	percent = min(max(percent, 0), 100)
	number := strconv.FormatFloat(percent, 'f', -1, 64)
	return `<meter min="0" max="100" value="` + number + `" aria-label="translated">` + number + ` %</meter> <span class="num">` + number + ` %</span>`
}

// done is how many strings are translated, of how many.
func done(row *node) string {
	return `<span class="num">` + escaped(row.text("translated")) + " / " + escaped(row.text("total")) + `</span>`
}

// when shows a time to the second, with all of it for machines.
func when(key string) func(*node) string {
	return func(row *node) string {
		value := row.text(key)
		if len(value) < len("2006-01-02T15:04:05") {
			return short(value)
		}
		return `<time datetime="` + escaped(value) + `">` + escaped(strings.Replace(value[:19], "T", " ", 1)) + `</time>`
	}
}
