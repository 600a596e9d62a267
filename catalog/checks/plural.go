package checks

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
