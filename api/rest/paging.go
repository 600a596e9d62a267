package rest

import (
	"cmp"
	"context"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// Sizes of pages (docs/compatibility.md#paging).
const (
	defaultPageSize = 20
	MaxPageSize     = 1000
	MaxUnitsSize    = 10000
	// chunkSize is how many entries of a list that is sent whole are read at once.
	chunkSize = 1000
)

// Window is the part of a list that a request asks for.
type Window struct {
	// Offset is the number of entries before it, Limit the most that it holds.
	Offset, Limit int

	page int
	more bool
}

// findWindow finds the part of a list of count entries that the parameters page and
// page_size ask for: maxSize entries at most.
func (r *Request) findWindow(count int64, maxSize int) (Window, error) {
	if r.Chunk > 0 {
		offset := (r.Chunk - 1) * chunkSize
		return Window{page: r.Chunk, Offset: offset, Limit: chunkSize, more: int64(offset+chunkSize) < count}, nil
	}
	w := Window{Limit: r.pageSize(maxSize)}
	pages := max(1, (count+int64(w.Limit)-1)/int64(w.Limit))
	page, err := r.pageNumber(pages)
	if err != nil {
		return Window{}, err
	}
	w.page = int(page)
	w.Offset = (w.page - 1) * w.Limit
	w.more = page < pages
	return w, nil
}

// pageSize ignores invalid values and clamps large ones.
func (r *Request) pageSize(maxSize int) int {
	value, _ := r.Params.Get("page_size")
	value = strings.TrimSpace(value)
	usual := cmp.Or(r.Dialect.PageSize, defaultPageSize)
	if r.Dialect.PageSize > 0 && maxSize == MaxUnitsSize {
		usual *= 4
	}
	if !IsDigits(value) {
		return usual
	}
	size, err := strconv.Atoi(value)
	switch {
	case err != nil || size > maxSize: // too large for an int, or above the maximum
		return maxSize
	case size == 0:
		return usual
	}
	return size
}

func (r *Request) pageNumber(pages int64) (int64, error) {
	value, given := r.Params.Get("page")
	if !given {
		return 1, nil
	}
	if value == "last" {
		return pages, nil
	}
	page, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil || page < 1 || page > pages || page > math.MaxInt32 {
		return 0, errInvalidPage
	}
	return page, nil
}

// List makes the page that the request asks for of a list of count entries: maxSize at
// most, which read returns. path is the canonical path of the list, with its slashes,
// whatever alias the request used.
func (r *Request) List(count int64, maxSize int, path string, read func(w Window) (results any, err error)) (*wire.List, error) {
	w, err := r.findWindow(count, maxSize)
	if err != nil {
		return nil, err
	}
	l := &wire.List{Count: count}
	if l.Results, err = read(w); err != nil {
		return nil, err
	}
	if objects, ok := l.Results.([]wire.Object); ok {
		l.Results = wire.NewPage(objects)
	}
	if w.more {
		l.Next = r.pageLink(path, w.page+1)
	}
	if w.page > 1 {
		l.Previous = r.pageLink(path, w.page-1)
	}
	return l, nil
}

func (r *Request) pageLink(path string, page int) *string {
	link := strings.TrimSuffix(r.Link.Base+path+"?"+r.Params.Encode(r.Link.Format, page), "?")
	return &link
}

// Slice returns the entries of all that are in w.
func Slice[T any](all []T, w Window) []T {
	from := min(w.Offset, len(all))
	to := min(from+w.Limit, len(all))
	return all[from:to]
}

// ListOf makes the page that a request asks for of a list in memory. path is the list's own.
func ListOf[T any](r *Request, all []T, maxSize int, path string) (*wire.List, error) {
	return r.List(int64(len(all)), maxSize, path, func(w Window) (any, error) { return append([]T{}, Slice(all, w)...), nil })
}

// ListOfObjects is like ListOf; object makes the wire object of an entry on the page.
func ListOfObjects[T, O any](r *Request, all []T, path string, object func(*T) O) (*wire.List, error) {
	return r.List(int64(len(all)), MaxPageSize, path, func(w Window) (any, error) { return Objects(Slice(all, w), object), nil })
}

// Objects makes the wire objects of entries; the slice is never nil.
func Objects[T, O any](entries []T, object func(*T) O) []O {
	objects := make([]O, len(entries))
	for i := range entries {
		objects[i] = object(&entries[i])
	}
	return objects
}

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
	// BareName: the filename is sent unquoted if possible, as Weblate does for file/.
	BareName bool
	Body     []byte
	// Modified, if not zero, becomes Last-Modified.
	Modified time.Time
	// Ranges says that clients may ask for parts (RFC 9110 §14).
	Ranges bool
	// MaxAge, if above 0, is for how many seconds caches may keep it without asking.
	MaxAge int
	// Live says that it changes without the store, so it is never kept.
	Live bool
	// Keep says whether clients may keep it.
	Keep Keep
}

// Keep says whether clients and their caches may keep an answer.
type Keep int

const (
	KeepAsked   Keep = iota // if they ask before they use it
	KeepForever             // without asking: its address names what never changes
	KeepNever
)

// Answer is an object with the status of the answer, or with how long clients may keep it.
type Answer struct {
	// Status is that of a write which is not done yet (202), made something (201) or has no
	// answer (204); 0: 200.
	Status int
	Value  any
	Keep   Keep
}

// Array is a list without paging. Items is a slice, never nil.
type Array struct{ Items any }

// Redirect is the path of the resource that a web page of Weblate's is about.
type Redirect string

// Download is an answer that may be large. It is made in a snapshot of its own
// and spooled, so that a slow client costs neither memory nor a snapshot.
type Download struct {
	ContentType, Filename string
	// BareName: the filename is sent unquoted if possible, as Weblate does for file/.
	BareName bool
	// Plan reads what is to be sent, and checks again that the client may see it.
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

// ChangeStream is an answer that does not end: the entries of a change list as server-sent
// events; ours. Each event has the id of its entry. Ids have no gaps and appear in ascending
// order, so a client that comes back with Last-Event-ID misses no entry and sees none twice.
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
