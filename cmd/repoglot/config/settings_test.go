package config_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

// TestSettings gives each key of a component a value and looks for a difference in what
// Settings passes on. A key that Settings does not pass on is named here.
func TestSettings(t *testing.T) {
	t.Parallel()
	compare(t, func(c config.Component) any { return c.Settings() }, "Slug", "Repo", "Branch", "WebhookSecretEnv",
		"RequestPer", "CommitBy", "Flush", "FlushMax", "OnConflict", "CommitGate", "PoHeader", "Signoff", "Msgmerge", "MsgmergeOptions", "MsgmergeAfter", "MsgmergeWhen", // only with push_mode: TestPushSettings
		"SigningKeyEnv", "Forge", "ForgeURL", "ForgeTokenEnv", "Translators")
}

func compare[T any](t *testing.T, settings func(T) any, others ...string) {
	t.Helper()
	var empty T
	kind := reflect.TypeFor[T]()
	for _, field := range reflect.VisibleFields(kind) {
		if tag := field.Tag.Get("yaml"); tag == "" || tag == "-" {
			continue
		}
		value := reflect.New(kind).Elem()
		fill(value.FieldByIndex(field.Index))
		passed := !reflect.DeepEqual(settings(value.Interface().(T)), settings(empty))
		if passed == slices.Contains(others, field.Name) {
			t.Errorf("%s.%s: passed on by Settings: %v; see also the list of this test", kind.Name(), field.Name, passed)
		}
	}
}

// fill gives a value, and all in it, something else than the zero value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	}
}

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
	must(t, err)
	want := []string{
		"component p/bad: check_flags: ignore-smae: there is no check smae (docs/checks.md lists them)",
		"component p/bad: check_flags: max-length:ten has no number of characters: write max-length:100",
		"component p/bad: enforced_checks: there is no check sane",
	}
	if diff := cmp.Diff(want, c.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
