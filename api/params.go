package api

import (
	"net/url"
	"sort"
	"strconv"
	"strings"
)

// params are the parameters of a query, in their order. Names may repeat.
type params []param

type param struct{ name, value string }

// parseQuery takes a raw query apart. A "?" that is not escaped begins a
// further parameter, as "&" does: wlc sends "?format=api?format=po"
// (decision 2). What cannot be unescaped stays as it is; nothing is an error.
func parseQuery(raw string) params {
	var ps params
	for part := range strings.FieldsFuncSeq(raw, func(r rune) bool { return r == '&' || r == '?' }) {
		name, value, _ := strings.Cut(part, "=")
		ps = append(ps, param{name: unescape(name), value: unescape(value)})
	}
	return ps
}

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// get returns the last value of a parameter.
func (ps params) get(name string) (value string, ok bool) {
	for i := len(ps) - 1; i >= 0; i-- {
		if ps[i].name == name {
			return ps[i].value, true
		}
	}
	return "", false
}

// encode writes the query of a page link: format and page as given (page 1 is
// left away), every other parameter with all its values as it came, sorted by
// name (decision 3).
func (ps params) encode(format string, page int) string {
	kept := make(params, 0, len(ps)+2)
	for _, p := range ps {
		if p.name != "format" && p.name != "page" {
			kept = append(kept, p)
		}
	}
	kept = append(kept, param{"format", format})
	if page > 1 {
		kept = append(kept, param{"page", strconv.Itoa(page)})
	}
	sort.SliceStable(kept, func(i, j int) bool { return kept[i].name < kept[j].name })
	var b strings.Builder
	for i, p := range kept {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(p.name))
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(p.value))
	}
	return b.String()
}

// isDigits reports whether s is a number without sign.
func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// parseID reads an object's id from a path; ok is false for what cannot be one.
func parseID(s string) (id int64, ok bool) {
	if !isDigits(s) {
		return 0, false
	}
	id, err := strconv.ParseInt(s, 10, 64)
	return id, err == nil && id > 0
}
