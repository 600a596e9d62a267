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
		attributes += ` lang="` + escaped(tag(code)) + `"`
	}
	shown := cut(value, t.longest)
	return `<div class="text"` + attributes + `>` + escaped(shown) + left(value, shown) + `</div>`
}

// tag is the code of a language as HTML writes it (BCP 47): sr@latin is sr-Latn;
// a variant that has no script is left away.
func tag(code string) string {
	code, variant, _ := strings.Cut(strings.ReplaceAll(code, "_", "-"), "@")
	switch strings.ToLower(variant) {
	case "latin":
		return code + "-Latn"
	case "cyrillic":
		return code + "-Cyrl"
	}
	return code
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

// done is how much is done, of how much.
func done(part, of string) func(*node) string {
	return func(row *node) string {
		if row.get(part) == nil || row.get(of) == nil {
			return ""
		}
		return `<span class="num">` + escaped(row.text(part)) + " / " + escaped(row.text(of)) + `</span>`
	}
}

// number shows a number.
func number(key string) func(*node) string {
	return func(row *node) string {
		if value := row.text(key); value != "" {
			return `<span class="num">` + escaped(value) + `</span>`
		}
		return ""
	}
}

// yes shows a truth value in a word.
func yes(key string) func(*node) string {
	return func(row *node) string {
		switch row.text(key) {
		case "true":
			return "yes"
		case "false":
			return "no"
		}
		return ""
	}
}

// within shows a cell of a member.
func within(member string, cell func(*node) string) func(*node) string {
	return func(row *node) string {
		if n := row.get(member); n != nil && n.kind == object {
			return cell(n)
		}
		return ""
	}
}

// joined shows a list of texts in a line.
func joined(keys ...string) func(*node) string {
	return func(row *node) string {
		list := row.get(keys...)
		if list == nil {
			return ""
		}
		texts := make([]string, len(list.members))
		for i, m := range list.members {
			texts[i] = m.value
		}
		return short(strings.Join(texts, ", "))
	}
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
