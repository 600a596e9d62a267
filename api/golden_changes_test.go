package api_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// entry is what the two services agree on about a change: what happened to
// which string.
type entry struct{ Language, Action, Target string }

// compareChanges compares the entries of the pull from rev1 to rev2. What the
// recorded service writes beside them, and we do not, is listed in
// recordedEntries; what only we write in ourEntries.
func (g *golden) compareChanges(t *testing.T) {
	rec := g.send(http.MethodGet, "/api/components/demo/rich/changes/?page_size=1000", "")
	recorded := recordedEntries(results(t, readRecord(t, "rev2", "changes_component_all.http").body))
	ours := ourEntries(results(t, rec.Body.Bytes()))
	if len(recorded) < 20 {
		t.Errorf("only %d entries recorded", len(recorded))
	}
	if diff := gocmp.Diff(recorded, ours); diff != "" {
		t.Errorf("entries (-recorded +ours):\n%s", diff)
	}
}

// recordedEntries takes the entries of the second pull: the ones above the
// entries of rev1.
func recordedEntries(all []map[string]any) []entry {
	const newestOfRev1 = 370
	var entries []entry
	for _, r := range all {
		id, action := 0, fmt.Sprint(r["action"])
		_, _ = fmt.Sscan(fmt.Sprint(r["id"]), &id)
		language := languageOf(r["translation"])
		target := fmt.Sprint(r["target"])
		switch {
		case id <= newestOfRev1:
			continue
		case action == "0" || action == "20" || action == "21" || action == "30" || action == "47":
			continue // one entry per string, and no others
		case action == "59" && strings.HasSuffix(target, "Sample message number 29"):
			continue // only its flags changed
		case action == "71":
			action = "31" // docs/compatibility.md#change-entries
		}
		entries = append(entries, entry{language, action, target})
	}
	return sorted(entries)
}

// ourEntries leaves removed strings out: the recorded service deletes them
// silently (docs/compatibility.md#change-entries).
func ourEntries(all []map[string]any) []entry {
	var entries []entry
	for _, r := range all {
		action := fmt.Sprint(r["action"])
		if action == "63" || r["unit"] == nil {
			continue
		}
		entries = append(entries, entry{languageOf(r["translation"]), action, fmt.Sprint(r["target"])})
	}
	return sorted(entries)
}

func languageOf(url any) string {
	parts := strings.Split(strings.TrimSuffix(fmt.Sprint(url), "?format=api"), "/")
	if len(parts) < 2 {
		return ""
	}
	return parts[len(parts)-2]
}

func sorted(entries []entry) []entry {
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Language, b.Language), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Target, b.Target))
	})
	return entries
}
