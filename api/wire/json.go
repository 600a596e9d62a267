package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// JSON encodes a value without a final newline. Non-ASCII characters and <, >,
// & are not escaped (docs/compatibility.md#json). With an indent above 0 it
// uses that many blanks per level.
func JSON(value any, indent int) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if indent > 0 {
		enc.SetIndent("", strings.Repeat(" ", indent))
	}
	if err := enc.Encode(value); err != nil {
		return nil, fmt.Errorf("encode %T: %w", value, err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// appendString writes a quoted string like an encoding/json that does not
// escape HTML: it escapes control characters, the two line separators of
// Unicode and invalid UTF-8.
func appendString(b []byte, s string) []byte {
	return append(appendText(append(b, '"'), s), '"')
}

// appendText is appendString without the quotes.
func appendText(b []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = appendEscape(append(b, s[start:i]...), c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[start:i]...), `\ufffd`...)
			start = i + size
		case r == '\u2028':
			b = append(append(b, s[start:i]...), `\u2028`...)
			start = i + size
		case r == '\u2029':
			b = append(append(b, s[start:i]...), `\u2029`...)
			start = i + size
		}
		i += size
	}
	return append(b, s[start:]...)
}

func appendEscape(b []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// appendForms writes plural forms as an array of strings.
func appendForms(b []byte, forms []string) []byte {
	b = append(b, '[')
	for i, form := range forms {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, form)
	}
	return append(b, ']')
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }
