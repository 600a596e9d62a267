package api

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/wire"
)

// renderCSV writes the entries of a list as CSV (RFC 4180 with LF): one row per
// entry, one column per key. Nested keys are joined by dots and elements of
// arrays are numbered from 0 ("component.project.slug", "target.0"). Columns
// are in the order of the JSON; null is an empty cell. No cell is a formula in a
// spreadsheet.
func renderCSV(results any) ([]byte, error) {
	data, err := wire.JSON(results, 0)
	if err != nil {
		return nil, err
	}
	t := &table{index: map[string]int{}}
	if err := t.read(data); err != nil {
		return nil, fmt.Errorf("flatten results: %w", err)
	}
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	if len(t.columns) > 0 {
		if err := w.Write(t.columns); err != nil {
			return nil, fmt.Errorf("write CSV: %w", err)
		}
	}
	for _, row := range t.rows {
		cells := make([]string, len(t.columns))
		copy(cells, row)
		if err := w.Write(cells); err != nil {
			return nil, fmt.Errorf("write CSV: %w", err)
		}
	}
	w.Flush()
	return buf.Bytes(), w.Error()
}

// noFormula puts a text that a spreadsheet would compute between apostrophes. Unlike
// in exports, which Weblate protects more widely, %d and texts like "- item" of lists
// stay as they are.
func noFormula(text string) string {
	if text != "" && strings.ContainsRune("=+@\t\r", rune(text[0])) || len(text) > 1 && text[0] == '-' && strings.ContainsAny(text[1:], "=+(|!") {
		return "'" + text + "'"
	}
	return text
}

// table collects rows. A new column is added after the known ones.
type table struct {
	columns []string
	index   map[string]int
	rows    [][]string
}

func (t *table) read(results []byte) error {
	dec := json.NewDecoder(bytes.NewReader(results))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil { // the opening bracket
		return err
	}
	for dec.More() {
		t.rows = append(t.rows, nil)
		if err := t.value(dec, ""); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) value(dec *json.Decoder, key string) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		return t.nested(dec, key, v)
	case string:
		t.set(key, noFormula(v))
	case json.Number:
		t.set(key, v.String())
	case bool:
		t.set(key, strconv.FormatBool(v))
	case nil:
		t.set(key, "")
	}
	return nil
}

func (t *table) nested(dec *json.Decoder, key string, open json.Delim) error {
	for i := 0; dec.More(); i++ {
		name := strconv.Itoa(i)
		if open == '{' {
			token, err := dec.Token()
			if err != nil {
				return err
			}
			name = fmt.Sprint(token)
		}
		if key != "" {
			name = key + "." + name
		}
		if err := t.value(dec, name); err != nil {
			return err
		}
	}
	_, err := dec.Token() // the closing bracket
	return err
}

func (t *table) set(key, value string) {
	at, known := t.index[key]
	if !known {
		at = len(t.columns)
		t.index[key] = at
		t.columns = append(t.columns, key)
	}
	row := t.rows[len(t.rows)-1]
	for len(row) <= at {
		row = append(row, "")
	}
	row[at] = value
	t.rows[len(t.rows)-1] = row
}
