package wire

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestObjects: an object is what encoding/json writes of a struct with its members, in an answer
// of its own and on a page.
func TestObjects(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type inner struct {
			Flag bool `json:"flag"`
		}
		type member struct {
			Text   string   `json:"te\u00dft"`
			Null   *string  `json:"null"`
			Number int64    `json:"number"`
			Small  int      `json:"small"`
			Share  Percent  `json:"share"`
			List   []string `json:"list"`
			None   any      `json:"none"`
			Inner  inner    `json:"inner"`
			Again  inner    `json:"again"`
		}
		text := anyText()
		m := member{
			Text: text.Draw(t, "text"), Null: OrNull(text.Draw(t, "null")), Number: rapid.Int64().Draw(t, "number"), Small: rapid.Int().Draw(t, "small"),
			Share: Percent(rapid.IntRange(0, 1000).Draw(t, "share")), List: rapid.SliceOf(text).Draw(t, "list"), Inner: inner{rapid.Bool().Draw(t, "flag")},
		}
		m.Again = m.Inner
		own := Object{"flag", m.Inner.Flag}
		o := Object{"teßt", m.Text, "null", m.Null, "number", m.Number, "small", m.Small, "share", m.Share, "list", m.List, "none", nil, "inner", own, "again", own.Encoded()}
		for want, got := range map[any]any{
			&m: o, &[]member{m}: NewPage([]Object{o}), &List{Count: 2, Results: []member{m, m}}: json.RawMessage(AppendList(nil, &List{Count: 2}, NewPage([]Object{o, o}))),
		} {
			a, err := JSON(want, 0)
			b, gotErr := JSON(got, 0)
			if diff := cmp.Diff(string(a), string(b)); diff != "" || err != nil || gotErr != nil {
				t.Fatalf("%v %v (-struct +object)\n%s", err, gotErr, diff)
			}
		}
	})
}
