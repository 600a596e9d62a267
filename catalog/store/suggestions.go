package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/store/internal/rows"
	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// Suggestion is a text that another branch has for a unit.
type Suggestion struct {
	// TranslationID and Identity name the unit, for PutSuggestions.
	TranslationID int64
	Identity      catalog.Identity
	// Branch is the branch that has the text; "" for a text of the journal. EditID is
	// then the id of its row there.
	Branch string
	EditID int64
	// Stranger is Edit.Stranger.
	Stranger int64
	// Target is the text, forms joined; never empty.
	Target string
	// AuthorName and AuthorEmail are the author of the commit that brought the
	// text to the branch. The address is not stored: it is "" in answers.
	AuthorName, AuthorEmail string
	// Username is the author's API name; "" if the author has no entry. UserID is
	// then 0. Only answers have both.
	Username string
	UserID   int64
	// At is the committer time of that commit; zero if unknown.
	At time.Time
	// Commit is the id of that commit, 40 hexadecimal digits.
	Commit string
}

// suggestionKey and suggestionRow are a row of the table.
type suggestionKey struct {
	unit   int64
	branch string
}

type suggestionRow struct {
	translation             int64
	target, name, key, hash string
	at                      sql.NullInt64
}

// storedSuggestions returns the suggestions of a component that are of a branch; the
// others are of people (StepTx.Suggest, StepTx.EndEdit).
func storedSuggestions(ctx context.Context, s *sqldb.Session, component int64) (map[suggestionKey]suggestionRow, error) {
	rows := map[suggestionKey]suggestionRow{}
	err := s.Query(ctx, `SELECT unit_id, branch, translation_id, target, author_name, author_key, commit_hash, at FROM suggestions WHERE unit_id >= $1 AND unit_id < $2`+ofBranches,
		[]any{component * catalog.UnitsPerComponent, (component + 1) * catalog.UnitsPerComponent}, func(scan sqldb.Scan) error {
			var k suggestionKey
			var r suggestionRow
			err := scan(&k.unit, &k.branch, &r.translation, &r.target, &r.name, &r.key, &r.hash, &r.at)
			rows[k] = r
			return err
		})
	return rows, err
}

// wantedSuggestions returns the rows of a list. It leaves out suggestions for
// units that do not exist, are read-only, or have the same text.
func wantedSuggestions(ctx context.Context, s *sqldb.Session, list []Suggestion) (map[suggestionKey]suggestionRow, error) {
	rows := make(map[suggestionKey]suggestionRow, len(list))
	for i := range list {
		n := &list[i]
		var unit int64
		found, err := s.First(ctx, `SELECT u.id`+fromStrings+` AND s.id_hash = $2 AND s.id_key = $3 AND u.removed = 0 AND u.state <> $4 AND u.target <> $5`,
			[]any{n.TranslationID, n.Identity.Hash, n.Identity.Key, int64(catalog.StateReadOnly), n.Target}, &unit)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		r := suggestionRow{translation: n.TranslationID, target: n.Target, name: n.AuthorName, key: authorKey(n.AuthorName, n.AuthorEmail), hash: n.Commit}
		if at, ok := sqldb.Micros(n.At).(int64); ok {
			r.at = sql.NullInt64{Int64: at, Valid: true}
		}
		rows[suggestionKey{unit, n.Branch}] = r
	}
	return rows, nil
}

// SameSuggestions reports whether PutSuggestions would change nothing.
func (s *Snapshot) SameSuggestions(ctx context.Context, component int64, list []Suggestion) (bool, error) {
	add, remove, err := suggestionChanges(ctx, s.s, component, list)
	return len(add)+len(remove) == 0, s.s.Fail(ctx, fmt.Sprintf("read the suggestions of component %d", component), err)
}

func suggestionChanges(ctx context.Context, s *sqldb.Session, component int64, list []Suggestion) (add, remove map[suggestionKey]suggestionRow, err error) {
	if remove, err = storedSuggestions(ctx, s, component); err == nil {
		add, err = wantedSuggestions(ctx, s, list)
	}
	for k, r := range add {
		if old, ok := remove[k]; ok && old == r {
			delete(add, k)
			delete(remove, k)
		}
	}
	return add, remove, err
}

// PutSuggestions makes list the suggestions of a component, at most one per unit
// and branch. It leaves out suggestions for strings that the translation does not have,
// that are read-only, or that have the same text.
func (tx *StepTx) PutSuggestions(ctx context.Context, component int64, list []Suggestion) (err error) {
	defer tx.s.Failed(ctx, &err, "store the suggestions of component %d", component)
	if _, err := tx.member(component); err != nil {
		return err
	}
	add, remove, err := suggestionChanges(ctx, tx.s, component, list)
	if err != nil {
		return err
	}
	for k, r := range remove {
		if err := cmp.Or(tx.s.Do(ctx, `DELETE FROM suggestions WHERE unit_id = $1 AND branch = $2`, k.unit, k.branch), tx.markChanged(ctx, r.translation)); err != nil {
			return err
		}
	}
	in := sqldb.NewInserter("suggestions", "unit_id", "branch", "translation_id", "target", "author_name", "author_key", "at", "commit_hash")
	for k, r := range add {
		_ = in.Add(ctx, tx.s, k.unit, k.branch, r.translation, r.target, r.name, r.key, sqldb.Nullable(r.at), r.hash)
		if err := tx.markChanged(ctx, r.translation); err != nil {
			return err
		}
	}
	return in.Flush(ctx, tx.s)
}

// refreshSuggestions deletes suggestions that became void by what the step wrote,
// such as merged ones, and counts the rest. Those of people wait for strings that are
// away, and end in the journal too. Without suggestions it costs one index
// lookup per translation.
func (tx *StepTx) refreshSuggestions(ctx context.Context) error {
	if tx.info.Partial {
		return nil // until the end of a first import there are no suggestions
	}
	for _, id := range sqldb.SortedKeys(tx.dirty) {
		var void []int64 // in the journal
		err := tx.s.IDs(ctx, `DELETE FROM suggestions WHERE translation_id = $1 AND NOT EXISTS (
			SELECT 1 FROM units u JOIN translations t ON t.id = u.translation_id
			WHERE u.id = suggestions.unit_id AND (u.removed = 0 AND t.removed = 0 AND u.target <> suggestions.target AND u.state <> $2
				OR (u.removed = 1 OR t.removed = 1) AND substr(suggestions.branch, 1, 1) = ':')) RETURNING `+editOf,
			[]any{id, int64(catalog.StateReadOnly)}, &void)
		if err == nil {
			err = tx.endSuggested(ctx, void)
		}
		if err != nil {
			return err
		}
		n, err := rows.SuggestionCount(ctx, tx.s, id)
		if err != nil {
			return err
		}
		if err := tx.s.Do(ctx, `UPDATE translations SET suggestions = $1 WHERE id = $2 AND suggestions <> $1`, n, id); err != nil {
			return err
		}
	}
	return nil
}

// The statement of fillSuggestions; the part about edits finds pending ones only, by a
// partial index (edits_pending).
const (
	suggestedUnits = `SELECT unit_id, 1 FROM suggestions WHERE unit_id `
	editedUnits    = ` UNION ALL SELECT unit_id, 2 FROM edits WHERE status = 'pending' AND unit_id `
)

// fillSuggestions sets HasSuggestion and Pending of the units of an answer. The
// suggestions and edits of a page are read as a range of ids: few units have any.
func (s *Snapshot) fillSuggestions(ctx context.Context, units []catalog.Unit) (err error) {
	if len(units) == 0 {
		return nil
	}
	lo, hi := units[0].ID, units[0].ID
	ids := make([]int64, len(units))
	for i := range units {
		ids[i] = units[i].ID
		lo, hi = min(lo, ids[i]), max(hi, ids[i])
	}
	found := map[int64]int{} // 1: a suggestion, 2: a pending edit
	take := sqldb.Cols2(func(id int64, kind int) { found[id] |= kind })
	if hi-lo < gaps*int64(len(units)) {
		err = s.s.Query(ctx, suggestedUnits+`BETWEEN $1 AND $2`+editedUnits+`BETWEEN $1 AND $2`, []any{lo, hi}, take)
	} else {
		err = s.s.QueryIn(ctx, suggestedUnits+`IN $ids`+editedUnits+`IN $ids`, nil, ids, take)
	}
	for i := range units {
		units[i].HasSuggestion, units[i].Pending = found[units[i].ID]&1 != 0, found[units[i].ID]&2 != 0
	}
	return err
}

// editOf is the id of the edit that a row of suggestions is of, 0 for one of a branch.
const editOf = `CASE WHEN substr(branch, 1, 1) = ':' THEN CAST(substr(branch, 2) AS BIGINT) ELSE 0 END`

// Suggestions returns the suggestions of a unit, by branch; those of people first, by id.
func (s *Snapshot) Suggestions(ctx context.Context, unitID int64) ([]Suggestion, error) {
	out, err := sqldb.Rows(ctx, s.s, `SELECT n.branch, n.translation_id, n.target, n.author_name, n.at, n.commit_hash, COALESCE(a.username, ''), COALESCE(a.id, 0), COALESCE(e.stranger, 0)
		FROM suggestions n LEFT JOIN users a ON a.email_hash = n.author_key LEFT JOIN edits e ON e.id = `+editOf+` WHERE n.unit_id = $1 ORDER BY n.branch`, []any{unitID}, func(n *Suggestion) []any {
		return []any{&n.Branch, &n.TranslationID, &n.Target, &n.AuthorName, &n.At, &n.Commit, &n.Username, &n.UserID, &n.Stranger}
	})
	for i := range out {
		out[i].setOrigin(out[i].Branch)
	}
	slices.SortStableFunc(out, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(a.Branch, b.Branch), cmp.Compare(a.EditID, b.EditID))
	})
	return out, s.s.Fail(ctx, fmt.Sprintf("read the suggestions of unit %d", unitID), err)
}

// withSuggestions finds the strings of a translation that have suggestions; if match is not nil,
// only those with matching ones that are not hidden. With missing it finds source units of
// strings that the file lacks.
func withSuggestions(ctx context.Context, s *sqldb.Session, translation int64, missing bool, match func(string) bool, found func(id int64)) error {
	return s.Query(ctx, `SELECT CASE WHEN u.removed = 0 THEN u.id ELSE u.source_id END, n.target FROM suggestions n JOIN units u ON u.id = n.unit_id
		WHERE n.translation_id = $1 AND u.removed = $2 AND ($3 = 0 OR NOT EXISTS (SELECT 1 FROM edits e
			WHERE e.id = `+editOf+` AND e.stranger > 0))`, []any{translation, sqldb.Smallint(missing), sqldb.Smallint(match != nil)}, sqldb.Cols2(func(id int64, text string) {
		if match == nil || match(text) {
			found(id)
		}
	}))
}

// Suggestions of people have a row in the journal, like edits, and one beside those of
// branches. In place of a branch that has a colon, with which no branch's name begins, and
// the id of the journal's row.
const ofBranches = ` AND branch <> '' AND substr(branch, 1, 1) <> ':'`

func suggestedAs(edit int64) string { return ":" + strconv.FormatInt(edit, 10) }

// setOrigin sets Branch or EditID by what is stored.
func (n *Suggestion) setOrigin(stored string) {
	n.Branch = stored
	if id, ok := strings.CutPrefix(stored, ":"); ok {
		n.Branch = ""
		n.EditID, _ = strconv.ParseInt(id, 10, 64)
	}
}

// Suggest makes a text a suggestion for a unit and returns the id of its row in the
// journal.
func (tx *StepTx) Suggest(ctx context.Context, u *catalog.Unit, text edit.Text, by edit.Author) (id int64, err error) {
	e := TextOf(u)
	if e.Ours = text; by.Stranger {
		e.Stranger = by.Person
	}
	err = cmp.Or(tx.markChanged(ctx, u.TranslationID), tx.addEdit(ctx, &e, EditSuggested, "suggested", by), tx.putSuggested(ctx, &e, by))
	return e.ID, tx.fail(ctx, fmt.Sprintf("store a suggestion for unit %d", u.ID), err)
}

// Suggested returns the suggestions of people for a unit with the last author of each.
func (tx *StepTx) Suggested(ctx context.Context, unit int64) ([]Edit, error) {
	list, err := editsWhere(ctx, tx.s, ` WHERE e.id IN (
		SELECT CAST(substr(n.branch, 2) AS BIGINT) FROM suggestions n WHERE n.unit_id = $1 AND substr(n.branch, 1, 1) = ':') ORDER BY e.id`, unit)
	for i := range list {
		var by edit.Author
		if err == nil {
			by, err = tx.lastAuthor(ctx, list[i].ID)
		}
		list[i].Authors = []edit.Author{by}
	}
	return list, tx.fail(ctx, fmt.Sprintf("read the suggestions for unit %d", unit), err)
}

// EndSuggestion takes a suggestion of somebody away: event says whether it was accepted or
// rejected, why in a word of by, who did that.
func (tx *StepTx) EndSuggestion(ctx context.Context, e *Edit, event, why, by string, at time.Time) error {
	if e.Status, e.Reason = EditDiscarded, event; why != "" {
		e.Reason += ": " + why
	}
	err := cmp.Or(tx.markChanged(ctx, e.TranslationID),
		tx.s.Do(ctx, `UPDATE edits SET status = $1, reason = $2, updated_at = $3 WHERE id = $4`, string(e.Status), e.Reason, at.UnixMicro(), e.ID),
		tx.noteEdit(ctx, e, edit.Author{Name: by}, event, at),
		tx.s.Do(ctx, `DELETE FROM suggestions WHERE unit_id = $1 AND branch = $2`, e.UnitID, suggestedAs(e.ID)))
	return tx.fail(ctx, fmt.Sprintf("end the suggestion %d", e.ID), err)
}

// What accounts may suggest within a day, and what may wait in a project of one account
// without a role there, and of all of them together.
const (
	maxDaySuggestions      = 500
	maxStrangerSuggestions = 200
	maxProjectSuggestions  = 5000
)

// SuggestionRoom returns how many suggestions more of somebody a component takes now, and the
// *edit.BoundError for more. Only what accounts suggest is bounded.
func (tx *StepTx) SuggestionRoom(ctx context.Context, component int64, by edit.Author) (room int, more error, err error) {
	if by.Person <= 0 {
		return math.MaxInt, nil, nil
	}
	var day, own, all int
	var first time.Time
	_, err = tx.s.First(ctx, `SELECT COUNT(*), COALESCE(MIN(at), 0) FROM edit_events WHERE person = $1 AND person <> 0 AND event = 'suggested' AND at > $2`,
		[]any{by.Person, by.Time.AddDate(0, 0, -1).UnixMicro()}, &day, &first)
	if err == nil && by.Stranger {
		_, err = tx.s.First(ctx, `SELECT COUNT(*), COALESCE(SUM(CASE WHEN stranger = $2 THEN 1 ELSE 0 END), 0) FROM edits WHERE stranger > 0 AND status = 'suggested'
			AND component_id IN (SELECT id FROM components WHERE project_id = (SELECT project_id FROM components WHERE id = $1))`, []any{component, by.Person}, &all, &own)
	}
	if room = maxDaySuggestions - day; by.Stranger {
		room = min(room, maxStrangerSuggestions-own, maxProjectSuggestions-all)
	}
	switch room {
	case maxDaySuggestions - day:
		until := first.AddDate(0, 0, 1)
		if first.UnixMicro() <= 0 {
			until = by.Time.AddDate(0, 0, 1)
		}
		more = &edit.BoundError{Message: fmt.Sprintf("You made %d suggestions within 24 hours: the next one is taken at %s.", maxDaySuggestions, until.UTC().Format(time.RFC3339)), Until: until}
	case maxStrangerSuggestions - own:
		more = &edit.BoundError{Message: fmt.Sprintf("%d suggestions of yours wait in this project: more are taken when some were accepted or rejected.", maxStrangerSuggestions)}
	default:
		more = &edit.BoundError{Message: fmt.Sprintf("%d suggestions by people without a role wait in this project: more are taken when some were accepted or rejected.", maxProjectSuggestions)}
	}
	return room, more, tx.fail(ctx, "count what somebody suggested", err)
}

// voidSuggestion says in the journal why nobody can answer a suggestion any more.
const voidSuggestion = "the string has this text, or is read-only"

// endSuggested ends suggestions that nobody answered and that are void. Texts that were
// edits keep their status, which says what became of the edit.
func (tx *StepTx) endSuggested(ctx context.Context, ids []int64) error {
	slices.Sort(ids)
	list, err := editsIn(ctx, tx.s, ids, ` WHERE e.status = $1 AND e.id IN $ids`, string(EditSuggested))
	for i := range list {
		if err == nil {
			err = tx.EndSuggestion(ctx, &list[i], voidSuggestion, "", "", tx.info.At)
		}
	}
	return err
}

// suggestEdit makes the text of an edit a suggestion. At the end of the step it goes the
// way of all suggestions: away, if the unit has its text.
func (tx *StepTx) suggestEdit(ctx context.Context, e *Edit) error {
	by, err := tx.lastAuthor(ctx, e.ID)
	if err != nil {
		return err
	}
	return tx.putSuggested(ctx, e, by)
}

func (tx *StepTx) lastAuthor(ctx context.Context, id int64) (by edit.Author, err error) {
	_, err = tx.s.First(ctx, `SELECT a.name, a.email, a.at, COALESCE(v.person, 0) FROM edit_authors a LEFT JOIN edit_events v ON v.edit_id = a.edit_id AND v.n = a.n
		WHERE a.edit_id = $1 ORDER BY a.n DESC, a.at DESC, a.name, a.email LIMIT 1`, []any{id}, &by.Name, &by.Email, &by.Time, &by.Person)
	return by, err
}

func (tx *StepTx) putSuggested(ctx context.Context, e *Edit, by edit.Author) error {
	return tx.s.Do(ctx, `INSERT INTO suggestions (unit_id, branch, translation_id, target, author_name, author_key, at, commit_hash) VALUES ($1, $2, $3, $4, $5, $6, $7, '')
		ON CONFLICT (unit_id, branch) DO UPDATE SET target = excluded.target, author_name = excluded.author_name, author_key = excluded.author_key, at = excluded.at`,
		e.UnitID, suggestedAs(e.ID), e.TranslationID, e.Ours.Target, by.Name, authorKey(by.Name, by.Email), by.Time.UnixMicro())
}

// fillNotes sets Comment and HasSuggestion of units for an answer.
func (s *Snapshot) fillNotes(ctx context.Context, units []catalog.Unit) error {
	if err := s.fillSuggestions(ctx, units); err != nil {
		return err
	}
	var sources []int64
	for i := range units {
		if u := &units[i]; u.TranslatorBytes > 0 && u.SourceID != u.ID {
			sources = append(sources, u.SourceID)
		}
	}
	template := rows.TemplateComments{}
	err := s.s.QueryIn(ctx, `SELECT id, note, remark FROM units WHERE remark > 0 AND id IN $ids`, nil, sources, template.Take())
	for i := range units {
		if u := &units[i]; u.TranslatorBytes > 0 && u.SourceID != u.ID && !u.Removed {
			u.Comment = catalog.OwnComment(u.TranslatorNote(), template[u.SourceID])
		}
	}
	return err
}

// countComments updates the numbers of units with comments in the translations
// that the step wrote. An index of commented units gives them without reading
// units, unless the template has comments, too. If the template was written, all
// translations are counted.
func (tx *StepTx) countComments(ctx context.Context) error {
	written := map[int64][]int64{} // by component
	for _, translation := range sqldb.SortedKeys(tx.dirty) {
		c, err := tx.componentOf(ctx, translation)
		if err != nil {
			return err
		}
		written[c] = append(written[c], translation)
	}
	return catalog.Try(sqldb.SortedKeys(written), func(component *int64) error { return tx.countCommentsOf(ctx, *component, written[*component]) })
}

func (tx *StepTx) countCommentsOf(ctx context.Context, component int64, translations []int64) error {
	source, template, err := rows.ComponentTemplate(ctx, tx.s, component)
	if err != nil {
		return err
	}
	if _, written := tx.dirty[source]; written {
		if translations, err = liveTargets(ctx, tx.s, component); err != nil {
			return err
		}
	}
	for _, id := range translations {
		if id == source {
			continue
		}
		n, err := rows.CommentCount(ctx, tx.s, id, template)
		if err != nil {
			return err
		}
		changed, err := tx.s.Exec(ctx, `UPDATE translations SET comments = $1 WHERE id = $2 AND comments <> $1`, n, id)
		if err != nil {
			return err
		}
		if changed > 0 {
			if err := tx.markChanged(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// liveTargets returns the live translations of a component, except the source
// language's.
func liveTargets(ctx context.Context, s *sqldb.Session, component int64) (ids []int64, err error) {
	err = s.IDs(ctx, `SELECT id FROM translations WHERE component_id = $1 AND removed = 0 AND is_source = 0 ORDER BY id`, []any{component}, &ids)
	return ids, err
}
