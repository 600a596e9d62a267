package checks

import "strings"

// placeholder is one placeholder of a string; from and to in bytes.
type placeholder struct {
	text     string // the part that is compared
	from, to int
	position bool // it has no name or number, so its position identifies it
	escape   bool // it means the marker itself, as %% does
	paired   bool // the other string has it as well
}

// scanner reads the placeholder that begins at byte i, which is a marker.
type scanner func(t *subject, i int) (placeholder, bool)

// syntax is the notation of one kind of placeholders.
type syntax struct {
	markers string // the characters that a placeholder may begin with
	scan    scanner
}

// checkFormat compares the placeholders of each target form with those of its
// source form.
func checkFormat(r *run, id ID) {
	x := syntaxes[id]
	for i, target := range r.unit.Targets {
		k := formatSource(r, x, i)
		source := r.unit.Sources[k]
		if source == "" || target == "" {
			continue
		}
		h := r.compare(x, source, target, r.lenient(i))
		if !h.failed && id == JavaFormat {
			h = apostrophes(target)
		}
		if h.failed && r.fail(h, k, i) {
			return
		}
	}
}

// apostrophes fails if their number is odd: the last one opens a quotation that is
// never closed.
func apostrophes(t string) hit {
	if strings.Count(t, "'")%2 == 0 {
		return hit{}
	}
	i := strings.LastIndexByte(t, '\'')
	return hit{failed: true, target: Span{i, i + 1}}
}

// lenient reports whether a form may leave out its number.
func (r *run) lenient(i int) bool {
	f := r.form(i)
	return !r.flags.strict && (f.single || f.zeroOrOne && i == 0)
}

// formatSource is formSource for a syntax.
func formatSource(r *run, x syntax, i int) int {
	return r.formSource(i, func(s string) bool {
		_, ok := r.text.reset(s).next(x, 0)
		return ok
	})
}

// formSource returns the source form whose placeholders those of target form i are
// compared with. has reports whether a text has placeholders.
func (r *run) formSource(i int, has func(string) bool) int {
	if len(r.unit.Sources) < 2 {
		return 0
	}
	if len(r.unit.Targets) == 1 || i > 0 {
		return 1
	}
	if !has(r.unit.Sources[0]) && has(r.unit.Sources[1]) {
		return 1
	}
	return 0
}

// compare fails if the placeholders differ. It marks the surplus ones in the
// target, the missing ones in the source, or the ones in another order.
func (r *run) compare(x syntax, source, target string, lenient bool) hit {
	if r.agree(x, source, target) {
		return hit{}
	}
	a, position := r.text.reset(source).collect(x, r.left[:0])
	b, _ := r.text.reset(target).collect(x, r.right[:0])
	r.left, r.right = a, b
	if len(a) == maxMarks || len(b) == maxMarks {
		return hit{}
	}
	missing, extra := pairUp(a, b, false)
	switch {
	case extra == 0 && missing > 0 && lenient, extra == 0 && missing == 0 && !position:
		return hit{}
	case extra == 0 && missing == 0:
		return otherOrder(a, b)
	}
	return r.onlyIn(a, b, target)
}

// agree reports whether both texts have the same placeholders in the same order.
func (r *run) agree(x syntax, source, target string) bool {
	s, t := r.text.reset(source), r.other.reset(target)
	for i, j := 0, 0; ; {
		p, more := s.nextReal(x, i)
		q, moreT := t.nextReal(x, j)
		if !more || !moreT || p.text != q.text {
			return !more && !moreT
		}
		i, j = p.to, q.to
	}
}

// pairUp marks the placeholders that both sides have, each as often as the other
// side has it, or in sets however often, and counts the rest.
func pairUp(a, b []placeholder, sets bool) (missing, extra int) {
	left, right := counts(a), counts(b)
	return pairTo(a, right, sets), pairTo(b, left, sets)
}

func counts(all []placeholder) map[string]int {
	n := make(map[string]int, len(all))
	for i := range all {
		n[all[i].text]++
	}
	return n
}

func pairTo(a []placeholder, others map[string]int, sets bool) (alone int) {
	for i := range a {
		n := others[a[i].text]
		a[i].paired = n > 0
		switch {
		case n == 0:
			alone++
		case !sets:
			others[a[i].text] = n - 1
		}
	}
	return alone
}

// unpaired returns the places of the placeholders that only one side has.
func unpaired(all []placeholder) []Span {
	var spans []Span
	for _, p := range all {
		if !p.paired && len(spans) < maxPlaces {
			spans = append(spans, Span{p.from, p.to})
		}
	}
	return spans
}

// otherOrder marks the placeholders that are in another order.
func otherOrder(a, b []placeholder) hit {
	h := hit{failed: true}
	for i := range a {
		if a[i].text != b[i].text && len(h.sources) < maxPlaces {
			h.sources = append(h.sources, Span{a[i].from, a[i].to})
			h.targets = append(h.targets, Span{b[i].from, b[i].to})
		}
	}
	return h
}

// notations returns the syntax of the placeholders of each format check.
func notations() [count]syntax {
	return [count]syntax{
		SchemeFormat:         scheme(),
		VueFormat:            vue(),
		I18nextInterpolation: i18next(),
		CSharpFormat:         braceNumber(",:"),
		JavaFormat:           braceNumber(","),
		ObjectPascalFormat:   objectPascal(),
		RubyFormat:           ruby(),
		ESFormat:             between("${", closeBrace),
		AngularJSFormat:      between("{{", closeBraces),
		PythonFormat:         printf(" +#-", true),
		PythonBraceFormat:    pythonBrace(),
		PHPFormat:            printf(" +#-", false),
		CFormat:              printf(" +#'-", false),
		PerlFormat:           printf(" +#'-", false),
		PerlBraceFormat:      word("{", '}'),
		JavascriptFormat:     printf(" +#'-", false),
		LuaFormat:            printf(" +#'-", false),
		JavaPrintfFormat:     javaPrintf(),
		QtFormat:             qt(false),
		QtPluralFormat:       qt(true),
		PercentPlaceholders:  word("%", '%'),
	}
}

// formatMask returns the format checks.
func formatMask() Mask {
	var m Mask
	for i, x := range notations() {
		if x.scan != nil {
			m = m.With(ID(i))
		}
	}
	return m
}
