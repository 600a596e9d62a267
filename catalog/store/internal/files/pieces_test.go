package files

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func bigFile(entries int, edit map[int]string) []byte {
	var b bytes.Buffer
	for i := range entries {
		text := edit[i]
		fmt.Fprintf(&b, "#: a.c:%d\nmsgid \"source %d\"\nmsgstr \"target %d%s\"\n\n", i, i, i*i, text)
	}
	return b.Bytes()
}

// TestCutFile: pieces are within their bounds, make up the file, and an edit changes
// those around it only.
func TestCutFile(t *testing.T) {
	if Cut(make([]byte, wholeFile)) != nil {
		t.Error("a short file is cut")
	}
	if n, whole := pieceEnd(bytes.Repeat([]byte("x\n"), maxPiece/2)); n != maxPiece || !whole {
		t.Error("a piece that ends with the file splits a paragraph")
	}
	for name, data := range map[string][]byte{
		"entries":  bigFile(20_000, nil),
		"windows":  bytes.ReplaceAll(bigFile(20_000, nil), []byte("\n"), []byte("\r\n")),
		"one line": bytes.Repeat([]byte("x"), 3*wholeFile+1),
		"lines":    bytes.Repeat([]byte("x\n"), wholeFile),
		"blanks":   bytes.Repeat([]byte("\n"), wholeFile+1),
	} {
		p := Cut(data)
		if want := name != "entries" && name != "windows"; p.split != want {
			t.Errorf("%s: paragraphs are split: %t", name, p.split)
		}
		for i, f := range p.list {
			if f.size > maxPiece || f.size < minPiece && i < len(p.list)-1 {
				t.Errorf("%s: piece %d has %d bytes", name, i, f.size)
			}
		}
		if n := pieceBytes(p.list); n != len(data) {
			t.Errorf("%s: %d of %d bytes", name, n, len(data))
		}
	}
	for _, ends := range []string{"\n", "\r\n"} {
		ended := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte(ends)) }
		old, next := Cut(ended(bigFile(20_000, nil))), Cut(ended(bigFile(20_000, map[int]string{5000: "inserted", 15_000: "too"})))
		differs := 0
		for _, g := range alignPieces(old.list, next.list) {
			differs += g.to - g.from
		}
		if all := pieceBytes(next.list); differs == 0 || differs > all/4 {
			t.Errorf("%q: two edits change %d of %d bytes", ends, differs, all)
		}
	}
}

// TestAlignPieces: outside of the gaps both versions have the same pieces in a row.
func TestAlignPieces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string) (list []filePiece) {
			for _, n := range rapid.SliceOfN(rapid.IntRange(1, 6), 0, 12).Draw(rt, name) {
				list = append(list, filePiece{size: n, sum: [16]byte{byte(n)}})
			}
			return list
		}
		old, next := draw("old"), draw("next")
		i, offset, n := 0, 0, 0
		same := func(to, until int) {
			for ; i < to; i++ {
				if offset >= until || old[i] != next[n] {
					rt.Fatalf("piece %d of the old version is not piece %d of %v", i, n, next)
				}
				offset, n = offset+next[n].size, n+1
			}
			if offset != until {
				rt.Fatalf("at %d, want %d", offset, until)
			}
		}
		for _, g := range alignPieces(old, next) {
			same(g.oldFrom, g.from)
			for i = g.oldTo; offset < g.to; n++ {
				offset += next[n].size
			}
		}
		same(len(old), pieceBytes(next))
	})
}

// FuzzDecodePieces: damaged lists are errors, and what is decoded is encoded again.
func FuzzDecodePieces(f *testing.F) {
	f.Add(Cut(bigFile(9000, nil)).encode())
	f.Add([]byte{1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Decode(p.encode())
		if err != nil || !slices.Equal(again.list, p.list) || again.plain != p.plain || again.later != p.later {
			t.Errorf("%v, %v", again, err)
		}
	})
}
