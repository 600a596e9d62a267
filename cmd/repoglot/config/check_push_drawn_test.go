package config_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

// TestPushBranchesDrawn draws two components of one repository. Of those that the configuration
// takes, no branch of ours has edits of two branches or modes, is one that another component
// reads, or is below another one, which git refuses.
func TestPushBranchesDrawn(t *testing.T) {
	t.Parallel()
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		var rows []store.BranchComponent
		branch := ""
		for _, name := range [][2]string{{"app", "core-ui"}, {"app-core", "ui"}} {
			row := store.BranchComponent{}
			row.Project.Slug, row.Slug = name[0], name[1]
			row.Repo, row.Branch = "https://example.org/own/a.git", rapid.SampledFrom([]string{"main", "next"}).Draw(t, "branch")
			row.Settings.Edits.Mode = rapid.SampledFrom([]catalog.PushMode{catalog.PushDirect, catalog.PushBranch, catalog.PushBranch, catalog.PushRequest}).Draw(t, "mode")
			if len(rows) == 0 || rapid.Bool().Draw(t, "another push_branch") {
				branch = rapid.SampledFrom([]string{"", "", "", "l10n", "l10n/web", "next", "repoglot/app/core-ui", "repoglot/app"}).Draw(t, "push_branch")
			}
			row.Settings.PushBranch = branch
			fmt.Fprintf(&text, "- slug: %s\n  components:\n  - {slug: %s, repo: %q, branch: %s, filemask: %s/*.po, push_mode: %s", name[0], name[1], row.Repo, row.Branch, name[1], row.Settings.Edits.Mode)
			if row.Settings.PushBranch != "" {
				fmt.Fprintf(&text, ", push_branch: %s", row.Settings.PushBranch)
			}
			if row.Settings.Edits.Mode == catalog.PushRequest {
				text.WriteString(", forge: github, forge_token_env: T")
			}
			text.WriteString("}\n")
			rows = append(rows, row)
		}
		if _, err := config.Parse("f", []byte("projects:\n"+text.String()), []string{"T=x"}); err != nil {
			return
		}
		taken++
		for i := range rows {
			for k := range rows {
				a, b := push.BranchOf(&rows[i]), push.BranchOf(&rows[k])
				switch {
				case a == "":
				case a == b && (rows[i].Branch != rows[k].Branch || rows[i].Settings.Edits.Mode != rows[k].Settings.Edits.Mode):
					t.Fatalf("%s has edits of two places:\n%s", a, text.String())
				case a == rows[k].Branch:
					t.Fatalf("%s is ours, and is read:\n%s", a, text.String())
				case strings.HasPrefix(b, a+"/"):
					t.Fatalf("%s is below %s:\n%s", b, a, text.String())
				}
			}
		}
	})
	if taken == 0 {
		t.Error("no configuration is taken")
	}
}
