package catalog

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestNewCommit looks for e-mail addresses everywhere in a commit: none is kept.
func TestNewCommit(t *testing.T) {
	t.Parallel()
	got := NewCommit(Commit{
		Author: "jane@example.org", Committer: "Jane Doe",
		Message: "  Translate @title@ \n\nAsk jane.doe+po@mail.example.org, or git@host.\nCo-authored-by: Jöhn <john@example.org>\nSigned-off-by: X Y\t<x@localhost>  \n\n",
	})
	want := "Translate @title@\n\nAsk jane.doe+po, or git@host.\nCo-authored-by: Jöhn\nSigned-off-by: X Y"
	if got.Author != "jane" || got.Committer != "Jane Doe" || got.Message != want || got.Summary() != "Translate @title@" {
		t.Errorf("%+v", got)
	}
	long := NewCommit(Commit{Message: "a" + strings.Repeat("ž", maxCommitMessage)})
	if len(long.Message) > maxCommitMessage || len(long.Message) < maxCommitMessage-4 || !utf8.ValidString(long.Message) {
		t.Errorf("%d bytes kept of a long message", len(long.Message))
	}
}
