package store

import (
	"context"
	"strings"
	"testing"
)

func TestSetPullProblem(t *testing.T) {
	db := openWith(t, "app", "lib")
	ctx := context.Background()
	for _, tt := range []struct {
		problem string
		changed bool
	}{
		{"fetch https://user:hunter2@example.org/app.git, ssh://git:hunter2@host/x, https://hunter2@h/y: no route", true},
		{"fetch https://user:hunter2@example.org/app.git, ssh://git:hunter2@host/x, https://hunter2@h/y: no route", false},
		{"", true},
		{"", false},
		{"ssh://git@host/x: refused", true},
	} {
		changed, err := db.SetPullProblem(ctx, []int64{1, 2}, tt.problem)
		if err != nil || changed != tt.changed {
			t.Errorf("SetProblem(%q) = %v, %v", tt.problem, changed, err)
		}
		if text := dump(t, db); strings.Contains(text, "hunter2") {
			t.Errorf("a credential is stored:\n%s", text)
		}
	}
	got, err := db.Branch(ctx, testRepo, testBranch)
	if err != nil || got[1].Problem != "ssh://git@host/x: refused" {
		t.Errorf("%+v, %v", got, err)
	}
}
