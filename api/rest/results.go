package rest

import (
	"context"
	"io"
	"time"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

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
	// Live says that it changes without the store, so it is never kept.
	Live bool
}

// Array is a list without paging. Items is a slice, never nil.
type Array struct{ Items any }

// Redirect is the path of the resource that a web page of Weblate's is about.
type Redirect string

// Download is an answer that may be large. It is made in a snapshot of its own
// and spooled, so that a slow client costs neither memory nor a snapshot.
type Download struct {
	ContentType, Filename string
	// BareName says that the filename is sent without quotes where that is
	// possible, as Weblate does for file/.
	BareName bool
	// Plan reads what is to be sent, and checks again that the client may see
	// it.
	Plan func(ctx context.Context, snap *store.Snapshot) (*DownloadPlan, error)
}

// DownloadPlan is what a download will send.
type DownloadPlan struct {
	// Tag is the ETag without quotes; "" if it cannot be known before. A short
	// download has a hash of its bytes instead, unless Fixed is set.
	Tag   string
	Fixed bool
	// Modified is the time of the last change; zero if unknown.
	Modified time.Time
	// Write writes the download.
	Write func(ctx context.Context, w io.Writer) error
}

// ChangeStream is an answer that does not end: the entries of a change list as
// server-sent events; ours. Each event has the id of its entry. Ids have no
// gaps and become visible in ascending order, so a client that comes back with
// Last-Event-ID misses no entry and sees none twice.
type ChangeStream struct {
	// Path names the list.
	Path string
	// Query has the filters.
	Query store.ChangeQuery
	// After is the id after which the stream begins.
	After int64
	// Link makes the addresses in the entries.
	Link wire.Links
	// Scope finds the entries of the list again, without the filters.
	Scope func(ctx context.Context, snap *store.Snapshot) (store.ChangeQuery, error)
}

// Accepted is an answer to a write that is not done yet: 202.
type Accepted struct {
	Value any
}

// NoContent is an answer without a body: 204.
type NoContent struct{}

// Created is an answer to a write that made something: 201.
type Created struct {
	Value any
}
