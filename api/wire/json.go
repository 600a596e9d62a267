package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
)

// JSON encodes a value without a final newline. Non-ASCII characters and <, >, & are not
// escaped (docs/compatibility.md#json). An indent above 0 is so many blanks per level.
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

// appendString writes a quoted string like an encoding/json that does not escape HTML: it
// escapes control characters, the two line separators of Unicode and invalid UTF-8.
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
	if i := strings.IndexByte("\"\\\b\f\n\r\t", c); i >= 0 {
		return append(b, '\\', `"\bfnrt`[i])
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

// Percent is a percentage in tenths, written with one decimal: 95.8, 100.0, 0.0
// (docs/compatibility.md#percentages).
type Percent catalog.Tenths

// MarshalJSON writes a JSON number.
func (p Percent) MarshalJSON() ([]byte, error) {
	b := strconv.AppendInt(nil, int64(p)/10, 10)
	return append(b, '.', byte('0'+int64(p)%10)), nil
}

// share is the percentage n of total; 0.0 if total is 0.
func share(n, total int64) Percent { return Percent(catalog.Percent(n, total, 0)) }

// shareDone is the percentage n of total for a measure of completeness: 100.0 if total is 0.
func shareDone(n, total int64) Percent { return Percent(catalog.Percent(n, total, 1000)) }

// ChangeTime formats the timestamp of a change entry, with microseconds.
func ChangeTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// UnitTime formats the timestamp of a unit, in seconds.
func UnitTime(t time.Time) string { return string(appendUnitTime(nil, t)) }

func appendUnitTime(b []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(b, "2006-01-02T15:04:05Z")
}

// OrNull is a pointer to s, or nil if s is empty.
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// List is a page of a list (docs/compatibility.md#paging).
type List struct {
	Count    int64   `json:"count"`
	Next     *string `json:"next"`
	Previous *string `json:"previous"`
	// Results is a slice of wire objects, never nil.
	Results any `json:"results"`
}

// ListWriter is a slice of wire objects that writes its own JSON. It writes
// what encoding/json would, without reflection and without making the objects:
// that took a third of the time of a page of units.
type ListWriter struct {
	// Len is the number of objects.
	Len int
	// AppendObject writes the object at index i.
	AppendObject func(b []byte, i int) []byte
}

// MarshalJSON writes an array.
func (w ListWriter) MarshalJSON() ([]byte, error) { return w.appendArray(nil), nil }

func (w ListWriter) appendArray(b []byte) []byte {
	b = append(b, '[')
	for i := range w.Len {
		if i > 0 {
			b = append(b, ',')
		}
		b = w.AppendObject(b, i)
	}
	return append(b, ']')
}

// AppendList writes a list without indentation, as encoding/json does.
func AppendList(b []byte, l *List, results ListWriter) []byte {
	b = append(b, `{"count":`...)
	b = appendInt(b, l.Count)
	b = appendLink(append(b, `,"next":`...), l.Next)
	b = appendLink(append(b, `,"previous":`...), l.Previous)
	return append(results.appendArray(append(b, `,"results":`...)), '}')
}

func appendLink(b []byte, link *string) []byte {
	if link == nil {
		return append(b, "null"...)
	}
	return appendString(b, *link)
}

// Object is an object of JSON with its members in their order: keys and values by turns.
type Object []any

// MarshalJSON writes the members.
func (o Object) MarshalJSON() ([]byte, error) { return o.append(nil), nil }

// Encoded is the object for several places of an answer.
func (o Object) Encoded() json.RawMessage { return o.append(nil) }

func (o Object) append(b []byte) []byte {
	b = append(b, '{')
	for i := 0; i < len(o); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, o[i].(string)), ':')
		switch v := o[i+1].(type) {
		case string:
			b = appendString(b, v)
		case *string:
			b = appendLink(b, v)
		case int:
			b = appendInt(b, int64(v))
		case int64:
			b = appendInt(b, v)
		case bool:
			b = strconv.AppendBool(b, v)
		case json.RawMessage:
			b = append(b, v...)
		case Object:
			b = v.append(b)
		default:
			b = append(b, encoded(v)...)
		}
	}
	return append(b, '}')
}

// NewPage makes a page of objects.
func NewPage(objects []Object) ListWriter {
	return ListWriter{len(objects), func(b []byte, i int) []byte { return objects[i].append(b) }}
}

// encoded is JSON for a value that has nothing that JSON cannot express.
func encoded(value any) []byte {
	text, err := JSON(value, 0)
	if err != nil {
		panic(err)
	}
	return text
}

// Links makes the absolute URLs of one answer. URLs of API resources end with the format of the
// request, URLs of web pages do not (docs/compatibility.md#addresses).
type Links struct {
	// Base is the scheme and the host, without a trailing slash.
	Base string
	// Format is the value of the parameter format: "api" or "json"; "" leaves it out.
	Format string
}

// API returns the URL of an API resource; path begins and ends with a slash.
func (l Links) API(path string) string { return l.Base + path + l.suffix() }

// suffix ends the addresses of API resources.
func (l Links) suffix() string {
	if l.Format == "" {
		return ""
	}
	return "?format=" + l.Format
}

// Web returns the URL of a page.
func (l Links) Web(path string) string { return l.Base + path }

// Path escapes segments and puts slashes around and between them.
func Path(segments ...string) string {
	n := 1
	for _, s := range segments {
		n += len(s) + 1
	}
	b := make([]byte, 1, n)
	b[0] = '/'
	for _, s := range segments {
		b = append(append(b, url.PathEscape(s)...), '/')
	}
	return string(b)
}

// FormatID formats an id.
func FormatID(id int64) string { return strconv.FormatInt(id, 10) }

// Unit returns the URL of a unit.
func (l Links) Unit(id int64) string { return l.API(UnitPath(id)) }

// User returns the URL of a user.
func (l Links) User(username string) string { return l.API(UserPath(username)) }

func (l Links) addon(id int64) string { return l.API("/api/addons/" + FormatID(id) + "/") }

// UnitPath is the path of a unit.
func UnitPath(id int64) string { return "/api/units/" + FormatID(id) + "/" }

// UserPath is the path of a user.
func UserPath(username string) string { return Path("api", "users", username) }

// ProjectPath is the path of a project.
func ProjectPath(project string) string { return Path("api", "projects", project) }

// ComponentPath is the path of a component.
func ComponentPath(project, component string) string {
	return Path("api", "components", project, component)
}

// TranslationPath is the path of a translation.
func TranslationPath(project, component, language string) string {
	return Path("api", "translations", project, component, language)
}
