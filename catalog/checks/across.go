package checks

import (
	"github.com/repoglot/repoglot/catalog"
)

// Sibling is what the checks across units read of a unit; source and target
// with their forms joined (catalog.JoinForms).
type Sibling struct {
	// Source, Context and Target are the unit's texts.
	Source, Context, Target string
	// State is the unit's state.
	State catalog.State
}

// IsInconsistent reports whether other, a unit of the same project, language
// and plural rule, translates the same string in another way.
func IsInconsistent(u, other Sibling) bool {
	return u.Source == other.Source && u.Context == other.Context && u.Target != other.Target &&
		(u.State.Translated() || other.State.Translated())
}

// IsReused reports whether other, a unit of the same project, language and
// plural rule, has the target for another source. Forms is the number of the
// rule: languages with one form do not count.
func IsReused(u, other Sibling, forms int) bool {
	return forms > 1 && !catalog.EmptyForms(u.Target) && u.Target == other.Target && u.Source != other.Source
}

// HasMultipleFailures reports whether a source unit fails: failures is the
// number of failing checks of its translations together.
func HasMultipleFailures(failures int) bool { return failures >= 2 }

// LongUntranslatedDays is the age from which a string counts as old.
const LongUntranslatedDays = 90

// IsLongUntranslated reports whether an old source string is translated less
// than its component. days is its age, translated of its total translations
// are neither empty nor fuzzy, percent is the component's translated percent.
func IsLongUntranslated(days, translated, total int, percent float64) bool {
	return days > LongUntranslatedDays && total > 0 && 200*float64(translated)/float64(total) < percent
}
