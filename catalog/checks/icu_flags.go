package checks

import (
	"slices"
	"strings"
)

// icuFlag turns on both checks of ICU MessageFormat.
const icuFlag = "icu-message-format"

// icuFlags are the flags icu-flags and icu-tag-prefix of a unit: how to read its
// messages, and which rules do not apply. The zero value reads no tags and applies
// all rules.
type icuFlags struct {
	options icuOption
	prefix  string // of the names of tags; "": any name
}

// icuOption is a set of the values of the flag icu-flags.
type icuOption uint16

// The options, in the order of [icuOptionNames].
const (
	icuXML icuOption = 1 << iota
	icuStrictXML
	icuNoHighlight // for editors; not used here
	icuNoOther
	icuNoPluralSelectors
	icuNoSubmessageSelectors
	icuNoTypes
	icuNoExtra
	icuNoMissing
	icuNoTags
)

func icuOptionNames() []string {
	return []string{
		"xml", "strict-xml", "-highlight", "-require_other", "-plural_selectors", "-submessage_selectors", "-types", "-extra", "-missing", "-tags",
	}
}

// maxTagPrefix bounds the flag icu-tag-prefix, in bytes: each tag is compared with
// it.
const maxTagPrefix = 100

// icuOptions returns the options that a flag's values name, and the unknown
// values.
func icuOptions(values []flagValue) (set icuOption, unknown []string) {
	names := icuOptionNames()
	for _, v := range values {
		text := strings.TrimSpace(v.text)
		if i := slices.Index(names, text); i >= 0 {
			set |= 1 << i
		} else {
			unknown = append(unknown, text)
		}
	}
	return set, unknown
}

func (f *icuFlags) setPrefix(values []flagValue) {
	if len(values) > 0 && len(values[0].text) <= maxTagPrefix {
		f.prefix = values[0].text
	}
}

func (f icuFlags) has(o icuOption) bool { return f.options&o != 0 }

// tags reports whether messages have tags.
func (f icuFlags) tags() bool { return f.has(icuXML | icuStrictXML) }
