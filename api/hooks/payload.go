package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// errMissingField is returned for a payload without a field that the service
// sends.
var errMissingField = errors.New("the payload lacks what a push has")

// decode reads a payload.
func decode(payload []byte, into any) error {
	if err := json.Unmarshal(payload, into); err != nil {
		return fmt.Errorf("reading the payload: %w", err)
	}
	return nil
}

// bounded is a list of which the first maxURLs entries are read: a body of 25 MiB
// can hold millions of empty objects.
type bounded[T any] []T

// UnmarshalJSON reads the first entries of a list.
func (f *bounded[T]) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	t, err := d.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return errMissingField
	}
	for d.More() && len(*f) < maxURLs {
		var one T
		if err := d.Decode(&one); err != nil {
			return err
		}
		*f = append(*f, one)
	}
	return nil
}

// optionalText is a text; values of another type are read as "".
type optionalText string

// UnmarshalJSON reads a text.
func (w *optionalText) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		return nil
	}
	return json.Unmarshal(data, (*string)(w))
}
