package recount

import (
	"context"
	"crypto/sha1" //nolint:gosec // what git calls blobs by
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store/internal/blocks"
	"github.com/repoglot/repoglot/catalog/store/internal/files"
	"github.com/repoglot/repoglot/catalog/store/internal/idset"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
	"github.com/repoglot/repoglot/catalog/store/internal/stored"
)

// maxNamed limits the reported strings of a translation: if all are wrong, some
// are enough.
const maxNamed = 10

// entryTexts returns what the entries of a component say about its strings: by
// unit, the fingerprint of the newest text, or absentText if it was removed.
func (v *verifier) entryTexts(ctx context.Context, component int64) map[int64]int64 {
	told := map[int64]int64{}
	v.query(ctx, `SELECT unit_id, action, state, target FROM changes WHERE delta_id >= $1 AND delta_id < $2 AND unit_id IS NOT NULL ORDER BY delta_id, n`,
		[]any{component * catalog.UnitsPerComponent, (component + 1) * catalog.UnitsPerComponent}, sqldb.Cols4(func(unit, action, state int64, target string) { // which may be damaged
			switch {
			case catalog.Action(action) == catalog.ActionStringRemove:
				told[unit] = absentText
			case !catalog.Action(action).Suggests():
				told[unit] = v.hash.Text(target, catalog.State(state))
			}
		}))
	return told
}

// absentText is the fingerprint of a removed string.
const absentText = 0

// texts verifies what was derived from the texts of units: words, characters,
// identities and fingerprints, which decide what is a change.
func (v *verifier) texts(ctx context.Context, t *scope) {
	named := 0
	compare := func(unit int64, what string, stored, counted int64) {
		if stored != counted && named < maxNamed {
			named++
			v.compare(t, fmt.Sprintf("%s of unit %d", what, unit), stored, counted)
		}
	}
	v.query(ctx, `SELECT u.id, u.source_id, u.id_hash, u.id_key, u.text_print, u.state, u.target, COALESCE(u.words, -1), COALESCE(u.chars, -1), COALESCE(u.source, ''), COALESCE(u.context, ''),
		COALESCE(s.translation_id, 0), COALESCE(s.id_hash, 0), COALESCE(s.id_key, 0), COALESCE(s.removed, 1), u.removed
		FROM units u LEFT JOIN units s ON s.id = u.source_id WHERE u.translation_id = $1`, []any{t.id}, func(scan sqldb.Scan) error {
		var id, sourceID, print, state, words, chars, of, removed, gone int64
		var own, theirs catalog.Identity
		var target, source, context string
		if err := scan(&id, &sourceID, &own.Hash, &own.Key, &print, &state, &target, &words, &chars, &source, &context, &of, &theirs.Hash, &theirs.Key, &removed, &gone); err != nil {
			return err
		}
		if gone != 0 {
			if told, ok := t.entryTexts[id]; ok {
				compare(id, "fingerprint in the newest change", told, absentText)
			}
			return nil
		}
		if id != sourceID {
			compare(id, "fingerprint", print, v.hash.Text(target, catalog.State(state)))
			if told, ok := t.entryTexts[id]; ok {
				compare(id, "fingerprint in the newest change", told, v.hash.Text(target, catalog.State(state)))
			}
			compare(id, "source translation", of, t.source)
			compare(id, "id_hash", own.Hash, theirs.Hash)
			compare(id, "key", own.Key, theirs.Key)
			compare(id, "removal of the source", removed, 0)
			if words >= 0 || chars >= 0 || source != "" || context != "" { // these are read from the source unit
				compare(id, "source of its own", 1, 0)
			}
			return nil
		}
		compare(id, "fingerprint", print, v.hash.Text("", catalog.State(state))) // target and source are the same
		compare(id, "fingerprint of the target", v.hash.Text(target, 0), v.hash.Text(source, 0))
		identity := v.hash.Identity(source, context)
		compare(id, "id_hash", own.Hash, identity.Hash)
		compare(id, "key", own.Key, identity.Key)
		compare(id, "num_words", words, countedWords(source, words))
		compare(id, "characters", chars, int64(catalog.CountChars(source)))
		return nil
	})
}

// countedWords counts the words of a source. It counts as for languages without
// spaces if that gives the stored number: the store does not know the language.
func countedWords(source string, stored int64) int64 {
	if n := int64(catalog.CountWords(source, true)); n == stored {
		return n
	}
	return int64(catalog.CountWords(source, false))
}

// layout verifies that the layout has all live units, each once and in order.
func (v *verifier) layout(ctx context.Context, t *scope) {
	var placed, live, extra []int64
	at := map[int64]int{}
	blocks, begins := int64(0), int64(0)
	v.query(ctx, `SELECT block, first_unit, data FROM layouts WHERE translation_id = $1 ORDER BY block`, []any{t.id}, func(scan sqldb.Scan) error {
		var number, first int64
		var data []byte
		if err := scan(&number, &first, &data); err != nil {
			return err
		}
		block, err := v.codec.Block(data)
		if err != nil {
			v.differ(t, fmt.Sprintf("block %d of the list", number), "damaged", "none")
			return nil
		}
		if number == blocks && len(block) > 0 && block[0].ID == first {
			begins++
		}
		blocks++
		for _, p := range block {
			placed = append(placed, p.ID)
			if t.id == t.source {
				at[p.ID] = p.Position
			}
		}
		return nil
	})
	v.compare(t, "blocks of the list that are found", begins, blocks)
	if t.id == t.source { // strings of other files follow those of the template
		v.fail(v.s.IDs(ctx, `SELECT x.source_id FROM extra_strings x JOIN units u ON u.id = x.source_id WHERE u.translation_id = $1`, []any{t.id}, &extra))
		v.compare(t, "strings of the template after those that it lacks", following(at, extra), 0)
	}
	v.fail(v.s.IDs(ctx, `SELECT id FROM units WHERE translation_id = $1 AND removed = 0 ORDER BY id`, []any{t.id}, &live))
	v.compare(t, "units in the list", int64(len(placed)), int64(len(live)))
	if len(placed) == len(live) && !slices.Equal(placed, live) {
		i := 0
		for placed[i] == live[i] {
			i++
		}
		v.compare(t, fmt.Sprintf("unit %d in the list", i+1), placed[i], live[i])
	}
}

// following counts the units that are after the first of some.
func following(at map[int64]int, some []int64) (n int64) {
	first := math.MaxInt
	for _, id := range some {
		first = min(first, at[id])
	}
	for _, position := range at {
		if position >= first {
			n++
		}
	}
	return n - int64(len(some))
}

// file verifies that the stored content has the blob id of the revision.
func (v *verifier) file(ctx context.Context, t *scope) {
	var revision string
	var owner int64
	var imported bool
	v.first(ctx, `SELECT t.revision, `+files.Owner+`, c.imported FROM translations t JOIN components c ON c.id = t.component_id WHERE t.id = $1`,
		[]any{t.id}, &revision, &owner, &imported)
	f, err := files.NewReader(v.s, v.codec).StoredUnder(ctx, owner)
	if errors.Is(err, catalog.ErrNotFound) {
		if imported { // otherwise File.Later
			v.differ(t, "file", "none", revision)
		}
		return
	}
	if err != nil {
		v.differ(t, "file", "damaged", revision)
		return
	}
	sum := sha1.New() //nolint:gosec // git's name of it
	fmt.Fprintf(sum, "blob %d\x00", len(f.Data))
	sum.Write(f.Data)
	counted := hex.EncodeToString(sum.Sum(nil))
	if f.Blob != counted {
		v.differ(t, "blob of the file", f.Blob, counted)
	}
	if revision != f.Blob {
		v.differ(t, "revision", revision, f.Blob)
	}
	v.filePieces(ctx, t, owner, f.Data)
}

// filePieces verifies that a file has the pieces that its bytes give.
func (v *verifier) filePieces(ctx context.Context, t *scope, owner int64, data []byte) {
	var list []byte
	if v.first(ctx, `SELECT pieces FROM files WHERE translation_id = $1`, []any{owner}, &list); list == nil {
		return
	}
	stored, err := files.Decode(list)
	if err != nil {
		v.fail(err) // just read
		return
	}
	if cut := files.Cut(data); cut == nil || !slices.Equal(cut.Sums(), stored.Sums()) {
		v.differ(t, "pieces of the file", "others", "those of its bytes")
	}
}

// day compares the newest day of the statistics over time with the current
// statistics, which have checks, suggestions and comments in addition.
func (v *verifier) day(ctx context.Context, t *scope) {
	var now catalog.Stats
	v.first(ctx, `SELECT `+stored.ColumnList(stored.FileCounts, "%s")+` FROM translations WHERE id = $1`, []any{t.id}, stored.ScanOf(stored.FileCounts, &now)...)
	var data sql.RawBytes
	v.query(ctx, `SELECT data FROM stat_days WHERE translation_id = $1 ORDER BY day DESC LIMIT 1`, []any{t.id}, func(scan sqldb.Scan) error {
		if err := scan(&data); err != nil {
			return err
		}
		day, err := stored.DecodeDay(data)
		if err != nil {
			v.differ(t, "newest day", "damaged", "none")
			return nil
		}
		if day.Removed != t.removed {
			v.differ(t, "removal on the newest day", strconv.FormatBool(day.Removed), strconv.FormatBool(t.removed))
		}
		if t.removed {
			return nil
		}
		was, is := stored.NumbersOf(stored.FileCounts, &day.Stats), stored.NumbersOf(stored.FileCounts, &now)
		for i, column := range stored.Columns(stored.FileCounts, "%s of the newest day") {
			v.compare(t, column, *was[i], *is[i])
		}
		return nil
	})
}

// against recounts how the translations of a component compare with its template, and
// verifies the strings that it lacks.
func (v *verifier) against(ctx context.Context, c *scope, source int64, translations []scope) {
	counted, err := rows.CountAgainst(ctx, v.s, c.id, catalog.Each(translations, func(t *scope) int64 { return t.id }))
	if err != nil {
		v.fail(err)
		return
	}
	for i := range translations {
		t := &translations[i]
		var stored catalog.Against
		v.first(ctx, `SELECT `+rows.AgainstColumns+` FROM translations t WHERE id = $1`, []any{t.id}, rows.AgainstOf(&stored)...)
		if stored != counted[t.id] {
			v.differ(t, "comparison with the template", fmt.Sprintf("%+v", stored), fmt.Sprintf("%+v", counted[t.id]))
		}
	}
	var template int64
	v.first(ctx, `SELECT COALESCE(MAX(template), 0) FROM translations WHERE id = $1`, []any{source}, &template)
	v.wantNoRows(ctx, c, "templates of translations", `SELECT COUNT(*) FROM translations WHERE component_id = $1 AND (template > 1 OR template <> 0 AND is_source = 0)`, c.id)
	v.query(ctx, `SELECT x.source_id, x.changed_to, COALESCE(u.translation_id, 0), COALESCE(u.removed, 1), COALESCE(u.source, ''), COALESCE(u.context, ''),
		COALESCE(o.translation_id, 0), COALESCE(o.removed, 1), COALESCE(o.source, ''), COALESCE(o.context, ''), COALESCE(y.source_id, 0)
		FROM extra_strings x LEFT JOIN units u ON u.id = x.source_id LEFT JOIN units o ON o.id = x.changed_to LEFT JOIN extra_strings y ON y.source_id = x.changed_to
		WHERE x.source_id >= $1 AND x.source_id < $2`, []any{c.id * catalog.UnitsPerComponent, (c.id + 1) * catalog.UnitsPerComponent}, func(scan sqldb.Scan) error {
		var id, to, of, removed, ofTo, removedTo, extraTo int64
		var text, context, textTo, contextTo string
		err := scan(&id, &to, &of, &removed, &text, &context, &ofTo, &removedTo, &textTo, &contextTo, &extraTo)
		if of != source || removed != 0 || template == 0 {
			v.differ(c, fmt.Sprintf("string %d that the template lacks", id), "stored", "none")
		}
		if to != 0 && (ofTo != source || removedTo != 0 || extraTo != 0 || context != contextTo || text == textTo || catalog.FirstForm(text) != catalog.FirstForm(textTo)) {
			v.differ(c, fmt.Sprintf("string of the template that string %d became", id), fmt.Sprint(to), "another")
		}
		return err
	})
}

// blocks compares the blocks that searches read with the rows of their units. One that is
// missing is no mistake.
func (v *verifier) blocks(ctx context.Context, c *scope) {
	first := blocks.Number(c.id * catalog.UnitsPerComponent)
	last := blocks.Number((c.id+1)*catalog.UnitsPerComponent - 1)
	for _, of := range []blocks.Kind{blocks.Place, blocks.Checks} {
		var keys []int64
		v.fail(v.s.IDs(ctx, `SELECT id FROM search_blocks WHERE id BETWEEN $1 AND $2 ORDER BY id`, []any{blocks.Key(of, first), blocks.Key(of, last)}, &keys))
		for _, key := range keys {
			block := key - blocks.Key(of, 0)
			counted, err := blocks.Read(ctx, v.s, &v.fold, of, block)
			v.fail(err)
			var stored blocks.Columns
			v.fail(v.s.QueryIn(ctx, blocks.Stored, nil, blocks.Keys(of, block), sqldb.Cols2(func(key int64, data []byte) {
				stored[key>>blocks.KindBits] = data
			})))
			for kind := range stored {
				if !blocks.Equal(blocks.Kind(kind), stored[kind], counted[kind]) {
					v.compare(c, fmt.Sprintf("column %d of the block of searches from unit %d on, sum", kind, block*idset.BlockUnits),
						catalog.Sum(string(stored[kind])), catalog.Sum(string(counted[kind])))
				}
			}
		}
	}
	for kind := blocks.Grams; kind < blocks.Kinds; kind++ {
		v.wantNoRows(ctx, c, "columns of no block of searches", `SELECT COUNT(*) FROM search_blocks b WHERE b.id BETWEEN $1 AND $2
			AND NOT EXISTS (SELECT 1 FROM search_blocks p WHERE p.id = b.id - $3)`, blocks.Key(kind, first), blocks.Key(kind, last), blocks.Key(kind, 0))
	}
}
