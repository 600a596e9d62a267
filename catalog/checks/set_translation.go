package checks

import (
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/lang"
)

// ForTranslation makes the checks of a translation, as pulls run them. terms are
// the entries of the project's glossaries in its language.
func ForTranslation(table *lang.Table, p *catalog.Project, s *catalog.ComponentSettings, t *catalog.Translation, terms []Term) *Set {
	return New(Options{
		Language:       t.Language,
		Source:         s.SourceLanguage,
		ProjectName:    p.Settings.Name,
		ComponentName:  s.Name,
		Plural:         lang.PluralFor(table.Match(t.Language), t.PluralNumber, t.PluralFormula),
		SourcePlural:   table.Match(s.SourceLanguage).Plural,
		ComponentFlags: s.CheckFlags, Glossary: s.IsGlossary, Terms: terms,
	})
}

// UnitOf converts a unit of a translation for the checks.
func UnitOf(u *catalog.Unit, t *catalog.Translation) Unit {
	return Unit{
		IsSource: t.IsSource, Sources: catalog.SplitForms(u.Source), Targets: catalog.TargetForms(u.Source, u.Target, t.PluralNumber),
		Note: u.Note, Flags: u.Flags, State: u.State,
	}
}
