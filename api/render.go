package api

import (
	"net/http"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
)

// render makes the bytes of a successful answer.
func render(value any, rep rest.Representation) (answer, error) {
	if doc, ok := value.(*rest.Document); ok {
		return answer{status: http.StatusOK, contentType: doc.ContentType, filename: doc.Filename, body: doc.Body, modified: doc.Modified, ranges: doc.Ranges, maxAge: doc.MaxAge, bareName: doc.BareName}, nil
	}
	if to, ok := value.(rest.Redirect); ok {
		return answer{status: http.StatusFound, contentType: "text/plain; charset=utf-8", location: string(to)}, nil
	}
	if f, ok := value.(*rest.ChangeStream); ok {
		return answer{status: http.StatusOK, contentType: rest.TypeEvents, feed: &eventStream{ChangeStream: *f, last: f.After}}, nil
	}
	if d, ok := value.(*rest.Download); ok {
		return answer{status: http.StatusOK, contentType: d.ContentType, filename: d.Filename, bareName: d.BareName, ranges: true, exact: d.Exact, download: d}, nil
	}
	if l, ok := value.(*lines); ok {
		return answer{status: http.StatusOK, contentType: rest.TypeLines, long: l}, nil
	}
	if l, ok := value.(*wire.List); ok {
		if results, ok := l.Results.(wire.ListWriter); ok {
			if !rep.CSV && rep.Indent == 0 {
				return answer{status: http.StatusOK, contentType: rest.TypeJSON, body: renderAppended(l, results)}, nil
			}
			l.Results = results.Objects()
		}
	}
	if l, ok := value.(*wire.List); ok && rep.CSV {
		body, err := renderCSV(l.Results)
		return answer{status: http.StatusOK, contentType: rest.TypeCSV, body: body}, err
	}
	if list, ok := value.(*rest.Array); ok {
		if rep.CSV {
			body, err := renderCSV(list.Items)
			return answer{status: http.StatusOK, contentType: rest.TypeCSV, body: body}, err
		}
		value = list.Items
	}
	body, err := wire.JSON(value, rep.Indent)
	return answer{status: http.StatusOK, contentType: rest.TypeJSON, body: body}, err
}

func renderProblem(p *rest.Problem, indent int) answer {
	body, err := wire.JSON(p.Body(), indent)
	if err != nil { // a map of strings always has a JSON form
		body = []byte("{}")
	}
	return answer{status: p.Status, contentType: rest.TypeJSON, body: body, problem: p}
}

// renderAppended is renderJSON of a page of a list, without indentation.
func renderAppended(l *wire.List, results wire.ListWriter) []byte {
	kept := buffers.Get().(*[]byte)
	defer buffers.Put(kept)
	return exactly(kept, wire.AppendList((*kept)[:0], l, results))
}
