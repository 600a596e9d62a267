package checks

import "slices"

// placeholder is one placeholder of a string; from and to in bytes.
type placeholder struct {
	text     string // what is compared
	from, to int
	position bool // told apart by its place only
	escape   bool // stands for the marker itself, as %% does
}

// scanner reads the placeholder that begins at s[i], a marker character.
type scanner func(s string, i int) (placeholder, bool)

// syntax is a kind of placeholders.
type syntax struct {
	marker byte
	scan   scanner
}

func nextPlaceholder(x syntax, s string, at int) (placeholder, bool) {
	for i := at; i < len(s); i++ {
		if s[i] != x.marker {
			continue
		}
		if p, ok := x.scan(s, i); ok {
			return p, true
		}
	}
	return placeholder{}, false
}

// checkFormat compares the placeholders of the forms (facts §11.4).
func checkFormat(r *run, id ID) {
	x := syntaxes[id]
	for i, target := range r.unit.Targets {
		k := formatSource(r, x, i)
		source := r.unit.Sources[k]
		if source == "" || target == "" {
			continue
		}
		if at, ok := compare(x, source, target, r.lenient(i)); !ok {
			if r.fail(hit{true, Span{0, len(source)}, at}, k, i) {
				return
			}
		}
	}
}

// lenient reports a form that may leave its number out.
func (r *run) lenient(i int) bool {
	f := r.form(i)
	return !r.flags.strict && (f.single || f.zeroOrOne && i == 0)
}

func formatSource(r *run, x syntax, i int) int {
	if len(r.unit.Sources) < 2 {
		return 0
	}
	if len(r.unit.Targets) == 1 || i > 0 {
		return 1
	}
	_, first := nextPlaceholder(x, r.unit.Sources[0], 0)
	_, second := nextPlaceholder(x, r.unit.Sources[1], 0)
	if !first && second {
		return 1
	}
	return 0
}

// compare reports whether the placeholders agree; else where in the target the
// first surplus one is.
func compare(x syntax, source, target string, lenient bool) (Span, bool) {
	var bufS, bufT [16]placeholder
	a, position := collect(x, source, bufS[:0])
	b, _ := collect(x, target, bufT[:0])
	equal := slices.EqualFunc(a, b, func(p, q placeholder) bool { return p.text == q.text })
	if equal {
		return Span{}, true
	}
	byText(a)
	byText(b)
	missing, extra := 0, -1
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case j == len(b) || i < len(a) && a[i].text < b[j].text:
			missing++
			i++
		case i == len(a) || b[j].text < a[i].text:
			if extra < 0 {
				extra = j
			}
			j++
		default:
			i, j = i+1, j+1
		}
	}
	switch {
	case extra >= 0:
		return Span{b[extra].from, b[extra].to}, false
	case missing > 0:
		return Span{0, len(target)}, lenient
	}
	return Span{0, len(target)}, !position // same ones, another order
}

func byText(p []placeholder) {
	slices.SortFunc(p, func(p, q placeholder) int {
		switch {
		case p.text < q.text:
			return -1
		case p.text > q.text:
			return 1
		}
		return p.from - q.from
	})
}

func collect(x syntax, s string, into []placeholder) (all []placeholder, position bool) {
	for at := 0; ; {
		p, ok := nextPlaceholder(x, s, at)
		if !ok {
			return into, position
		}
		if at = p.to; !p.escape {
			into = append(into, p)
			position = position || p.position
		}
	}
}
