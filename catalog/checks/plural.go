package checks

import "github.com/repoglot/repoglot/catalog/lang"

// plurals fails if some forms are translated and others are not.
func plurals(r *run, _ ID) {
	if len(r.unit.Sources) < 2 {
		return
	}
	some := false
	for _, target := range r.unit.Targets {
		some = some || target != ""
	}
	for i, target := range r.unit.Targets {
		if some && target == "" && r.fail(hit{failed: true}, r.sourceForm(i), i) {
			return
		}
	}
}

// samePlurals fails if all of several forms are equal.
func samePlurals(r *run, _ ID) {
	targets := r.unit.Targets
	if len(r.unit.Sources) < 2 || len(targets) < 2 || targets[0] == "" {
		return
	}
	for _, target := range targets[1:] {
		if target != targets[0] {
			return
		}
	}
	for i, target := range targets {
		if r.fail(hit{failed: true, target: Span{0, len(target)}}, r.sourceForm(i), i) {
			return
		}
	}
}

// form is one plural form of the target's rule.
type form struct {
	source    int  // the source form that it is compared with; -1: the last
	single    bool // one number only has this form
	zeroOrOne bool // 0 and 1 have this form, and no other number
}

// sampled is up to which number the rule is evaluated. Some round numbers follow,
// since some rules have a form for millions only.
const sampled = 1200

// pairForms describes each form of the rule target, as Weblate pairs plural forms.
func pairForms(target, source lang.Plural) []form {
	number := min(max(target.Number, 1), lang.MaxForms)
	forms := make([]form, number)
	same := target.Formula == source.Formula && target.Number == source.Number
	rule, err := lang.Compile(target.Formula)
	from, sourceErr := lang.Compile(source.Formula)
	var covers [lang.MaxForms][]int
	for n := 0; n < sampled+3 && err == nil; n++ {
		value := n
		if n >= sampled {
			value = []int{10_000, 100_000, 1_000_000}[n-sampled]
		}
		if i := rule.Eval(value); i >= 0 && i < number && len(covers[i]) < 3 {
			covers[i] = append(covers[i], value)
		}
	}
	for i := range forms {
		c := covers[i]
		forms[i] = form{source: -1, single: len(c) == 1, zeroOrOne: len(c) == 2 && c[0] == 0 && c[1] == 1}
		switch {
		case same:
			forms[i].source = i
		case len(c) == 1 && sourceErr == nil:
			forms[i].source = from.Eval(c[0])
		}
	}
	return forms
}

// sourceForm returns the source form that target form i is compared with.
func (r *run) sourceForm(i int) int {
	last := len(r.unit.Sources) - 1
	if last == 0 || len(r.unit.Sources) != r.set.sources || len(r.unit.Targets) != len(r.set.forms) {
		return last
	}
	if k := r.set.forms[i].source; k >= 0 && k <= last {
		return k
	}
	return last
}

// form returns the description of target form i; the zero form if the rule has no
// such form.
func (r *run) form(i int) form {
	if len(r.unit.Targets) > 1 && i < len(r.set.forms) {
		return r.set.forms[i]
	}
	return form{}
}
