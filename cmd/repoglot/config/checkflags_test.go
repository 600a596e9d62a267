package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

// TestCheckWarnings: unknown flags are warnings, not errors.
func TestCheckWarnings(t *testing.T) {
	const file = `
projects:
  - slug: p
    components:
      - slug: good
        repo: https://example.org/a.git
        filemask: po/*.po
        check_flags: ignore-end-stop, c-format, max-length:10, regex:r"^a$", ignore-max-size
        enforced_checks: [end_stop, same-plurals, max-size]
      - slug: bad
        repo: https://example.org/a.git
        filemask: doc/*.po
        check_flags: ignore-smae, max-length:ten, ignore-same
        enforced_checks: [sane]
`
	c, err := config.Parse("f", []byte(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"component p/bad: check_flags: ignore-smae: there is no check smae (docs/checks.md lists them)",
		"component p/bad: check_flags: max-length:ten has no number of characters: write max-length:100",
		"component p/bad: enforced_checks: there is no check sane",
	}
	if diff := cmp.Diff(want, c.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
