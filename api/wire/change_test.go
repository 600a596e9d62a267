package wire

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
)

// TestChangeOfEvent: an event's own keys are in details; unit and translation
// are null (docs/compatibility.md#component-events).
func TestChangeOfEvent(t *testing.T) {
	t.Parallel()
	l := Links{Base: "http://x", Format: "api"}
	body, err := JSON(NewChange(l, &catalog.Change{
		ID: 5, Action: catalog.ActionParseError, Project: "p", Component: "c", Language: "fr", Username: "jane", AuthorName: "Jane", State: -1, OldState: -1,
		Timestamp: time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC), Event: map[string]string{"file": "po/fr.po", "line": "7", "message": "bad"},
	}), 0)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"unit":null,"component":"http://x/api/components/p/c/?format=api","translation":null,"user":null,"author":null,` +
		`"timestamp":"2026-03-04T05:06:07.123456Z","action":24,"target":"","id":5,"action_name":"Parse error","url":"http://x/api/changes/5/?format=api",` +
		`"old":"","details":{"author_name":"Jane","commit":null,"commit_time":null,"context":"","file":"po/fr.po","line":7,"message":"bad",` +
		`"old_state":-1,"source":"","state":-1}}`
	if diff := cmp.Diff(want, string(body)); diff != "" {
		t.Error(diff)
	}
}

// TestChangeOfFile: who added or removed a language is the user, and the file that was
// removed is the target.
func TestChangeOfFile(t *testing.T) {
	t.Parallel()
	for action, target := range map[catalog.Action]string{catalog.ActionAddedLanguage: "", catalog.ActionRemoveTranslation: "po/fr.po", catalog.ActionParseError: ""} {
		c := NewChange(Links{Base: "http://x"}, &catalog.Change{
			ID: 5, Action: action, Project: "p", Component: "c", Username: "jane", AuthorName: "Jane", Event: map[string]string{"file": "po/fr.po"},
		})
		credited := action != catalog.ActionParseError
		has := map[string]any{}
		for i := 0; i < len(c); i += 2 {
			has[c[i].(string)] = c[i+1]
		}
		if has["target"] != target || (has["user"].(*string) != nil) != credited || (has["author"].(*string) != nil) != credited {
			t.Errorf("%s: %+v", action.Name(), c)
		}
	}
}
