package lang

import "strings"

// codeSeparators end the base of a code: country and script (ll_CC, ll-CC,
// b+ll+CC), modifier (ll@formal), and the charset of a POSIX locale name
// (ll_CC.UTF-8).
const codeSeparators = "_-+@."

// BaseCode returns the language part of a code, in lower case: "pt" of
// "pt_BR", "sr" of "sr@latin". A code without separators is its own base.
func BaseCode(code string) string {
	if i := strings.IndexAny(code, codeSeparators); i >= 0 {
		code = code[:i]
	}
	return strings.ToLower(code)
}

// IsCJK reports whether words of the language are counted by characters: its base
// code is ja, zh or ko (docs/compatibility.md#words).
func IsCJK(code string) bool {
	switch BaseCode(code) {
	case "ja", "zh", "ko":
		return true
	}
	return false
}
