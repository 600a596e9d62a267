package wire

// List is a page of a list (docs/compatibility.md#paging).
type List struct {
	Count    int64   `json:"count"`
	Next     *string `json:"next"`
	Previous *string `json:"previous"`
	// Results is a slice of wire objects, never nil.
	Results any `json:"results"`
}

// ListWriter is a slice of wire objects that writes its own JSON. It writes
// what encoding/json would, without reflection and without making the objects:
// that took a third of the time of a page of units.
type ListWriter interface {
	// Objects returns the wire objects, for CSV and for indented JSON.
	Objects() any
	// AppendJSON writes all objects as an array.
	AppendJSON(b []byte) []byte
	// Len is the number of objects.
	Len() int
	// AppendObject writes the object at index i.
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
