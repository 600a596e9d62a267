package rest

import (
	"net/url"
	"sort"
	"strconv"
	"strings"
)

// Params are the parameters of a query, in their order. Names may repeat.
type Params []Param

// Param is one parameter, unescaped.
type Param struct{ Name, Value string }

// ParseQuery parses a raw query. A "?" that is not escaped begins another
// parameter, as "&" does: wlc sends "?format=api?format=po", of which proxies make
// "?format=api%3Fformat=po" (docs/compatibility.md#format-parameter). Text that cannot be unescaped stays
// as it is; nothing is an error.
func ParseQuery(raw string) Params {
	var ps Params
	for part := range strings.FieldsFuncSeq(raw, func(r rune) bool { return r == '&' || r == '?' }) {
		name, value, _ := strings.Cut(part, "=")
		p := Param{Name: unescape(name), Value: unescape(value)}
		if p.Name == "format" {
			for {
				var more string
				var found bool
				if p.Value, more, found = strings.Cut(p.Value, "?"); !found {
					break
				}
				ps = append(ps, p)
				p.Name, p.Value, _ = strings.Cut(more, "=")
			}
		}
		ps = append(ps, p)
	}
	return ps
}

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// Get returns the last value of a parameter.
func (ps Params) Get(name string) (value string, ok bool) {
	for i := len(ps) - 1; i >= 0; i-- {
		if ps[i].Name == name {
			return ps[i].Value, true
		}
	}
	return "", false
}

// Encode writes the query of a page link: format (unless it is empty), page (unless it
// is 1) and all other parameters with all their values, sorted by name.
func (ps Params) Encode(format string, page int) string {
	kept := make(Params, 0, len(ps)+2)
	for _, p := range ps {
		if p.Name != "format" && p.Name != "page" {
			kept = append(kept, p)
		}
	}
	if format != "" {
		kept = append(kept, Param{"format", format})
	}
	if page > 1 {
		kept = append(kept, Param{"page", strconv.Itoa(page)})
	}
	sort.SliceStable(kept, func(i, j int) bool { return kept[i].Name < kept[j].Name })
	var b strings.Builder
	for i, p := range kept {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(p.Name))
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(p.Value))
	}
	return b.String()
}

// IsDigits reports whether s is a number without a sign.
func IsDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// parseID reads an object's id from a path; ok is false if s cannot be an id.
func parseID(s string) (id int64, ok bool) {
	if !IsDigits(s) {
		return 0, false
	}
	id, err := strconv.ParseInt(s, 10, 64)
	return id, err == nil && id > 0
}
