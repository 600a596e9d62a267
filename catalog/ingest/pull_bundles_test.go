package ingest_test

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
)

// bundles are the real repositories, with the masks of their README.
var bundles = []struct {
	name       string
	components map[string]catalog.ComponentSettings
	// intended are the files whose counts differ, with the reason.
	intended map[string]string
}{
	{name: "hello", components: map[string]catalog.ComponentSettings{
		"hello": {NewBase: "po/hello.pot", LanguageRegex: ".*"},
	}},
	{name: "demo", components: map[string]catalog.ComponentSettings{
		"django":   {Filemask: "weblate/locale/*/LC_MESSAGES/django.po", NewBase: "weblate/locale/django.pot", LanguageRegex: ".*"},
		"djangojs": {Filemask: "weblate/locale/*/LC_MESSAGES/djangojs.po", NewBase: "weblate/locale/djangojs.pot", LanguageRegex: ".*"},
		"langdata": {Filemask: "weblate/langdata/locale/*/LC_MESSAGES/django.po", NewBase: "weblate/langdata/locale/django.pot", LanguageRegex: ".*"},
	}},
	{name: "dnf-plugins-core", components: map[string]catalog.ComponentSettings{
		"dnf": {NewBase: "po/dnf-plugins-core.pot", LanguageRegex: ".*"},
	}},
	{name: "switchboard", components: map[string]catalog.ComponentSettings{
		"switchboard": {NewBase: "po/io.elementary.settings.pot", LanguageRegex: ".*"},
		"extra":       {Filemask: "po/extra/*.po", NewBase: "po/extra/extra.pot", LanguageRegex: ".*"},
	}},
	{name: "gtranslator-po", components: map[string]catalog.ComponentSettings{
		"app":  {LanguageRegex: ".*"},
		"help": {Filemask: "help/*/*.po", LanguageRegex: ".*"},
	}},
	{name: "vim-po", components: map[string]catalog.ComponentSettings{
		"vim": {Filemask: "src/po/*.po", NewBase: "src/po/vim.pot", LanguageRegex: ".*"},
	}, intended: map[string]string{
		"src/po/ja.sjis.po": "CP932 trail bytes: we decode before reading lines (docs/po.md#encoding)",
	}},
	{name: "python-docs-pl", components: map[string]catalog.ComponentSettings{
		"docs-{component}": {Filemask: "*/{component}.po", LanguageRegex: ".*"},
	}},
	{name: "polib", components: map[string]catalog.ComponentSettings{
		"tests": {Filemask: "tests/*.po", NewBase: "tests/test_merge.pot", LanguageRegex: ".*"},
	}, intended: map[string]string{
		"tests/test_ufeff.po": "a byte order mark is accepted (docs/po.md#encoding)",
		"tests/test_wrap.po":  "a header is never an entry, though this one is empty",
	}},
}

// TestBundles imports real repositories and compares the counts of every file
// with the counts of GNU msgfmt.
func TestBundles(t *testing.T) {
	gittest.Shared(t, "data", "repos")
	for _, b := range bundles {
		t.Run(b.name, func(t *testing.T) {
			if slowUnderRace(b.name) {
				t.Skip("skipped under the race detector")
			}
			t.Parallel()
			w := catalogtest.NewPuller(t, gittest.Bundle(t, b.name), b.components)
			report := w.Sync()
			problems := make(map[string]string)
			for _, c := range report.Components {
				for _, p := range c.Problems {
					path, _, _ := strings.Cut(p, ":")
					problems[path] = p
				}
			}
			got := fileCounts(w)
			for path, want := range expected(t, b.name) {
				compareCounts(t, path, want, got[path], problems[path], b.intended[path])
			}
		})
	}
}

// fileCounts returns the translated, fuzzy and untranslated units of every
// file.
func fileCounts(w *catalogtest.Puller) map[string]string {
	counts := make(map[string]string)
	w.EachComponent(func(ctx context.Context, s *store.Snapshot, c *store.ComponentRow) error {
		translations, err := s.Translations(ctx, c.ID)
		for _, tr := range translations {
			if !tr.IsSource {
				counts[tr.Filename] = countText(&tr.Stats)
			}
		}
		return err
	})
	return counts
}

func countText(s *catalog.Stats) string {
	untranslated := s.Total.Units - s.Translated.Units - s.Fuzzy.Units
	return strconv.FormatInt(s.Translated.Units, 10) + "/" + strconv.FormatInt(s.Fuzzy.Units, 10) + "/" + strconv.FormatInt(untranslated, 10)
}

// expected reads a table of msgfmt's counts.
func expected(t *testing.T, name string) map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(gittest.Shared(t, "data", "repos"), "expected", name+".tsv"))
	must(t, err)
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma = '\t'
	rows, err := r.ReadAll()
	must(t, err)
	want := make(map[string]string)
	for _, row := range rows[1:] {
		want[row[0]] = strings.Join(row[1:4], "/")
	}
	if len(want) == 0 {
		t.Fatal("the table is empty")
	}
	return want
}

func compareCounts(t *testing.T, path, want, got, problem, intended string) {
	t.Helper()
	refused := strings.Contains(want, "ERR")
	switch {
	case intended != "":
		if got == want || refused && got == "" {
			t.Errorf("%s: the intended difference (%s) is gone", path, intended)
		}
	case refused && got != "":
		t.Errorf("%s: msgfmt refuses it, we read %s", path, got)
	case refused && problem == "":
		t.Errorf("%s: not served, and no problem is reported", path)
	case !refused && got != want:
		t.Errorf("%s: %s (translated/fuzzy/untranslated), msgfmt counts %s; problem %q", path, got, want, problem)
	}
}
