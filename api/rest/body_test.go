package rest

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestWholeText: JSON that encoding/json would read with replacements is refused.
func TestWholeText(t *testing.T) {
	for body, want := range map[string]bool{
		`{"target": "Zru\u0161it"}`:   true,
		`{"target": "\ud83d\ude80"}`:  true,
		`{"target": "\uD83D\uDE80"}`:  true,
		`{"target": "\\ud83d"}`:       true, // a backslash and letters
		`{"target": "\ufffd"}`:        true, // which somebody wrote
		"{\"target\": \"\uFFFD\"}":    true,
		"{\"target\": \"\xff\"}":      false,
		`{"target": "\ud83d"}`:        false,
		`{"target": "\ude80"}`:        false,
		`{"target": "\ude80\ud83d"}`:  false,
		`{"target": "\ud83d\\ude80"}`: false,
		`{"target": "\ud83dx"}`:       false,
	} {
		req := httptest.NewRequest("PATCH", "/", strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		r := NewRequest(req, nil, nil)
		b, err := r.ReadBody(MaxBody)
		if (err == nil) != want {
			t.Errorf("%s: %v", body, err)
		}
		if text, _ := b.Text("target"); want && text == "" {
			t.Errorf("%s: no text", body)
		}
	}
}

// TestNull: a null is no text, which would empty a string.
func TestNull(t *testing.T) {
	for body, want := range map[string]string{
		`{"target": ["a", ""]}`: "a|", `{"target": "a"}`: "a", `{"target": []}`: "", `{"target": null}`: "refused", `{"target": [null]}`: "refused", `{"target": ["a", null]}`: "refused", `{"target": {}}`: "refused",
	} {
		req := httptest.NewRequest("PATCH", "/", strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		b, err := NewRequest(req, nil, nil).ReadBody(MaxBody)
		if err != nil {
			t.Fatal(err)
		}
		list, err := b.List("target")
		got := strings.Join(list, "|")
		if err != nil {
			got = "refused"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// FuzzWholeText: what is taken is read without replacements, and nothing else is refused.
func FuzzWholeText(f *testing.F) {
	for _, s := range []string{`"a"`, `"\ud83d\ude80"`, `"\ud83d"`, `"\\u"`, "\"\xff\"", `"\u"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			wholeText(raw) // does not panic
			return
		}
		sent := strings.Count(string(raw), "\uFFFD") + strings.Count(strings.ToLower(string(raw)), `\ufffd`)
		replaced := strings.Count(text, "\uFFFD") > sent || !utf8.Valid(raw)
		if strings.Contains(string(raw), `\\`) {
			return // which of them escape is what is tested above
		}
		if wholeText(raw) == replaced {
			t.Errorf("%q is read as %q", raw, text)
		}
	})
}
