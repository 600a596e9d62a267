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
	"unicode/utf8"
)

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
	var list []string
	if err := json.Unmarshal(b.object[name], &list); err == nil && list != nil {
		return list, nil
	}
	var one string
	if json.Unmarshal(b.object[name], &one) == nil {
		return []string{one}, nil
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

// booleans are the texts that Django REST framework, and so Weblate, takes for true and
// false, in any case.
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
