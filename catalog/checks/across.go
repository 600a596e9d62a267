package checks

import (
	"github.com/repoglot/repoglot/catalog"
)

// Sibling is the part of a unit that the checks across units read. The forms of
// source and target are joined (catalog.JoinForms).
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
// plural rule, has the same target for another source. forms is the rule's number
// of forms: the check does not apply to languages with one form, nor to fuzzy
// strings.
func IsReused(u, other Sibling, forms int) bool {
	return forms > 1 && u.State.Translated() && other.State.Translated() && !catalog.EmptyForms(u.Target) && u.Target == other.Target && u.Source != other.Source
}

// HasMultipleFailures reports whether a source unit fails. failures is the number
// of failing checks of all its translations.
func HasMultipleFailures(failures int) bool { return failures >= 2 }

// LongUntranslatedDays is the age in days above which a string counts as old.
const LongUntranslatedDays = 90

// IsLongUntranslated reports whether a source string is old and translated less
// than its component. days is its age; translated of its total translations are
// neither empty nor fuzzy; percent is the component's translated percentage.
func IsLongUntranslated(days, translated, total int, percent float64) bool {
	return days > LongUntranslatedDays && total > 0 && 200*float64(translated)/float64(total) < percent
}
