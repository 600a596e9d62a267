package catalog

import "strings"

// FormSeparator separates the plural forms of a source or target that is kept as one
// string: two U+001E characters, as in Weblate (docs/compatibility.md#hashes).
const FormSeparator = "\x1e\x1e"

// JoinForms joins plural forms to one string.
func JoinForms(forms []string) string {
	if len(forms) == 1 {
		return forms[0]
	}
	return strings.Join(forms, FormSeparator)
}

// SplitForms is the inverse of JoinForms. It never returns an empty slice: the
// empty string is one empty form.
func SplitForms(s string) []string { return strings.Split(s, FormSeparator) }

// TargetForms returns the forms of a target as the API shows them: exactly
// number forms, padded with "" or cut, if the source is a plural or the target
// has several forms, else the one form (docs/compatibility.md#plurals). A number
// below 1 counts as 1.
func TargetForms(source, target string, number int) []string {
	if !strings.Contains(source, FormSeparator) && !strings.Contains(target, FormSeparator) {
		return []string{target}
	}
	forms := make([]string, max(number, 1))
	copy(forms, SplitForms(target))
	return forms
}

// PadForms returns the forms of TargetForms as one string.
func PadForms(source, target string, number int) string {
	if !HasForms(target) && !HasForms(source) {
		return target // most strings have no plural
	}
	forms := strings.Count(target, FormSeparator) + 1
	if forms == max(number, 1) || forms == 1 && !strings.Contains(source, FormSeparator) {
		return target
	}
	return JoinForms(TargetForms(source, target, number))
}

// HasForms reports whether a text may have several forms: it has half of a separator.
func HasForms(s string) bool { return strings.IndexByte(s, FormSeparator[0]) >= 0 }

// EmptyForms reports whether every form of a target is empty.
func EmptyForms(target string) bool { return TrimForms(target) == "" }

// TrimForms drops trailing empty forms, so that a target is the same whether a file
// has its last empty msgstr[] or not.
func TrimForms(target string) string {
	for strings.HasSuffix(target, FormSeparator) {
		target = strings.TrimSuffix(target, FormSeparator)
	}
	return target
}

// FormsOf is the number of forms that a translation of a source has, in a language of a
// number of them.
func FormsOf(source string, number int) int {
	if HasForms(source) {
		return max(number, 1)
	}
	return 1
}
