package page

import (
	"strconv"
	"strings"
)

// forms shows the forms of a string, each in a line. Sources have no direction
// of their own; targets have that of their language.
func forms(key string) func(*node) cell {
	return func(row *node) cell {
		code := ""
		if key == "target" {
			code = languageOf(row.text("translation"))
		}
		var c cell
		if list := row.get(key); list != nil {
			for _, form := range list.members {
				c.Passages = append(c.Passages, passage{Language: code, Text: form.value})
			}
		}
		return c
	}
}

// single is forms for a text that is not in a list.
func single(key string) func(*node) cell {
	return func(row *node) cell {
		if value := row.text(key); value != "" {
			return cell{Passages: []passage{{Language: languageOf(row.text("translation")), Text: value}}}
		}
		return cell{}
	}
}

// cell makes a cell of an entry, with the direction and the bounds of its passages.
func (t *tabler) cell(c column, row *node) cell {
	made := c.cell(row)
	for i := range made.Passages {
		p := &made.Passages[i]
		p.Direction = "auto"
		if t.direction != nil && p.Language != "" {
			if direction := t.direction(p.Language); direction == "rtl" || direction == "ltr" {
				p.Direction = direction
			}
		}
		p.Language = visible(tag(p.Language))
		p.Text, p.Left = cutCount(p.Text, t.longest)
		p.Text = visible(p.Text)
	}
	return made
}

// tag is the code of a language as HTML writes it (BCP 47): sr@latin is sr-Latn.
// A variant that is not a script is left out.
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

// state names the state of a string (docs/compatibility.md#states).
func state(row *node) cell {
	names := map[string]string{"0": "untranslated", "10": "needs editing", "20": "translated", "30": "approved", "100": "read-only"}
	number := row.text("state")
	name, known := names[number]
	if !known {
		return short(number)
	}
	return cell{State: number, Text: name}
}

// progress shows a percentage as a bar and a number.
func progress(row *node) cell {
	percent, err := strconv.ParseFloat(row.text("translated_percent"), 64)
	if err != nil {
		return cell{}
	}
	return cell{Percent: strconv.FormatFloat(min(max(percent, 0), 100), 'f', -1, 64)}
}

// done shows how much is done, of how much.
func done(part, of string) func(*node) cell {
	return func(row *node) cell {
		if row.get(part) == nil || row.get(of) == nil {
			return cell{}
		}
		return cell{Number: visible(row.text(part) + " / " + row.text(of))}
	}
}

// failing lists the names of checks.
func failing(row *node) cell {
	var names []string
	if list := row.get("checks"); list != nil {
		for _, check := range list.members {
			names = append(names, check.text("name"))
		}
	}
	return short(strings.Join(names, ", "))
}
