package kept

import (
	"testing"

	"pgregory.net/rapid"
)

// TestBounded: values that do not fit are read again, older ones do not replace newer
// ones, and nothing is kept of the generation 0.
func TestBounded(t *testing.T) {
	t.Parallel()
	k := New[int, string](10)
	for key := range 4 {
		k.Put(key, 1, "old", 5)
		if _, ok := k.Get(key, 1); !ok || k.size > 10 || k.size != 5*len(k.byKey) {
			t.Errorf("%d: %d values have the size %d", key, len(k.byKey), k.size)
		}
	}
	k.Put(3, 2, "new", 6)
	k.Put(3, 1, "old", 1)
	k.Put(3, 3, "large", 11)
	if value, ok := k.Get(3, 2); !ok || value != "new" || k.Newest(3) != "new" {
		t.Errorf("%q is kept, %v, of %v", value, ok, k.byKey)
	}
	if _, ok := k.Get(3, 1); ok {
		t.Error("a value of another generation")
	}
	k.Put(5, 0, "nothing", 1)
	if _, ok := k.Get(5, 0); ok {
		t.Error("a value of the generation 0")
	}
}

// TestBoundedProperty: whatever is kept, its sizes fit, and are what is accounted for.
func TestBoundedProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := New[int, int](rapid.SampledFrom([]int{0, 7, 100}).Draw(t, "room"))
		for range rapid.IntRange(1, 40).Draw(t, "puts") {
			key, generation := rapid.IntRange(1, 5).Draw(t, "key"), rapid.Int64Range(1, 5).Draw(t, "generation")
			k.Put(key, generation, key, rapid.IntRange(1, 9).Draw(t, "size"))
			sum := 0
			for _, v := range k.byKey {
				sum += v.size
			}
			if sum != k.size || k.size > k.room {
				t.Fatalf("%d are kept, accounted for %d, room for %d", sum, k.size, k.room)
			}
		}
	})
}
