package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

func bigFile(entries int, edit map[int]string) []byte {
	var b bytes.Buffer
	for i := range entries {
		text := edit[i]
		fmt.Fprintf(&b, "#: a.c:%d\nmsgid \"source %d\"\nmsgstr \"target %d%s\"\n\n", i, i, i*i, text)
	}
	return b.Bytes()
}

// TestFilePieces: files that are stored in pieces are read as they were, an edit writes
// few pieces, and no piece is left when no file has it.
func TestFilePieces(t *testing.T) {
	db := openWith(t, "app")
	var id int64
	step(t, db, info(0, 1, 1), func(ctx context.Context, tx *StepTx) (err error) {
		id, _, err = fill(ctx, tx, 1, "de", 1, nil)
		return err
	})
	put := func(blob string, data []byte) (read File, pieces int) {
		t.Helper()
		step(t, db, info(1, 1, 1), func(ctx context.Context, tx *StepTx) error {
			err := tx.PutFile(ctx, File{TranslationID: id, Blob: blob, Data: data})
			if err == nil {
				read, err = tx.File(ctx, id)
			}
			if err == nil {
				_, err = tx.s.First(ctx, `SELECT COUNT(*) FROM file_pieces`, nil, &pieces)
			}
			return err
		})
		return read, pieces
	}
	for i, data := range [][]byte{
		bigFile(20_000, nil), bigFile(20_000, map[int]string{700: "x"}), bigFile(3, nil), bigFile(20_000, map[int]string{0: "y"}),
		slices.Concat(bigFile(9000, nil), bigFile(9000, nil)), bigFile(20_000, nil),
	} {
		read, pieces := put(strings.Repeat(fmt.Sprint(i), 40), data)
		if !bytes.Equal(read.Data, data) {
			t.Fatalf("file %d is read as %d bytes of %d", i, len(read.Data), len(data))
		}
		distinct := map[[16]byte]bool{}
		if p := CutFile(data); p != nil {
			for _, sum := range p.Sums() {
				distinct[sum] = true
			}
		}
		if pieces != len(distinct) {
			t.Errorf("file %d: %d pieces are stored, want %d", i, pieces, len(distinct))
		}
	}
}

// TestFileDifferences: what differs is whole paragraphs of both versions, and nothing may
// be read alone of a file with paragraphs that are longer than a piece.
func TestFileDifferences(t *testing.T) {
	db := openWith(t, "app")
	long := func(text string) []byte {
		return fmt.Appendf(nil, "msgid \"long\"\nmsgstr \"\"\n%s\"%s\"\n\n", strings.Repeat("\"more of it\"\n", (128<<10)/10), text)
	}
	usual := func(text string) []byte { return bigFile(20_000, map[int]string{9000: text, 12_000: text}) }
	for i, c := range []struct {
		old, next []byte
		plain     bool
		found     bool
	}{
		{usual("before"), usual("after"), true, true},
		{usual("before"), usual("after"), false, false},
		{slices.Concat(usual("before"), long("")), slices.Concat(usual("after"), long("")), true, false},
		{usual("before"), slices.Concat(usual("before"), long("")), true, false},
		{slices.Concat(usual("before"), long("")), usual("before"), true, false},
	} {
		code := fmt.Sprintf("l%d", i)
		step(t, db, info(min(i, 1), 1, 1), func(ctx context.Context, tx *StepTx) error {
			id, _, err := fill(ctx, tx, 1, code, 0, []FingerprintedUnit{})
			if err != nil {
				return err
			}
			return tx.PutFile(ctx, File{TranslationID: id, Blob: head(len(code)), Data: c.old, Plain: c.plain})
		})
		var list []FileDifference
		var found bool
		err := db.Read(t.Context(), func(ctx context.Context, s *Snapshot) (err error) {
			list, found, err = s.FileDifferences(ctx, 1, "po/"+code+".po", head(len(code)), CutFile(c.next))
			return err
		})
		if err != nil || found != c.found || len(list) > 0 != found {
			t.Fatalf("case %d: %d differences, found %t, %v", i, len(list), found, err)
		}
		for _, d := range list {
			for _, text := range [][]byte{d.Old, c.next[d.From:d.To]} {
				if !bytes.HasPrefix(text, []byte("#: a.c:")) || !bytes.HasSuffix(text, []byte("\"\n\n")) {
					t.Errorf("case %d: a difference from %q to %q", i, text[:20], text[len(text)-20:])
				}
			}
		}
	}
}

// TestLaterFiles: a file whose bytes follow is none until they are stored.
func TestLaterFiles(t *testing.T) {
	db := openWith(t, "app")
	modified := time.Unix(1_600_000_000, 0).UTC()
	for i, data := range [][]byte{bigFile(20_000, nil), bigFile(3, nil)} {
		var id int64
		step(t, db, info(min(i, 1), 1, 1), func(ctx context.Context, tx *StepTx) (err error) {
			if id, _, err = fill(ctx, tx, 1, []string{"de", "fr"}[i], 1, nil); err != nil {
				return err
			}
			return tx.PutFile(ctx, File{TranslationID: id, Blob: strings.Repeat("a", 40), Modified: modified, Plain: true, Later: true})
		})
		err := db.Read(t.Context(), func(ctx context.Context, s *Snapshot) error {
			if f, err := s.File(ctx, id); !errors.Is(err, catalog.ErrNotFound) || !f.Later || f.Blob != strings.Repeat("a", 40) {
				t.Errorf("file %d: %+v, %v", i, f, err)
			}
			stored, err := s.StoredFiles(ctx, []int64{id})
			if len(stored) > 0 {
				t.Errorf("file %d: is listed as stored", i)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		step(t, db, info(1, 1, 1), func(ctx context.Context, tx *StepTx) error {
			files, err := tx.LaterFiles(ctx, 1)
			want := []File{{TranslationID: id, Blob: strings.Repeat("a", 40), Modified: modified, Plain: true}}
			if err != nil || !reflect.DeepEqual(files, want) {
				t.Errorf("file %d: %+v follow, want %+v; %v", i, files, want, err)
			}
			files[0].Data = data
			if err := tx.PutFile(ctx, files[0]); err != nil {
				return err
			}
			if files, err = tx.LaterFiles(ctx, 1); len(files) > 0 || err != nil {
				t.Errorf("file %d: %+v still follow; %v", i, files, err)
			}
			f, err := tx.File(ctx, id)
			if !bytes.Equal(f.Data, data) || !f.Modified.Equal(modified) {
				t.Errorf("file %d is not what was stored", i)
			}
			return err
		})
	}
}
