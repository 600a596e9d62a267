package wire

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
)

// anyText has all that JSON escapes, what is no UTF-8, and several forms.
func anyText() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{"", "a\"b\\c/", "<b>&amp;</b>", "\x00\x01\x1f\x7f\b\f\n\r\t", "\u2028\u2029\u2027", "\xff\xc3", "žluť 𝄞 \ufffd", catalog.FormSeparator}),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
	)
	return rapid.Map(rapid.SliceOfN(part, 0, 4), func(parts []string) (s string) {
		for _, p := range parts {
			s += p
		}
		return s
	})
}

func anyUnit() *rapid.Generator[catalog.Unit] {
	return rapid.Custom(func(t *rapid.T) catalog.Unit {
		text := func(name string) string { return anyText().Draw(t, name) }
		u := catalog.Unit{
			ID: rapid.Int64().Draw(t, "id"), SourceID: rapid.Int64().Draw(t, "source id"), TranslationID: rapid.Int64Range(1, 3).Draw(t, "translation"),
			Identity: catalog.Identity{Hash: rapid.Int64().Draw(t, "hash")},
			Source:   text("source"), Target: text("target"), PreviousSource: text("previous"), Context: text("context"),
			Note: text("note"), Comment: text("comment"), Flags: text("flags"), Location: text("location"),
			State:    catalog.State(rapid.SampledFrom([]int{0, 10, 20, 30, 100}).Draw(t, "state")),
			Position: rapid.IntRange(0, 1<<28).Draw(t, "position"), Priority: rapid.Int().Draw(t, "priority"), Words: rapid.IntRange(0, 1<<30).Draw(t, "words"),
			Removed: rapid.Bool().Draw(t, "removed"),
		}
		u.Failing[rapid.IntRange(0, 1).Draw(t, "half")] = rapid.Uint64Range(0, 1).Draw(t, "failing")
		if rapid.Bool().Draw(t, "known") {
			u.Created = time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "created"))
		}
		return u
	})
}

// TestAppendedUnits: the values of units are as encoding/json writes them, in a list too.
func TestAppendedUnits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := Links{Base: rapid.SampledFrom([]string{"https://example.org", "http://x&<\">"}).Draw(t, "base"), Format: "api"}
		translations, scopes := make([]catalog.Translation, 4), make([]UnitScope, 4)
		for i := range scopes {
			translations[i] = catalog.Translation{Language: "a" + anyText().Draw(t, "language"), PluralNumber: i}
			scopes[i] = NewUnitScope(l, &translations[i], "p&", "c")
		}
		units := rapid.SliceOfN(anyUnit(), 0, 3).Draw(t, "units")
		page := NewUnitPage(units, func(u *catalog.Unit) *UnitScope { return &scopes[u.TranslationID] })
		list := &List{Count: rapid.Int64().Draw(t, "count"), Results: page}
		if rapid.Bool().Draw(t, "next") {
			next := anyText().Draw(t, "link")
			list.Next = &next
		}
		got := AppendList(nil, list, page)
		objects := make([]json.RawMessage, len(units))
		for i := range units {
			objects[i], _ = scopes[units[i].TranslationID].Unit(&units[i]).MarshalJSON()
		}
		list.Results = objects
		want, err := JSON(list, 0)
		if err != nil || string(got) != string(want) {
			t.Fatalf("%v\n%s", err, cmp.Diff(string(want), string(got)))
		}
		for i, object := range objects {
			got := map[string]json.RawMessage{}
			if err := json.Unmarshal(object, &got); err != nil {
				t.Fatal(err)
			}
			want := unitValues(l, &translations[units[i].TranslationID], &units[i])
			for key, value := range want {
				if text, err := JSON(value, 0); err != nil || string(got[key]) != string(text) {
					t.Errorf("%s is %s, want %s", key, got[key], text)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d keys, want %d: %s", len(got), len(want), object)
			}
		}
	})
}

// unitValues are the values of a unit by key, for encoding/json.
func unitValues(l Links, t *catalog.Translation, u *catalog.Unit) map[string]any {
	values := map[string]any{
		"translation": l.API(TranslationPath("p&", "c", t.Language)), "source": catalog.SplitForms(u.Source), "previous_source": u.PreviousSource,
		"target": catalog.TargetForms(u.Source, u.Target, t.PluralNumber), "id_hash": u.Identity.Hash, "content_hash": u.Identity.Hash,
		"location": u.Location, "context": u.Context, "note": u.Note, "flags": u.Flags, "state": u.State,
		"fuzzy": u.State.Fuzzy(), "translated": u.State.Translated(), "approved": u.State.Approved(), "position": u.Position,
		"has_suggestion": u.HasSuggestion, "has_comment": u.Comment != "", "has_failing_check": u.Failing != [2]uint64{},
		"num_words": u.Words, "source_unit": l.Unit(u.SourceID), "priority": u.Priority, "id": u.ID,
		"web_url": l.Web(TranslatePath("p&", "c", t.Language)) + "?checksum=" + catalog.Checksum(u.Identity.Hash), "url": l.Unit(u.ID), "explanation": "", "extra_flags": "",
		"pending": u.Pending, "timestamp": UnitTime(u.Created), "language_code": t.Language,
	}
	if u.Removed {
		values["removed"] = true
	}
	return values
}
