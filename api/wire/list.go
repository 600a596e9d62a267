package wire

// List is a page of a list: the pagination envelope of the specification.
type List struct {
	Count    int64   `json:"count"`
	Next     *string `json:"next"`
	Previous *string `json:"previous"`
	// Results is a slice of wire objects, never nil.
	Results any `json:"results"`
}

// ListWriter is a slice of wire objects that writes its own JSON: that which
// encoding/json makes of its objects, but without making them and without
// reflection, which took a third of the time of a page of units.
type ListWriter interface {
	// Objects are the wire objects, for CSV and for JSON that is indented.
	Objects() any
	AppendJSON(b []byte) []byte
	// Len is the number of objects, of which appendObject writes one.
	Len() int
	AppendObject(b []byte, i int) []byte
}

// AppendList writes a list without indentation, as encoding/json does.
func AppendList(b []byte, l *List, results ListWriter) []byte {
	b = append(b, `{"count":`...)
	b = appendInt(b, l.Count)
	b = appendLink(append(b, `,"next":`...), l.Next)
	b = appendLink(append(b, `,"previous":`...), l.Previous)
	b = append(b, `,"results":`...)
	return append(results.AppendJSON(b), '}')
}

func appendLink(b []byte, link *string) []byte {
	if link == nil {
		return append(b, "null"...)
	}
	return appendString(b, *link)
}
