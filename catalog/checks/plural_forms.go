package checks

import (
	"github.com/repoglot/repoglot/catalog/lang"
)

// form is one plural form of the target's rule.
type form struct {
	source    int  // the source form it is compared with, -1 for the last
	single    bool // it covers exactly one number
	zeroOrOne bool // it covers exactly 0 and 1
}

// sampled is how far the numbers of a form are looked for; some round numbers
// follow, since rules exist that know millions only.
const sampled = 1200

// pairForms computes what is known of each form of the rule target
// (facts §11.1, plural pairing).
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

// sourceForm is the source form that target form i is compared with.
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

// form describes target form i; the zero form if the rule does not have it.
func (r *run) form(i int) form {
	if len(r.unit.Targets) > 1 && i < len(r.set.forms) {
		return r.set.forms[i]
	}
	return form{}
}
