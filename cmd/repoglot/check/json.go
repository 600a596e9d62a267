package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// jsonVersion is the version of the object; it grows when a member is removed or
// changes its meaning.
const jsonVersion = 1

// jsonFile has the counts of a file on the wire.
type jsonFile struct {
	File     string `json:"file"`
	Template bool   `json:"template"`
	Counts
}

// jsonReport writes one object: the findings as they come, then the sums.
type jsonReport struct {
	w       io.Writer
	started bool
	items   int
	summary Summary
	stats   *stats     // nil without counts
	files   []jsonFile // never nil
}

// File implements [Report].
func (j *jsonReport) File(r Result) error {
	var b bytes.Buffer
	j.begin(&b)
	for i := range r.Findings {
		if j.items++; j.items > 1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		if err := appendJSON(&b, r.Findings[i]); err != nil {
			return err
		}
	}
	j.summary.Add(r)
	if j.stats != nil && r.Parsed {
		j.stats.add(r)
		j.files = append(j.files, jsonFile{r.File, r.Template, r.Counts})
	}
	return write(j.w, b.Bytes())
}

func (j *jsonReport) begin(b *bytes.Buffer) {
	if !j.started {
		j.started = true
		fmt.Fprintf(b, "{\"version\":%d,\"findings\":[", jsonVersion)
	}
}

// Close implements [Report].
func (j *jsonReport) Close() error {
	var b bytes.Buffer
	j.begin(&b)
	fmt.Fprintf(&b, "\n],\n\"files\":%d,\"errors\":%d,\"warnings\":%d", j.summary.Files, j.summary.Errors, j.summary.Warnings)
	if j.stats != nil {
		b.WriteString(",\n\"stats\":")
		all := struct {
			Files       []jsonFile `json:"files"`
			Directories []sum      `json:"directories"`
			Total       sum        `json:"total"`
		}{j.files, j.stats.sorted(), j.stats.total[""]}
		if err := appendJSON(&b, all); err != nil {
			return err
		}
	}
	b.WriteString("}\n")
	return write(j.w, b.Bytes())
}

// appendJSON encodes v in one line that is safe to print.
func appendJSON(b *bytes.Buffer, v any) error {
	var one bytes.Buffer
	enc := json.NewEncoder(&one)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	b.Write(printableJSON(bytes.TrimRight(one.Bytes(), "\n")))
	return nil
}
