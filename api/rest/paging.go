package rest

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/wire"
)

// Sizes of pages (docs/compatibility.md#paging).
const (
	defaultPageSize = 20
	MaxPageSize     = 1000
	MaxUnitsSize    = 10000
	// chunkSize is the number of entries that are read at once of a list that
	// is sent whole.
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
	usual := defaultPageSize
	if usual = cmp.Or(r.Dialect.PageSize, usual); r.Dialect.PageSize > 0 && maxSize == MaxUnitsSize {
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

// ListOf makes the page that a request asks for of a list held in memory. path
// is the list's own.
func ListOf[T any](r *Request, all []T, maxSize int, path string) (*wire.List, error) {
	return r.List(int64(len(all)), maxSize, path, func(w Window) (any, error) { return append([]T{}, Slice(all, w)...), nil })
}

// ListOfObjects is like ListOf; object makes the wire object of an entry on the
// page.
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
