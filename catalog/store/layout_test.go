package store

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
)

// Any layout is read back as stored, whole and in pages, whatever the order of
// layouts; an unchanged layout is not written again.
func TestLayoutProperty(t *testing.T) {
	db := openWith(t, "app")
	var id int64
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) (err error) {
		id, _, err = fill(ctx, tx, 1, "de", 1, nil)
		return err
	})
	rapid.Check(t, func(t *rapid.T) {
		placed := drawLayout(t)
		from, size := rapid.IntRange(0, len(placed)+10).Draw(t, "from"), rapid.IntRange(1, 600).Draw(t, "size")
		_, err := db.Step(context.Background(), info(1, 1, 1), func(ctx context.Context, tx *StepTx) error {
			if err := tx.PutLayout(ctx, id, placed); err != nil {
				return err
			}
			got, err := tx.Layout(ctx, id)
			if diff := cmp.Diff(placed, got); diff != "" {
				t.Errorf("layout (-want +got):\n%s", diff)
			}
			page, err2 := (&Snapshot{db: db, s: tx.s}).layoutPage(ctx, id, from, size)
			want := placed[min(from, len(placed)):min(from+size, len(placed))]
			if !slices.Equal(want, page) {
				t.Errorf("page %d+%d: %v, want %v", from, size, page, want)
			}
			if err != nil {
				return err
			}
			return err2
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func drawLayout(t *rapid.T) []catalog.UnitPosition {
	n := rapid.OneOf(rapid.IntRange(0, 5), rapid.IntRange(250, 520)).Draw(t, "n")
	files := rapid.SliceOfN(rapid.StringMatching(`[a-zé/]{0,12}`), 1, 4).Draw(t, "files")
	gap := rapid.Int64Range(1, 1<<30).Draw(t, "gap")
	turn := rapid.IntRange(0, 2*n+1).Draw(t, "turn")
	placed := make([]catalog.UnitPosition, n)
	for i := range placed {
		placed[i] = catalog.UnitPosition{ID: int64(i+1) * gap, Position: (i*7 + turn) % (n + 1), Location: fmt.Sprintf("%s:%d", files[(i/3)%len(files)], i*turn)}
	}
	return placed
}
