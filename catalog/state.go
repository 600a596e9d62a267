package catalog

// State is the state of a unit (docs/compatibility.md#states). The numbers are part
// of the API.
type State int16

// The states a unit can have. Approved is never read from PO files.
const (
	StateEmpty      State = 0   // untranslated
	StateFuzzy      State = 10  // needs editing
	StateTranslated State = 20  // translated
	StateApproved   State = 30  // translated and approved by a reviewer
	StateReadOnly   State = 100 // not to be translated: source strings, flag read-only
)

// Fuzzy reports whether the unit needs editing.
func (s State) Fuzzy() bool { return s == StateFuzzy }

// Translated reports whether the unit counts as translated; read-only units do.
func (s State) Translated() bool { return s >= StateTranslated }

// Approved reports whether a reviewer approved the unit.
func (s State) Approved() bool { return s == StateApproved }
