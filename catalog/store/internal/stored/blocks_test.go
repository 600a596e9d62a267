package stored

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
)

func FuzzDecodeBlock(f *testing.F) {
	f.Add(EncodeBlock(nil))
	f.Add(EncodeBlock([]catalog.UnitPosition{{ID: 1 << 40, Position: 3, Location: "a.c:1"}, {ID: 1<<40 + 1, Position: 1, Location: "a.c:12"}}))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Add([]byte{1, 2, 2, 255, 255, 255, 255, 15, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		placed, err := decodeRange(data, 0, BlockUnits)
		if err != nil {
			return
		}
		again, err := decodeRange(EncodeBlock(placed), 0, BlockUnits)
		if diff := cmp.Diff(placed, again); diff != "" || err != nil {
			t.Errorf("%v (-first +second):\n%s", err, diff)
		}
	})
}
