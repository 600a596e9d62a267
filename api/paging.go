package api

import (
	"math"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/wire"
)

// Sizes of pages (decision 3).
const (
	defaultPageSize = 20
	maxPageSize     = 1000
	maxUnitsSize    = 10000
)

// window is the part of a list that a request asks for.
type window struct {
	page   int
	offset int
	limit  int
	more   bool
	count  int64
}

// window finds the part of a list of count entries that the parameters page
// and page_size name, at most maxSize entries.
func (r *request) window(count int64, maxSize int) (window, error) {
	if r.whole > 0 {
		offset := (r.whole - 1) * linesPage
		return window{page: r.whole, offset: offset, limit: linesPage, more: int64(offset+linesPage) < count, count: count}, nil
	}
	w := window{limit: r.pageSize(maxSize), count: count}
	pages := max(1, (count+int64(w.limit)-1)/int64(w.limit))
	page, err := r.pageNumber(pages)
	if err != nil {
		return window{}, err
	}
	w.page = int(page)
	w.offset = (w.page - 1) * w.limit
	w.more = page < pages
	return w, nil
}

// pageSize ignores nonsense and clamps what is too much.
func (r *request) pageSize(maxSize int) int {
	value, _ := r.params.get("page_size")
	value = strings.TrimSpace(value)
	if !isDigits(value) {
		return defaultPageSize
	}
	size, err := strconv.Atoi(value)
	switch {
	case err != nil || size > maxSize: // too large for an int, or for us
		return maxSize
	case size == 0:
		return defaultPageSize
	}
	return size
}

func (r *request) pageNumber(pages int64) (int64, error) {
	value, given := r.params.get("page")
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

// list wraps the results of a window. path is the list's own path, with its
// slashes: the canonical one, whatever alias the request used.
func (r *request) list(w window, path string, results any) *wire.List {
	l := &wire.List{Count: w.count, Results: results}
	if w.more {
		l.Next = r.pageLink(path, w.page+1)
	}
	if w.page > 1 {
		l.Previous = r.pageLink(path, w.page-1)
	}
	return l
}

func (r *request) pageLink(path string, page int) *string {
	link := r.link.Base + path + "?" + r.params.encode(r.link.Format, page)
	return &link
}

// slice returns the entries of a list held in memory that are in w.
func slice[T any](all []T, w window) []T {
	from := min(w.offset, len(all))
	to := min(from+w.limit, len(all))
	return all[from:to]
}
