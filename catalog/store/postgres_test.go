package store

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"
	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// TestNumeric: sums of BIGINT are decoded exactly, or refused.
func TestNumeric(t *testing.T) {
	for _, c := range []struct {
		data string // digits, weight, sign, scale, digits to the base of 10,000
		want int64
		bad  bool
	}{
		{"\x00\x00\x00\x00\x00\x00\x00\x00", 0, false},
		{"\x00\x01\x00\x00\x00\x00\x00\x00\x00\x07", 7, false},
		{"\x00\x01\x00\x01\x40\x00\x00\x00\x00\x02", -20_000, false},
		{"\x00\x05\x00\x04\x00\x00\x00\x00\x03\x9a\x0d\x2c\x01\x70\x15\x65\x16\xaf", math.MaxInt64, false},
		{"\x00\x05\x00\x04\x00\x00\x00\x00\x03\x9a\x0d\x2c\x01\x70\x15\x65\x16\xb0", 0, true},
		{"\x00\x01\xff\xff\x00\x00\x00\x01\x13\x88", 0, true}, // 0.5
		{"\x00\x00\x00\x00\xc0\x00\x00\x00", 0, true},         // NaN
		{"\x00\x02\x00\x01\x00\x00\x00\x00\x00\x07", 0, true}, // cut off
	} {
		got, err := sqldb.Decoded(pgtype.NewMap(), pgtype.NumericOID, []byte(c.data))
		if !c.bad && got != c.want || (err != nil) != c.bad {
			t.Errorf("%x: %d, %v; want %d", c.data, got, err, c.want)
		}
	}
}

// TestStorable: every text comes back, also with the code points that take the place of
// NUL; only invalid UTF-8 does not.
func TestStorable(t *testing.T) {
	if got := sqldb.Stored([]byte(sqldb.Storable("a\xffb"))); got != "a\uFFFDb" {
		t.Errorf("invalid UTF-8 comes back as %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune{0, 'a', 'ž', 0x10FFFD, 0x10FFFE, 0x10FFFF})).Draw(t, "text")
		kept := sqldb.Storable(text)
		if strings.IndexByte(kept, 0) >= 0 || !utf8.ValidString(kept) {
			t.Errorf("%q is stored as %q", text, kept)
		}
		if got := sqldb.Stored([]byte(kept)); got != text {
			t.Errorf("%q is stored as %q and comes back as %q", text, kept, got)
		}
	})
}

// TestSeveralWriters: two processes that write steps of different projects give
// change ids that are dense in every snapshot.
func TestSeveralWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	handles := []*DB{openAt(t, path), openAt(t, path)}
	specs := []ComponentSpec{spec("one", "app"), spec("two", "app")}
	if err := handles[0].Configure(t.Context(), projectsNamed("one", "two"), specs, nil); err != nil {
		t.Fatal(err)
	}
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for i, db := range handles {
		writers.Go(func() { writeOwnSteps(t, db, int64(i+1), 15) })
	}
	readers.Go(func() {
		for {
			read(t, handles[0], func(ctx context.Context, s *Snapshot) error {
				var last, written int64
				_, err := s.s.First(ctx, `SELECT last_change, (SELECT COALESCE(SUM(n), 0) FROM deltas) FROM clock`, nil, &last, &written)
				if err == nil && last != written {
					err = fmt.Errorf("the newest change is %d, there are %d", last, written)
				}
				return err
			})
			select {
			case <-done:
				return
			default:
			}
		}
	})
	writers.Wait()
	close(done)
	readers.Wait()
	read(t, handles[1], func(ctx context.Context, s *Snapshot) error {
		list, err := s.Components(ctx, "one")
		if err == nil && (len(list) != 1 || list[0].Changes != 45) {
			err = fmt.Errorf("project one has %+v", list)
		}
		return err
	})
}

// writeOwnSteps writes n steps of a component with three changes each.
func writeOwnSteps(t *testing.T, db *DB, component int64, n int) {
	var translation int64
	for i := range n {
		_, err := db.Step(t.Context(), info(i, i+1, component), func(ctx context.Context, tx *StepTx) (err error) {
			if i == 0 {
				if translation, _, err = fill(ctx, tx, component, "en", 3, nil); err != nil {
					return err
				}
			}
			var entries []Entry
			for unit := range int64(3) {
				entries = append(entries, Entry{Action: catalog.ActionStringRepoUpdate, UnitID: component<<28 + unit + 1, Target: fmt.Sprint(i)})
			}
			return tx.AddDelta(ctx, Delta{ComponentID: component, TranslationID: translation, Entries: entries})
		})
		if err != nil {
			t.Error(err)
			return
		}
	}
}
