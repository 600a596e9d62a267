package rest

import "time"

// The media types of answers.
const (
	TypeJSON   = "application/json"
	TypeCSV    = "text/csv; charset=utf-8"
	TypeEvents = "text/event-stream"
	TypeLines  = "application/x-ndjson"
	TypePO     = "text/x-gettext-catalog"
	TypeSVG    = "image/svg+xml"
	TypeZip    = "application/zip"
	TypeHTML   = "text/html; charset=utf-8"
)

// Document is an answer that is bytes already.
type Document struct {
	ContentType string
	// filename, if set, offers the body as an attachment of that name.
	Filename string
	// BareName says that the name is sent without quotes where it can be, as
	// Weblate does for file/.
	BareName bool
	Body     []byte
	// modified, if not zero, becomes Last-Modified.
	Modified time.Time
	// Ranges says that clients may ask for parts (RFC 9110 §14).
	Ranges bool
	// maxAge, if above 0, is how many seconds others may keep it unasked.
	MaxAge int
}

// Array is a list without paging: a bare array (facts §5). items is a slice,
// never nil.
type Array struct{ Items any }

// Redirect is the path of the resource that a page of Weblate's is about.
type Redirect string
