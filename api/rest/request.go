package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
)

// Request is what handlers know of the request that they answer, valid until they did.
type Request struct {
	// HTTP is the request as it came.
	HTTP *http.Request
	// Params are the parameters of the query.
	Params Params
	// Now is when it was received, so that a day such as yesterday stays the same.
	Now time.Time
	// Link makes the addresses in the answer.
	Link wire.Links
	// Representation is the form of the answer.
	Representation Representation
	// Dialect is what the server is configured to do as newer Weblates do.
	Dialect Dialect
	// Chunk, if above 0, numbers a part of a list sent whole: page and page_size do not count.
	Chunk int

	// Asked, if not nil, is what a POST asks that stores nothing.
	Asked *Body
	// Seen, if not nil, is the answer to GET that the client has (If-Match).
	Seen any

	// Hold, if not nil, reads a body of at most so many bytes into memory that is counted.
	Hold func(body io.Reader, most int64) ([]byte, error)

	names, values []string // of the path's parameters
}

// Dialect is how answers differ from Weblate 4.x, the zero value, for clients of newer ones.
type Dialect struct {
	// PageSize is the number of entries of a page without page_size; of strings four
	// times as many. 0 is 20, also of strings.
	PageSize int
	// PlainAddresses says that addresses have a format only if the request has one.
	PlainAddresses bool
	// NewestFirst turns lists of changes round that have neither ordering nor after_id.
	NewestFirst bool
}

// NewRequest makes a request whose path has parameters of these names and values.
func NewRequest(r *http.Request, names, values []string) *Request {
	return &Request{HTTP: r, names: names, values: values}
}

// PathParam returns a parameter of the path, unescaped; "" if the path has no such parameter.
func (r *Request) PathParam(name string) string {
	i := slices.Index(r.names, name)
	if i < 0 || i >= len(r.values) {
		return ""
	}
	if plain, err := url.PathUnescape(r.values[i]); err == nil {
		return plain
	}
	return r.values[i]
}

// PathID returns the parameter id of the path, or ErrNotFound if it cannot be an id.
func (r *Request) PathID() (int64, error) {
	id, err := strconv.ParseUint(r.PathParam("id"), 10, 63)
	if err != nil || id == 0 {
		return 0, ErrNotFound
	}
	return int64(id), nil
}

// Representation is the form in which an answer is sent.
type Representation struct {
	// CSV asks for the entries of a list as CSV instead of JSON.
	CSV bool
	// Indent is the number of blanks per level of JSON; 0 is compact.
	Indent int
	// Lines asks for a whole list, one entry per line.
	Lines bool
	// Format is the value of the parameter format in links.
	Format string
}

// Params are the parameters of a query, in their order. Names may repeat.
type Params []Param

// Param is one parameter, unescaped.
type Param struct{ Name, Value string }

// ParseQuery parses a raw query. A "?" that is not escaped begins another
// parameter, as "&" does: wlc sends "?format=api?format=po", of which proxies make
// "?format=api%3Fformat=po" (docs/compatibility.md#format-parameter). Text that cannot be unescaped stays
// as it is; nothing is an error.
func ParseQuery(raw string) Params {
	var ps Params
	for part := range strings.FieldsFuncSeq(raw, func(r rune) bool { return r == '&' || r == '?' }) {
		name, value, _ := strings.Cut(part, "=")
		p := Param{Name: unescape(name), Value: unescape(value)}
		if p.Name == "format" {
			for {
				var more string
				var found bool
				if p.Value, more, found = strings.Cut(p.Value, "?"); !found {
					break
				}
				ps = append(ps, p)
				p.Name, p.Value, _ = strings.Cut(more, "=")
			}
		}
		ps = append(ps, p)
	}
	return ps
}

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// Get returns the last value of a parameter.
func (ps Params) Get(name string) (value string, ok bool) {
	for i := len(ps) - 1; i >= 0; i-- {
		if ps[i].Name == name {
			return ps[i].Value, true
		}
	}
	return "", false
}

// Encode writes the query of a page link: format (unless it is empty), page (unless it
// is 1) and all other parameters with all their values, sorted by name.
func (ps Params) Encode(format string, page int) string {
	kept := url.Values{}
	for _, p := range ps {
		if p.Name != "format" && p.Name != "page" {
			kept.Add(p.Name, p.Value)
		}
	}
	if format != "" {
		kept.Set("format", format)
	}
	if page > 1 {
		kept.Set("page", strconv.Itoa(page))
	}
	return kept.Encode()
}

// IsDigits reports whether s is a number without a sign.
func IsDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Timestamp reads one end of a range of time; both ends share their error.
func (r *Request) Timestamp(name string, errs FieldErrors) time.Time {
	value, _ := r.Params.Get(name)
	if value = strings.TrimSpace(value); value == "" {
		return time.Time{}
	}
	at, ok := parseDateTime(value)
	if !ok {
		errs.Add("timestamp", "Enter a valid date/time.")
	}
	if at.IsZero() {
		at = at.Add(time.Microsecond) // the zero time would be no bound
	}
	return at
}

// layouts are forms of a time: ISO 8601 with a blank for T, with or without seconds and zone.
var layouts = func() (list []string) {
	for _, clock := range []string{"15:4", "15:4:5"} {
		for _, zone := range []string{"", "Z07:00", "Z0700", "Z07"} {
			list = append(list, "2006-1-2 "+clock+zone)
		}
	}
	return list
}()

// parseDateTime reads a date and time; one without a zone is UTC. The plus of a zone that
// is not escaped arrives as a blank.
func parseDateTime(s string) (at time.Time, ok bool) {
	date, rest, _ := strings.Cut(strings.Replace(s, "T", " ", 1), " ")
	clock, zone, apart := strings.Cut(rest, " ")
	if apart && IsDigits(zone[:min(1, len(zone))]) {
		zone = "+" + zone
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, date+" "+clock+zone); err == nil {
			return at.UTC().Truncate(time.Microsecond), at.Year() > 0
		}
	}
	return at, false
}

// MaxBody bounds the body of a request that is no file, in bytes.
const MaxBody = 1 << 20

// Body is what a request sends, as JSON, form or multipart.
type Body struct {
	object map[string]json.RawMessage // nil for a form
	form   url.Values
	files  map[string][]*multipart.FileHeader
}

// ErrTooLarge is the answer to a body that is too large.
var ErrTooLarge = &Problem{Status: http.StatusRequestEntityTooLarge, Detail: "The body is too large."}

func (r *Request) readRaw(limit int64) ([]byte, error) {
	read := r.Hold
	if read == nil {
		read = func(body io.Reader, most int64) ([]byte, error) { return io.ReadAll(io.LimitReader(body, most+1)) }
	}
	raw, err := read(r.HTTP.Body, limit)
	var problem *Problem
	switch {
	case errors.As(err, &problem):
		return nil, problem
	case err != nil:
		return nil, errCancelled
	case int64(len(raw)) > limit:
		return nil, ErrTooLarge
	}
	return raw, nil
}

// ReadBody reads the body of a request of at most limit bytes, which must have some fields.
func (r *Request) ReadBody(limit int64, fields ...string) (Body, error) {
	b, err := r.readBody(limit)
	for _, name := range fields {
		if err == nil && !b.Has(name) {
			err = Required(name)
		}
	}
	return b, err
}

func (r *Request) readBody(limit int64) (b Body, err error) {
	req := r.HTTP
	raw, err := r.readRaw(limit)
	if err != nil {
		return b, err
	}
	kind, params, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
	switch {
	case kind == "application/json":
		if !wholeText(raw) {
			return b, &Problem{Status: http.StatusBadRequest, Detail: "JSON parse error - the body is not valid UTF-8, or has half of a surrogate pair"}
		}
		if err := json.Unmarshal(raw, &b.object); err != nil || b.object == nil {
			return b, &Problem{Status: http.StatusBadRequest, Detail: "JSON parse error - the body is no object"}
		}
		return b, nil
	case kind == "application/x-www-form-urlencoded" && err == nil:
		if b.form, err = url.ParseQuery(string(raw)); err != nil {
			return b, &Problem{Status: http.StatusBadRequest, Detail: "The form cannot be read: in a value, write % as %25 and ; as %3B."}
		}
		return b, nil
	case kind == "multipart/form-data" && params["boundary"] != "":
		copied := *req
		copied.Body, copied.MultipartForm, copied.Form, copied.PostForm = io.NopCloser(bytes.NewReader(raw)), nil, nil, nil
		if err := copied.ParseMultipartForm(limit); err == nil {
			b.form, b.files = copied.MultipartForm.Value, copied.MultipartForm.File
			return b, nil
		}
	case len(raw) == 0:
		return Body{form: url.Values{}}, nil
	default:
		return b, &Problem{Status: http.StatusUnsupportedMediaType, Detail: "Unsupported media type in request: send application/json, a form or multipart/form-data."}
	}
	return b, &Problem{Status: http.StatusBadRequest, Detail: "The form cannot be read."}
}

// wholeText reports whether JSON is valid UTF-8 and each \u of a surrogate has its other
// half: encoding/json would replace what is not by U+FFFD, and texts are stored as sent.
func wholeText(raw []byte) bool {
	return utf8.Valid(raw) && !half.Match(whole.ReplaceAll(raw, []byte("_")))
}

// whole is an escaped backslash or both halves of a surrogate pair, half is one of them.
var (
	whole = regexp.MustCompile(`\\\\|\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}`)
	half  = regexp.MustCompile(`\\u[dD][89a-fA-F][[:xdigit:]]{2}`)
)

// Has reports whether the body has a field. A JSON null is none.
func (b *Body) Has(name string) bool {
	if b.object != nil {
		raw, ok := b.object[name]
		return ok && string(raw) != "null"
	}
	return b.form.Has(name)
}

// List returns a field with several values. A single text of a form is a list of one,
// and its line breaks, which browsers send as CR LF, are line feeds.
func (b *Body) List(name string) ([]string, error) {
	if b.object == nil {
		list := slices.Clone(b.form[name])
		for i := range list {
			list[i] = strings.ReplaceAll(list[i], "\r\n", "\n")
		}
		return list, nil
	}
	var list []*string // a null is no text
	if err := json.Unmarshal(b.object[name], &list); err == nil && list != nil && !slices.Contains(list, nil) {
		return catalog.Each(list, func(text **string) string { return **text }), nil
	}
	var one *string
	if json.Unmarshal(b.object[name], &one) == nil && one != nil {
		return []string{*one}, nil
	}
	return nil, BadParameter(name, "Expected a list of texts.")
}

// File returns the bytes of an uploaded file.
func (b *Body) File(name string) ([]byte, error) {
	if len(b.files[name]) == 0 {
		return nil, BadParameter(name, "No file was submitted.")
	}
	f, err := b.files[name][0].Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Text returns a field with one value, "" without it.
func (b *Body) Text(name string) (string, error) {
	if b.object == nil {
		return b.form.Get(name), nil
	}
	if !b.Has(name) {
		return "", nil
	}
	var text string
	if err := json.Unmarshal(b.object[name], &text); err == nil {
		return text, nil
	}
	if raw := string(b.object[name]); !strings.ContainsAny(raw, "[{") { // a number, true or false
		return raw, nil
	}
	return "", BadParameter(name, "Not a valid string.")
}

// booleans are what Django REST framework and Weblate take for true and false, in any case.
var booleans = map[string]bool{
	"true": true, "t": true, "yes": true, "y": true, "on": true, "1": true,
	"false": false, "f": false, "no": false, "n": false, "off": false, "0": false,
}

// Bool returns a field with a yes or no, false without it.
func (b *Body) Bool(name string) (bool, error) {
	text, err := b.Text(name)
	if text = strings.ToLower(strings.TrimSpace(text)); err != nil || text == "" {
		return false, err
	}
	yes, ok := booleans[text]
	if !ok {
		return false, BadParameter(name, "Must be a valid boolean.")
	}
	return yes, nil
}

var errNoNumber = errors.New("no number")

// Int returns a field with a number.
func (b *Body) Int(name string) (int, error) {
	text, err := b.Text(name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return 0, errNoNumber
	}
	return n, nil
}
