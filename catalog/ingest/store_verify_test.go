package ingest_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/catalog/store/pgtest"
	"github.com/repoglot/repoglot/testrepos"
)

// notCounted are the tables and columns that a recount cannot compare, with the
// reason. TestVerifyFindsEverything fails for a table or column that is not
// listed here and whose errors Verify does not find.
var notCounted = map[string]string{
	"goose_db_version": "which migrations were made", "tokens": "secrets", "token_events": "the past of tokens", "account_events": "the past of accounts", "accounts": "people", "account_names": "people", "sign_ins": "of browsers", "sessions": "of browsers", "users": "people", "push_branches": "the remote's", "push_waits": "what processes do", "sent": "the remote's",
	"edit_authors.name": "people", "edit_authors.email": "people", "edit_authors.at": "of the past", "edit_authors.n": "of the past", "edit_events.n": "of the past", "edit_events.at": "of the past", "edit_events.name": "people",
	"edit_events.event": "of the past", "edit_events.target": "of the past", "edit_events.state": "of the past",
	"edit_events.person": "people", "edits.stranger": "people", "edits.reviewer_name": "people", "edits.reviewer_email": "people",
	"edits.id": "a name", "edits.base_target": "of the past", "edits.base_state": "of the past", "edits.status": "of the past", "edits.reason": "of the past",
	"edits.created_at": "of the past", "edits.away_at": "of the past", "edits.since": "of the past", "edits.committed": "what clones have", "edits.lossy": "of the past", "edits.updated_at": "of the past", "problems": "what is wrong with files",
	"servers": "which server it is", "spent": "what clients used", "receivers": "what somebody was told", "follows": "people", "components.imported_change": "where a pull was", "mirrors": "what processes do", "processes": "what processes do", "configurations": "what processes read",
	"behind": "of old strings: TestLongUntranslated", "components.behind": "of old strings: TestLongUntranslated",
	"components.behind_before": "of old strings: TestLongUntranslated", "components.behind_percent": "of old strings: TestLongUntranslated", "components.oldest": "of old strings: TestLongUntranslated",
	"clock": "one row, spoilt below", "clock.newest_token": "tokens",
	"projects.slug": "a name", "projects.settings": "the configuration's", "projects.active": "the configuration's", "projects.settings_generation": "the configuration's",
	"components.project_id": "the configuration's", "components.slug": "a name", "components.settings": "the configuration's", "components.read_key": "of the settings, compared by Configure",
	"components.repo": "the configuration's", "components.branch": "the configuration's", "components.template": "the configuration's", "components.active": "the configuration's",
	"components.tracking": "git's", "components.head": "git's", "components.head_commit": "git's", "components.imported": "where a pull was", "components.import_at": "where a pull was",
	"components.reread": "where a pull was", "components.problem": "where a pull was", "components.problem_kind": "where a pull was", "components.problem_since": "where a pull was",
	"components.requests": "what a forge said", "components.push_problem": "what a remote said", "components.push_problem_kind": "what a remote said", "components.push_problem_since": "what a remote said", "components.locked": "somebody's wish", "components.settings_generation": "the configuration's",
	"translations.file_code": "a name", "translations.filename": "a name", "translations.language": "a name", "translations.plural_number": "of the file", "translations.plural_formula": "of the file", "translations.is_source": "a role",
	"translations.outline": "of the files, compared by pulls", "translations.checked": "what was checked", "compared_scopes.rule": "what was checked",
	"units.meta_print": "of note and flags, compared by pulls", "units.priority": "of the file", "units.previous_source": "of the file", "units.note": "of the file",
	"units.flags": "of the file", "units.created": "git's", "units.since": "git's: TestLongUntranslated",
	"failing.low": "which checks fail", "failing.high": "which checks fail",
	"files.modified":     "git's",
	"deltas.commit_hash": "git's", "deltas.commit_time": "git's", "deltas.co_authors": "git's",
	"stat_days.day":     "of the past",
	"changes.old_state": "of the past", "changes.old_target": "of the past", "changes.event": "of the past",
	"suggestions.author_name": "git's", "suggestions.author_key": "git's", "suggestions.at": "git's", "suggestions.commit_hash": "git's", "suggestions.branch": "git's",
	"suggestions.target": "git's",
}

// verifiedWorld has some of everything that is counted, in two components.
func verifiedWorld(t *testing.T) *catalogtest.Puller {
	repo := testrepos.Empty(t)
	many := []string{}
	for i := range 1100 { // with a full span of changes
		many = append(many, fmt.Sprintf("String %d.", i), fmt.Sprintf("Řetězec %d", i))
	}
	files := func(one string) map[string]string {
		return map[string]string{
			"po/cs.po":      po(append([]string{"One.", one, "Two", "", "Gone", "Pryč"}, many...)...) + "\n# mine\n#, fuzzy\nmsgid \"Three\"\nmsgstr \"Tři\"\n\n#, read-only\nmsgid \"Four\"\nmsgstr \"Čtyři\"\n",
			"po/de.po":      po("One.", "Eins", "Two", "Zwei"),
			"docs/docs.pot": po("Five", "") + "\nmsgid \"Two\"\nmsgid_plural \"Twos\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\n",
			"docs/cs.po":    po("Five", "Pět", "Two", "Dvě") + "\n#~ msgid \"" + strings.Repeat("long ", 60_000) + "\"\n#~ msgstr \"\"\n", // in pieces
		}
	}
	repo.Commit(t, testrepos.Change{Author: "Ada <ada@example.org>", Files: files("Jedna")})
	next := files("Jeden")
	next["po/cs.po"] = strings.Replace(next["po/cs.po"], "msgid \"Gone\"\nmsgstr \"Pryč\"\n\n", "", 1)
	repo.Commit(t, testrepos.Change{Author: "Bob <bob@example.org>", Files: next})
	repo.Commit(t, testrepos.Change{Branch: "l10n/x", Parents: []string{repo.Head()}, Files: files("Jedna")})
	settings := map[string]catalog.ComponentSettings{
		"app":  {SuggestionBranches: "l10n/*", History: catalog.History{Full: true}, AllowTranslationPropagation: true},
		"docs": {Filemask: "docs/*.po", NewBase: "docs/docs.pot", History: catalog.History{Full: true}, AllowTranslationPropagation: true, Edits: catalog.Edits{Mode: catalog.PushDirect}},
	}
	w := synced(t, repo.Path(), settings)
	must(t, w.Write("Five", catalog.StateTranslated, "Pětka"))
	w.RemoveFile("docs/cs.po")
	return w
}

// spoiler damages copies of a database.
type spoiler struct {
	*catalogtest.Puller
	sound *savedStore
}

// spoil runs statements on a copy and returns the findings of Verify.
func (s *spoiler) spoil(statements ...string) []string {
	s.TB.Helper()
	dir := s.TB.TempDir()
	copied := catalogtest.At(s.TB, dir)
	restore(copied, s.sound)
	for _, statement := range statements {
		execute(copied, statement)
	}
	db, err := store.Open(s.TB.Context(), copied.Database(), store.Options{})
	must(s.TB, err)
	defer db.Close()
	var found []string
	err = db.Read(s.TB.Context(), func(ctx context.Context, snap *store.Snapshot) error {
		_, err := snap.Verify(ctx, func(m store.Mismatch) { found = append(found, m.String()) })
		return err
	})
	if err != nil {
		s.TB.Errorf("%s: %v", statements, err)
	}
	return found
}

// columns returns the columns of every table of the database.
func (s *spoiler) columns() map[string][]string {
	s.TB.Helper()
	db, err := sql.Open("sqlite", s.Database())
	must(s.TB, err)
	defer db.Close()
	rows, err := db.QueryContext(s.TB.Context(), `SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY 1, c.cid`)
	must(s.TB, err)
	defer rows.Close()
	all := map[string][]string{}
	for rows.Next() {
		var table, column string
		must(s.TB, rows.Scan(&table, &column))
		all[table] = append(all[table], column)
	}
	must(s.TB, rows.Err())
	return all
}

func newSpoiler(t *testing.T) *spoiler {
	w := verifiedWorld(t)
	w.Verify()
	must(t, w.DB.Close())
	s := &spoiler{w, save(w.Store)}
	if found := s.spoil(); len(found) > 0 {
		t.Fatalf("an unspoilt copy: %q", found)
	}
	return s
}

// TestVerifyFindsEverything changes the newest row of every table in every
// column, and removes it. Verify must find each.
func TestVerifyFindsEverything(t *testing.T) {
	pgtest.SQLiteOnly(t, "it names rows by their rowid")
	oneAtATime(t)
	s := newSpoiler(t)
	columns := s.columns()
	excused := maps.Clone(notCounted)
	tried := 0
	for _, table := range slices.Sorted(maps.Keys(columns)) {
		if notCounted[table] != "" {
			delete(excused, table)
			continue
		}
		newest := "SELECT MAX(rowid) FROM " + table
		switch table { // tables without rowid, and rows that have all of it
		case "changes":
			newest = "SELECT delta_id * 1000 + n FROM changes WHERE unit_id IS NOT NULL AND action = 59 ORDER BY 1 DESC LIMIT 1"
		case "layouts":
			newest = "SELECT translation_id * 1000 + block FROM layouts ORDER BY 1 DESC LIMIT 1"
		case "stat_days":
			newest = "SELECT MAX(translation_id * 1000000 + day) FROM stat_days"
		case "edits":
			newest += " WHERE kind = 'text'"
		case "edit_authors", "edit_events":
			newest = "SELECT MAX(edit_id) FROM " + table
		case "spans":
			newest = "SELECT MAX(kind || id || span) FROM spans"
		case "suggestions":
			newest = "SELECT MAX(unit_id) FROM suggestions"
		case "check_counts":
			newest = "SELECT MAX(translation_id * 1000 + check_id) FROM check_counts WHERE units > 0"
		case "compared_units":
			newest = "SELECT MAX(unit_id * 2 + (key & 1)) FROM compared_units"
		case "translations", "files":
			newest = strings.Replace(newest, table, table+" WHERE "+map[string]string{"translations": "id", "files": "translation_id"}[table]+" IN (SELECT id FROM translations WHERE filename = 'po/cs.po' AND is_source = 0)", 1)
		case "deltas":
			newest += " WHERE translation_id IS NOT NULL"
		case "units":
			newest += " WHERE removed = 0 AND target = 'Jeden'"
		}
		key := map[string]string{
			"changes": "delta_id * 1000 + n", "layouts": "translation_id * 1000 + block", "stat_days": "translation_id * 1000000 + day", "spans": "kind || id || span", "suggestions": "unit_id", "edit_authors": "edit_id", "edit_events": "edit_id",
			"compared_units": "unit_id * 2 + (key & 1)", "check_counts": "translation_id * 1000 + check_id",
		}[table]
		if key == "" {
			key = "rowid"
		}
		where := fmt.Sprintf(" WHERE %s = (%s)", key, newest)
		for _, column := range columns[table] {
			name := table + "." + column
			statement := fmt.Sprintf("UPDATE %s SET %[2]s = CASE typeof(%[2]s) WHEN 'integer' THEN %[2]s + 1000000 WHEN 'text' THEN %[2]s || 'x' WHEN 'null' THEN 5 ELSE x'00' END%[3]s", table, column, where)
			if column == "removed" && table != "deltas" {
				statement = fmt.Sprintf("UPDATE %s SET removed = 1 - removed%s", table, where)
			}
			if notCounted[name] != "" {
				delete(excused, name)
				continue
			}
			tried++
			if found := s.spoil(statement); len(found) == 0 {
				t.Errorf("%s: nothing is found after %s", name, statement)
			}
		}
		if found := s.spoil("DELETE FROM " + table + where); len(found) == 0 && table != "stat_days" && table != "spans" {
			t.Errorf("%s: nothing is found after a row was removed", table)
		}
	}
	if tried < 60 {
		t.Errorf("only %d columns tried", tried)
	}
	for name := range excused {
		if !strings.HasPrefix(name, "clock") {
			t.Errorf("%s is excused and is no table or column any more", name)
		}
	}
}

// TestVerifyNamesWhatIsWrong: the line for a maintainer names the place and the
// error.
func TestVerifyNamesWhatIsWrong(t *testing.T) {
	oneAtATime(t)
	s := newSpoiler(t)
	const cs = "FROM translations WHERE language = 'cs' AND filename = 'po/cs.po'"
	for _, column := range []string{
		"total", "total_words", "total_chars", "translated", "translated_words", "translated_chars", "fuzzy", "fuzzy_words", "fuzzy_chars",
		"readonly", "readonly_words", "readonly_chars", "failing", "failing_words", "failing_chars", "comments", "suggestions", "changes", "recent_changes", "last_change_at",
	} {
		s.finds("demo/app/cs: "+strings.TrimSuffix(column, "_at")+": ", `UPDATE translations SET `+column+` = `+column+` + 1 WHERE id = (SELECT id `+cs+`)`)
	}
	unit := func(set string) string {
		return `UPDATE units SET ` + set + ` WHERE target = 'Jeden' AND removed = 0`
	}
	for want, statement := range map[string]string{
		"demo/app/cs: user of last_author: ":                `UPDATE translations SET last_author_id = 1 WHERE id = (SELECT id ` + cs + `)`,
		"demo/app: changes: ":                               `UPDATE components SET changes = changes + 1 WHERE slug = 'app'`,
		"demo/app: time of the newest change: ":             `UPDATE components SET last_at = last_at - 1 WHERE slug = 'app'`,
		"demo/docs: last unit: ":                            `UPDATE components SET last_unit = last_unit - 1 WHERE slug = 'docs'`,
		"demo/docs: last commit: ":                          `UPDATE components SET last_delta = last_delta - 1 WHERE slug = 'docs'`,
		"demo: changes: ":                                   `UPDATE projects SET changes = changes - 1`,
		"the server: changes: ":                             `UPDATE clock SET last_change = last_change + 1`,
		"the server: translations of a generation to come":  `UPDATE clock SET generation = 1`,
		"the server: changes of settings of another gen":    `UPDATE clock SET configured = 0`,
		"the server: something that strangers see of a gen": `UPDATE clock SET public = generation + 1`,
		"the server: components whose content is newer":     `UPDATE components SET content_generation = generation + 1`,
		"demo/app/cs: readonly: 1 is stored, 2 counted":     unit(`state = 100`),
		"demo/app/cs: fingerprint of unit ":                 unit(`target = 'Jedenx'`),
		"demo/app/cs: fingerprint in the newest change of ": `UPDATE changes SET target = target || 'x' WHERE target = 'Jeden'`,
		"demo/app/cs: total_words: ":                        unit(`source_id = source_id + 1000`),
		"demo/app/en: num_words of unit ":                   `UPDATE units SET words = words + 1 WHERE source = 'Two'`,
		"demo/app/en: characters of unit ":                  `UPDATE units SET chars = chars + 1 WHERE source = 'Two'`,
		"demo/app/en: id_hash of unit ":                     `UPDATE units SET source = 'Zwo', target = 'Zwo' WHERE source = 'Two'`,
		"demo/app/cs: id_hash of unit ":                     unit(`id_hash = id_hash + 1`),
		"demo/app: column 0 of the block of searches from":  unit(`priority = 7`),
		"demo/app: column 2 of the block of searches from":  unit(`target = 'X'`),
		"demo/app: columns of no block of searches: ":       `DELETE FROM search_blocks WHERE id < 1 << 56`,
		"demo/app/cs: units in the list: ":                  `UPDATE units SET removed = 1 WHERE target = 'Jeden'`,
		"demo/app/cs: blocks of the list that are found: ":  `UPDATE layouts SET first_unit = first_unit + 1 WHERE block = 0 AND translation_id = (SELECT id ` + cs + `)`,
		"demo/app/cs: block 1 of the list: ":                `UPDATE layouts SET data = x'00' WHERE block = 1 AND translation_id = (SELECT id ` + cs + `)`,
		"demo/app/cs: file: damaged is stored, ":            `UPDATE files SET data = x'00'`,
		"demo/app/cs: file: none is stored, ":               `DELETE FROM files`,
		"demo/app/cs: revision: ":                           `UPDATE translations SET revision = 'x' WHERE id = (SELECT id ` + cs + `)`,
		"demo/app/cs: newest day: ":                         `UPDATE stat_days SET data = x'02'`,
		"demo/app/cs: failing checks of strings that are":   `UPDATE failing SET source_id = source_id + 1`,
		"demo/app/cs: suggestions for strings that are":     `UPDATE suggestions SET target = (SELECT target FROM units WHERE id = unit_id)`,
		"the server: suggestions of no translation: ":       `UPDATE suggestions SET translation_id = 1000`,
		"the server: ids of changes that are missing":       `UPDATE deltas SET first_change = first_change + 1000000 WHERE id = (SELECT MAX(id) FROM deltas)`,
		"the server: wrong sums of changes: ":               `UPDATE spans SET data = (SELECT data FROM spans WHERE kind = 'c' LIMIT 1) WHERE kind = 's'`,
		"the server: changes of no commit: ":                `UPDATE changes SET delta_id = 7 WHERE target = 'Jeden'`,
		"demo: places in the list of changes ":              `UPDATE deltas SET first_in_project = first_in_project + 1 WHERE id = (SELECT MAX(id) FROM deltas)`,
		"demo/docs: places in the list of changes ":         `UPDATE deltas SET first_in_component = first_in_component + 1 WHERE id = (SELECT MAX(id) FROM deltas)`,
		"demo/docs/cs: places in the list of changes ":      `UPDATE deltas SET first_in_translation = first_in_translation + 1 WHERE id = (SELECT MAX(id) FROM deltas)`,
		"demo/docs: commits whose entries are ":             `UPDATE deltas SET added = added - 1, updated = updated + 1 WHERE id = (SELECT MAX(id) FROM deltas)`,
		"demo/app: entries of changes: ":                    `DELETE FROM changes WHERE target = 'Jeden'`,
	} {
		s.finds(want, statement)
	}
}

// finds checks that Verify reports a line after a statement.
func (s *spoiler) finds(want, statement string) {
	s.TB.Helper()
	found := s.spoil(statement)
	if !slices.ContainsFunc(found, func(line string) bool { return strings.HasPrefix(line, want) }) {
		s.TB.Errorf("after %s verify says %.500q, want %s", statement, found, want)
	}
}

// TestVerifyDuringPulls recounts while another handle on the database pulls:
// each time it sees one consistent state.
func TestVerifyDuringPulls(t *testing.T) {
	p := newSidePlayer(t, 8)
	w := synced(t, p.repo.URL(), suggestingSettings())
	beside, err := store.Open(t.Context(), w.Database(), store.Options{Shared: true})
	must(t, err)
	defer beside.Close()
	done, begun := make(chan struct{}), make(chan struct{})
	seen := make(chan map[string]bool)
	go func() {
		states := map[string]bool{}
		var once sync.Once
		for going := true; going; {
			select {
			case <-done:
				going = false
			default:
			}
			err := beside.Read(t.Context(), func(ctx context.Context, snap *store.Snapshot) error {
				counted, err := snap.Verify(ctx, func(m store.Mismatch) { t.Errorf("beside a pull: %s", m) })
				states[fmt.Sprint(counted)] = true
				return err
			})
			if err != nil {
				t.Error(err)
				going = false
			}
			once.Do(func() { close(begun) }) // the pulls begin after one state was seen
		}
		seen <- states
	}()
	<-begun
	for range 20 {
		p.play()
		p.playSide()
		w.Sync()
	}
	close(done)
	if states := <-seen; len(states) < 2 {
		t.Errorf("only %d states were recounted", len(states))
	}
}
