package resource

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// TestUserWithoutDate: a user whose commits have no date that can be read has no
// date_joined, which is not the year 1.
func TestUserWithoutDate(t *testing.T) {
	t.Parallel()
	for want, u := range map[string]store.User{
		`"date_joined":null`:                   {Username: "a"},
		`"date_joined":"2026-01-02T03:04:05Z"`: {Username: "a", Joined: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
	} {
		data, err := json.Marshal(newUser(wire.Links{}, &u))
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%v, no %s in %s", err, want, data)
		}
	}
}
