package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// JSON encodes a value without a final newline. Non-ASCII characters and <, >,
// & are not escaped (docs/compatibility.md#json). With an indent above 0 it
// uses that many blanks per level.
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
