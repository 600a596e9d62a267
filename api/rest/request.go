package rest

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/repoglot/repoglot/api/wire"
)

// Request is what handlers know of the request that they answer. It is valid
// until the request is answered.
type Request struct {
	// HTTP is the request as it came.
	HTTP *http.Request
	// Params are the parameters of the query.
	Params Params
	// Now is when it was received: a day that it names, such as yesterday, is the same
	// until it is answered.
	Now time.Time
	// Link makes the addresses in the answer.
	Link wire.Links
	// Representation is the form of the answer.
	Representation Representation
	// Dialect is what the server is configured to do as newer Weblates do.
	Dialect Dialect
	// Chunk, if above 0, is the number of a part of a list that is sent whole:
	// page and page_size do not count.
	Chunk int

	// Seen, if not nil, is the answer to GET that the client has (If-Match).
	Seen any

	// Hold, if not nil, reads a body of at most so many bytes into memory that is counted.
	Hold func(body io.Reader, most int64) ([]byte, error)

	names, values []string // of the path's parameters
}

// Dialect is how answers differ from Weblate 4.x for clients of newer versions. The zero
// value is 4.x.
type Dialect struct {
	// PageSize is the number of entries of a page without page_size; of strings four
	// times as many. 0 is 20, also of strings.
	PageSize int
	// PlainAddresses says that addresses have a format only if the request has one.
	PlainAddresses bool
	// NewestFirst turns lists of changes round that have neither ordering nor after_id.
	NewestFirst bool
}

// NewRequest makes a request whose path has parameters of these names and
// values.
func NewRequest(r *http.Request, names, values []string) *Request {
	return &Request{HTTP: r, names: names, values: values}
}

// PathParam returns a parameter of the path, unescaped; "" if the path has no
// such parameter.
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

// PathID returns the parameter id of the path, or ErrNotFound if it cannot be
// an id.
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
