package web

import (
	"slices"
	"testing"

	"github.com/repoglot/repoglot/api/export"
)

// TestDownloads: the pages offer each format of the exports, and the files as they are.
func TestDownloads(t *testing.T) {
	t.Parallel()
	for prefix, plain := range map[string]string{"": "", "zip:": "?format=zip"} {
		links := downloads("/file/", plain, prefix)
		for _, f := range export.Formats() {
			want := "/file/?format=" + prefix + f.Name
			if f.Name == "po" {
				want = "/file/" + plain
			}
			if !slices.ContainsFunc(links, func(l link) bool { return l.URL == want }) {
				t.Errorf("no link to %s: %v", want, links)
			}
		}
	}
}
