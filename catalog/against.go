package catalog

// Against compares the units of a translation with the template of its component
// (docs/compatibility.md#missing-strings). Without a template it is zero, as it is for
// a translation without a string that the template lacks.
type Against struct {
	// Extra counts units whose string the template does not have in any form. Units of
	// the source translation that are not the template's are all extra.
	Extra, ExtraWords int64
	// Changed counts units whose string the template has with another msgid_plural or
	// without one.
	Changed int64
	// ChangedTranslated and ChangedFuzzy are those of them that are translated or need
	// editing in the file.
	ChangedTranslated, ChangedTranslatedWords, ChangedFuzzy int64
}

// Add adds n units of one string with that many words: of a changed one, or an extra one.
func (a *Against) Add(n, words int64, changed bool, state State) {
	if !changed {
		a.Extra += n
		a.ExtraWords += n * words
		return
	}
	a.Changed += n
	if state.Translated() {
		a.ChangedTranslated += n
		a.ChangedTranslatedWords += n * words
	}
	if state.Fuzzy() {
		a.ChangedFuzzy += n
	}
}

// Progress is how far a translation is, or several are, as it is counted for people:
// against the template (docs/compatibility.md#missing-strings).
type Progress struct {
	// Total is the number of strings: those of the template, and those that only the
	// file has. Without a template it is the number of strings of the file.
	Total int64
	// Translated and Fuzzy are those that are translated and need editing.
	Translated, Fuzzy int64
	// Missing are those that the file does not have, and Changed those that it has with
	// another msgid_plural: neither is translated.
	Missing, Changed int64
	// Words is the number of words of all, WordsLeft that of those not translated.
	Words, WordsLeft int64
	// Files is the number of translations, Bare that of those without a template.
	Files, Bare int64
}

// NewProgress counts a translation of a component with this source translation.
func NewProgress(t, source *Translation) Progress {
	p := Progress{Total: t.Stats.Total.Units, Translated: t.Stats.Translated.Units, Fuzzy: t.Stats.Fuzzy.Units, Words: t.Stats.Total.Words, Files: 1}
	left := t.Stats.Translated.Words
	switch {
	case t.IsSource:
	case !source.HasTemplate:
		p.Bare = 1
	default:
		a, template := &t.Against, source.Strings()
		p.Missing = max(0, template.Units-p.Total+a.Extra) // an older version beside this one does not count
		p.Changed = a.Changed
		p.Total, p.Words = template.Units+a.Extra, template.Words+a.ExtraWords
		p.Translated, p.Fuzzy = p.Translated-a.ChangedTranslated, p.Fuzzy-a.ChangedFuzzy
		left -= a.ChangedTranslatedWords
	}
	p.WordsLeft = max(0, p.Words-left)
	return p
}

// Add adds another set of translations.
func (p *Progress) Add(o Progress) {
	p.Total += o.Total
	p.Translated += o.Translated
	p.Fuzzy += o.Fuzzy
	p.Missing += o.Missing
	p.Changed += o.Changed
	p.Words += o.Words
	p.WordsLeft += o.WordsLeft
	p.Files += o.Files
	p.Bare += o.Bare
}

// Past estimates the progress of a translation t, which is p now, at a time when its
// statistics were past: against the template of today, since the templates of the past are
// not kept.
func (p Progress) Past(t *Translation, past *Stats) Progress {
	was := Progress{Total: past.Total.Units, Translated: max(0, past.Translated.Units-t.Against.ChangedTranslated), Fuzzy: past.Fuzzy.Units}
	if p.Missing > 0 { // the file lacked strings then, too
		was.Total = max(was.Total, p.Total)
	}
	return was
}

// Left is the number of strings that are not translated.
func (p Progress) Left() int64 { return max(0, p.Total-p.Translated) }

// WithoutTemplate reports whether none of the translations has a template.
func (p Progress) WithoutTemplate() bool { return p.Files > 0 && p.Bare == p.Files }

// Percent is how much is translated; 0 without strings (docs/compatibility.md#percentages).
func (p Progress) Percent() Tenths { return Percent(p.Translated, p.Total, 0) }
