package api

import (
	"net/http"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
)

// newAnswer makes the answer from what a handler returned.
func newAnswer(value any, rep rest.Representation) (answer, error) {
	h := header{status: http.StatusOK}
	switch v := value.(type) {
	case *rest.Document:
		h.contentType, h.disposition, h.modified, h.maxAge = v.ContentType, attachment(v.Filename, v.BareName), v.Modified, v.MaxAge
		if v.Ranges {
			return answer{h, ranged(v.Body)}, nil
		}
		return answer{h, content(v.Body)}, nil
	case rest.Redirect:
		h.status, h.contentType, h.location = http.StatusFound, "text/plain; charset=utf-8", string(v)
		return answer{h, content(nil)}, nil
	case *rest.ChangeStream:
		h.contentType = rest.TypeEvents
		return answer{h, &eventStream{ChangeStream: *v, last: v.After}}, nil
	case *rest.Download:
		h.contentType, h.disposition, h.exact = v.ContentType, attachment(v.Filename, v.BareName), v.Exact
		return answer{h, download{v}}, nil
	case *lines:
		h.contentType, h.varies = rest.TypeLines, true
		return answer{h, v}, nil
	}
	body, contentType, err := renderValue(value, rep)
	h.contentType = contentType
	return answer{h, content(body)}, err
}

// renderValue writes a list, an array or an object as CSV or JSON.
func renderValue(value any, rep rest.Representation) (body []byte, contentType string, err error) {
	var entries any
	switch v := value.(type) {
	case *wire.List:
		if results, ok := v.Results.(wire.ListWriter); ok {
			if !rep.CSV && rep.Indent == 0 {
				return renderList(v, results), rest.TypeJSON, nil
			}
			v.Results = results.Objects()
		}
		entries = v.Results
	case *rest.Array:
		value, entries = v.Items, v.Items
	}
	if rep.CSV && entries != nil {
		body, err = renderCSV(entries)
		return body, rest.TypeCSV, err
	}
	body, err = wire.JSON(value, rep.Indent)
	return body, rest.TypeJSON, err
}

// renderList is wire.JSON for a page that writes its own JSON.
func renderList(l *wire.List, results wire.ListWriter) []byte {
	kept := buffers.Get().(*[]byte)
	defer buffers.Put(kept)
	return exactly(kept, wire.AppendList((*kept)[:0], l, results))
}
