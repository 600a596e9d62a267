package merge

import (
	"testing"

	"github.com/repoglot/repoglot/poparse"
)

func parse(t testing.TB, text string) *poparse.File {
	t.Helper()
	f, err := poparse.Parse("test.po", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestDifference: the difference of two files is the table with the old one twice.
func TestDifference(t *testing.T) {
	old := parse(t, "msgid \"Open the file\"\nmsgstr \"Öffnen\"\n\nmsgid \"Close\"\nmsgstr \"\"\n\nmsgid \"Gone\"\nmsgstr \"Weg\"\n")
	now := parse(t, "#, fuzzy\nmsgid \"Open the files\"\nmsgstr \"Öffnen\"\n\n#: a.c\nmsgid \"Close\"\nmsgstr \"Zu\"\n\nmsgid \"New\"\nmsgstr \"\"\n")
	table := NewTable(old, old, now, Options{})
	if len(table.Rows) != 4 {
		t.Fatalf("%d rows", len(table.Rows))
	}
	for i, want := range []struct {
		changed  Fields
		outcome  Outcome
		reworded Side
	}{
		{FieldSource | FieldState, FromTheirs, Theirs},
		{FieldForms | FieldReferences, FromTheirs, Base},
		{allFields, FromTheirs, Base},
		{allFields, FromTheirs, Base},
	} {
		if r := table.Rows[i]; r.Changed[Ours] != 0 || r.Changed[Theirs] != want.changed || r.Outcome != want.outcome || r.Reworded != want.reworded {
			t.Errorf("row %d: changed %b, %v, reworded by %v, want %+v", i, r.Changed[Theirs], r.Outcome, r.Reworded, want)
		}
	}
}
