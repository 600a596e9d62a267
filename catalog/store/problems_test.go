package store

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// TestSetPullProblem: a problem is stored once, without secrets, addresses of people and
// paths, and with the time at which it began.
func TestSetPullProblem(t *testing.T) {
	db := openWith(t, "app", "lib")
	ctx := context.Background()
	for i, tt := range []struct {
		problem string
		changed bool
	}{
		{"from jana@example.org: stat /srv/x, https://h/y.git?token=hunter2", true},
		{"fetch https://user:hunter2@example.org/app.git, ssh://git:hunter2@host/x, https://hunter2@h/y: no route", true},
		{"fetch https://user:hunter2@example.org/app.git, ssh://git:hunter2@host/x, https://hunter2@h/y: no route", false},
		{"", true},
		{"", false},
		{"ssh://git@host/x: refused", true},
	} {
		failure := catalog.Failure{Words: tt.problem, Since: time.Unix(int64(1_700_000_000+i), 0)}
		if tt.problem != "" {
			failure.Kind = catalog.FailureUnreachable
		}
		changed, err := db.SetPullProblem(ctx, []int64{1, 2}, failure)
		if err != nil || changed != tt.changed {
			t.Errorf("SetProblem(%q) = %v, %v", tt.problem, changed, err)
		}
		if text := dump(t, db); strings.Contains(text, "hunter2") || strings.Contains(text, "jana@") || strings.Contains(text, "/srv") {
			t.Errorf("a secret is stored:\n%s", text)
		}
	}
	got, err := db.Branch(ctx, testRepo, testBranch)
	if err != nil || got[1].Problem != (catalog.Failure{Kind: catalog.FailureUnreachable, Words: "ssh://git@host/x: refused", Since: time.Unix(1_700_000_005, 0).UTC()}) {
		t.Errorf("%+v, %v", got, err)
	}
}
