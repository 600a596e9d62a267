package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// JSON writes compact JSON without a final newline, non-ASCII and <, >, &
// as they are (decision 1), or indented where the client asked for it.
func JSON(value any, indent int) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if indent > 0 {
		enc.SetIndent("", strings.Repeat(" ", indent))
	}
	if err := enc.Encode(value); err != nil {
		return nil, fmt.Errorf("encode %T: %w", value, err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
