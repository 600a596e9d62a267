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

// Document is an answer whose bytes are in memory.
type Document struct {
	ContentType string
	// Filename, if set, offers the body as an attachment of that name.
	Filename string
	// BareName says that the filename is sent without quotes where that is
	// possible, as Weblate does for file/.
	BareName bool
	Body     []byte
	// Modified, if not zero, becomes Last-Modified.
	Modified time.Time
	// Ranges says that clients may ask for parts (RFC 9110 §14).
	Ranges bool
	// MaxAge, if above 0, is the number of seconds for which caches may keep it
	// without asking.
	MaxAge int
}

// Array is a list without paging. Items is a slice, never nil.
type Array struct{ Items any }

// Redirect is the path of the resource that a web page of Weblate's is about.
type Redirect string
