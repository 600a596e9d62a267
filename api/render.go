package api

import (
	"net/http"
	"time"

	"github.com/repoglot/repoglot/api/wire"
)

// The media types of answers.
const (
	typeJSON = "application/json"
	typeCSV  = "text/csv; charset=utf-8"
	typeHTML = "text/html; charset=utf-8"
)

// document is an answer that is bytes already.
type document struct {
	contentType string
	// filename, if set, offers the body as an attachment of that name.
	filename string
	// bareName says that the name is sent without quotes where it can be, as
	// Weblate does for file/.
	bareName bool
	body     []byte
	// modified, if not zero, becomes Last-Modified.
	modified time.Time
	// ranges says that clients may ask for parts (RFC 9110 §14).
	ranges bool
	// maxAge, if above 0, is how many seconds others may keep it unasked.
	maxAge int
}

// array is a list without paging: a bare array (facts §5). items is a slice,
// never nil.
type array struct{ items any }

// render makes the bytes of a successful answer.
func render(value any, rep representation) (answer, error) {
	if doc, ok := value.(*document); ok {
		return answer{status: http.StatusOK, contentType: doc.contentType, filename: doc.filename, body: doc.body, modified: doc.modified, ranges: doc.ranges, maxAge: doc.maxAge, bareName: doc.bareName}, nil
	}
	if to, ok := value.(redirect); ok {
		return answer{status: http.StatusFound, contentType: "text/plain; charset=utf-8", location: string(to)}, nil
	}
	if f, ok := value.(*feed); ok {
		return answer{status: http.StatusOK, contentType: typeEvents, feed: f}, nil
	}
	if d, ok := value.(*download); ok {
		return answer{status: http.StatusOK, contentType: d.contentType, filename: d.filename, bareName: d.bareName, ranges: true, exact: d.exact, download: d}, nil
	}
	if l, ok := value.(*lines); ok {
		return answer{status: http.StatusOK, contentType: typeLines, long: l}, nil
	}
	if l, ok := value.(*wire.List); ok {
		if results, ok := l.Results.(wire.ListWriter); ok {
			if !rep.csv && rep.indent == 0 {
				return answer{status: http.StatusOK, contentType: typeJSON, body: renderAppended(l, results)}, nil
			}
			l.Results = results.Objects()
		}
	}
	if l, ok := value.(*wire.List); ok && rep.csv {
		body, err := renderCSV(l.Results)
		return answer{status: http.StatusOK, contentType: typeCSV, body: body}, err
	}
	if list, ok := value.(*array); ok {
		if rep.csv {
			body, err := renderCSV(list.items)
			return answer{status: http.StatusOK, contentType: typeCSV, body: body}, err
		}
		value = list.items
	}
	body, err := wire.JSON(value, rep.indent)
	return answer{status: http.StatusOK, contentType: typeJSON, body: body}, err
}

func renderProblem(p *problem, indent int) answer {
	body, err := wire.JSON(p.body(), indent)
	if err != nil { // a map of strings always has a JSON form
		body = []byte("{}")
	}
	return answer{status: p.status, contentType: typeJSON, body: body, problem: p}
}

// renderAppended is renderJSON of a page of a list, without indentation.
func renderAppended(l *wire.List, results wire.ListWriter) []byte {
	kept := buffers.Get().(*[]byte)
	defer buffers.Put(kept)
	return exactly(kept, wire.AppendList((*kept)[:0], l, results))
}
