package poparse

import (
	"slices"
	"strings"
)

// partSet is a set of the parts of an entry. Its first bits are the comment kinds.
type partSet uint8

const (
	samePrevious partSet = 1 << (iota + commentKinds)
	sameIDs
	sameTranslations

	sameComments = samePrevious - 1
	allParts     = sameTranslations<<1 - 1
)

// compareEntries returns the parts of two entries that are written alike.
func compareEntries(a, b *Entry) partSet {
	if a.Obsolete != b.Obsolete {
		return 0
	}
	set := partSet(0)
	add := func(part partSet, same bool) {
		if same {
			set |= part
		}
	}
	add(1<<commentTranslator, sameLines(a.Comments, b.Comments))
	add(1<<commentExtracted, sameLines(a.Extracted, b.Extracted))
	add(1<<commentReference, slices.Equal(a.References, b.References))
	add(1<<commentFlag, a.Fuzzy == b.Fuzzy && slices.Equal(a.Flags, b.Flags))
	add(samePrevious, (a.Previous == nil) == (b.Previous == nil) && (a.Previous == nil || *a.Previous == *b.Previous))
	add(sameIDs, a.ID == b.ID && a.HasContext == b.HasContext && a.HasPlural == b.HasPlural &&
		(!a.HasContext || a.Context == b.Context) && (!a.HasPlural || a.IDPlural == b.IDPlural))
	add(sameTranslations, a.HasPlural == b.HasPlural && sameForms(a.Str, b.Str))
	return set
}

// sameLines compares comments; each of them may have several lines.
func sameLines(a, b []string) bool {
	return slices.Equal(a, b) || len(a) > 0 && len(b) > 0 && strings.Join(a, "\n") == strings.Join(b, "\n")
}

// sameForms compares translations. No translation equals an empty one.
func sameForms(a, b []string) bool {
	return slices.Equal(a, b) || len(a)+len(b) == 1 && strings.Join(a, "")+strings.Join(b, "") == ""
}
