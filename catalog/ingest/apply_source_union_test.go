package ingest

import (
	"context"
	"testing"

	"github.com/repoglot/repoglot/catalog/ingest/unit"
	"github.com/repoglot/repoglot/gitsource/object"
)

// TestUnionUnchanged changes files of a union one after the other: it is made again
// exactly if a unit of it comes from a changed file, before or after.
func TestUnionUnchanged(t *testing.T) {
	const header = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
	entry := func(id, place string) string { return "\n#: " + place + "\nmsgid \"" + id + "\"\nmsgstr \"\"\n" }
	texts := []string{
		header + entry("a", "1") + entry("b", "2"),
		header + entry("a", "3"),
		header + entry("c", "4") + entry("b", "5"),
		header + entry("a", "6") + entry("b", "7") + entry("c", "8"),
	}
	u := newUnion(newMeter(newMemory(0)))
	unite := func() {
		var files []unionInput
		for i, text := range texts {
			f, err := (*unit.Reader)(nil).Read("x.po", []byte(text), unit.NewRules("", false))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, unionInput{
				slot: &fileSlot{path: string(rune('a' + i)), blob: object.Hash{byte(i)}}, outline: f.Outline,
				load: func(context.Context) (*unit.File, error) { return f, nil },
			})
		}
		got, err := u.of(t.Context(), files, false)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := newUnion(newMeter(newMemory(0))).of(t.Context(), files, false)
		if err != nil || len(alone.units) != len(got.units) || alone.outline != got.outline {
			t.Fatalf("%d units, outline %x; made alone %d, %x, %v", len(got.units), got.outline, len(alone.units), alone.outline, err)
		}
		for i := range got.units {
			if got.units[i] != alone.units[i] || got.holders[i] != alone.holders[i] {
				t.Errorf("unit %d is %+v of %d, made alone %+v of %d", i, got.units[i], got.holders[i], alone.units[i], alone.holders[i])
			}
		}
		if len(u.files) > len(texts) {
			t.Errorf("%d contents of %d files are kept", len(u.files), len(texts))
		}
	}
	unite()
	for _, c := range []struct {
		what string
		file int
		text string
	}{
		{"nothing", 0, texts[0]},
		{"a place in a file that holds nothing", 1, header + entry("a", "9")},
		{"another string that the first file has", 1, header + entry("b", "9")},
		{"fewer strings in the last file", 3, header + entry("a", "6")},
		{"a place in a file that holds a string", 2, header + entry("c", "5") + entry("b", "5")},
		{"a new string", 3, header + entry("d", "6")},
		{"a string that only a later file has", 1, header + entry("c", "6")},
		{"and not any more", 1, header + entry("a", "6")},
		{"other places in the first file", 0, header + entry("b", "1") + entry("a", "2")},
		{"more strings in the first file", 0, header + entry("b", "1") + entry("e", "2") + entry("a", "3")},
		{"fewer strings in the first file", 0, header + entry("a", "1")},
		{"and all of them", 0, header + entry("a", "6") + entry("b", "7") + entry("c", "8") + entry("e", "9")},
	} {
		texts[c.file] = c.text
		t.Log(c.what)
		unite()
	}
}
