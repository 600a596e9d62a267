package stored

import (
	"encoding/hex"
	"reflect"
	"slices"
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

// TestStatCounts: each count of catalog.Stats is in Counts once, its numbers are stored
// and read again, and Add and Subtract have it.
func TestStatCounts(t *testing.T) {
	t.Parallel()
	counts := 0
	for i := range reflect.TypeFor[catalog.Stats]().NumField() {
		field := reflect.TypeFor[catalog.Stats]().Field(i)
		if field.Type != reflect.TypeFor[catalog.Count]() {
			continue
		}
		counts++
		var s catalog.Stats
		reflect.ValueOf(&s).Elem().Field(i).Set(reflect.ValueOf(catalog.Count{Units: 3, Words: 4, Chars: 5}))
		d, err := DecodeDay(EncodeDay(&Day{Stats: s}))
		if err != nil || d.Stats != s {
			t.Errorf("%s is stored as %+v, %v: it is not in Counts", field.Name, d.Stats, err)
		}
		sum := s
		sum.Add(s)
		if sum == s {
			t.Errorf("Stats.Add forgets %s", field.Name)
		}
		if sum.Subtract(s); sum != s {
			t.Errorf("Stats.Subtract forgets %s", field.Name)
		}
	}
	if counts != len(Counts) {
		t.Errorf("%d counts, %d in Counts", counts, len(Counts))
	}
}

// TestBlobVersions: a blob of a form that is not known is refused, not read as another.
func TestBlobVersions(t *testing.T) {
	t.Parallel()
	codec, err := NewCodec()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		blob []byte
		read func(blob []byte) error
	}{
		"stat_days":      {EncodeDay(&Day{}), func(b []byte) error { _, err := DecodeDay(b); return err }},
		"removed":        {EncodeDay(&Day{Removed: true}), func(b []byte) error { _, err := DecodeDay(b); return err }},
		"layouts":        {codec.DeflateBlock(EncodeBlock(nil)), func(b []byte) error { _, err := codec.Block(b); return err }},
		"ids of layouts": {codec.DeflateBlock(EncodeBlock(nil)), func(b []byte) error { return codec.EachID(b, func(int64) {}) }},
	} {
		if err := c.read(c.blob); err != nil || c.blob[0] != Version {
			t.Errorf("%s: %v, version %d", name, err, c.blob[0])
		}
		c.blob[0]++
		if c.read(c.blob) == nil || c.read(nil) == nil {
			t.Errorf("%s: a blob of another version was read", name)
		}
	}
}

// TestForm1: blobs that a released version wrote are read for ever. When it fails since
// there is another count, form 2 is due: write Version 2, and read both.
func TestForm1(t *testing.T) {
	t.Parallel()
	bytesOf := func(digits string) []byte {
		data, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	want := catalog.Stats{
		Total: catalog.Count{Units: 0, Words: 100, Chars: 200}, Translated: catalog.Count{Units: 300, Words: 400, Chars: 500},
		Fuzzy: catalog.Count{Units: 600, Words: 700, Chars: 800}, ReadOnly: catalog.Count{Units: 900, Words: 1000, Chars: 1100},
		Failing: catalog.Count{Units: 1200, Words: 1300, Chars: 1400},
	}
	if d, err := DecodeDay(bytesOf("0100c8019003d804a006e807b009f80ac00c880ed00f9811e012a814f015")); err != nil || d.Stats != want {
		t.Errorf("a day is %+v, %v", d.Stats, err)
	}
	codec, err := NewCodec()
	if err != nil {
		t.Fatal(err)
	}
	placed, err := codec.Block(bytesOf("0128b52ffd0400810000020e020005612e633a3104020402323280f03b37"))
	if err != nil || !slices.Equal(placed, []catalog.UnitPosition{{ID: 7, Position: 1, Location: "a.c:1"}, {ID: 9, Position: 2, Location: "a.c:22"}}) {
		t.Errorf("a layout is %+v, %v", placed, err)
	}
}
