package wire

import "testing"

func TestLicenseURL(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"MIT": "https://spdx.org/licenses/MIT.html", "GPL-3.0-or-later": "https://spdx.org/licenses/GPL-3.0-or-later.html",
		"GPL-2.0": "https://spdx.org/licenses/GPL-2.0.html", "CC-BY-SA-4.0": "https://spdx.org/licenses/CC-BY-SA-4.0.html",
		"Vim": "https://spdx.org/licenses/Vim.html",
		"":    "null", "proprietary": "null", "mit": "null", "MIT OR GPL-2.0": "null", "../MIT": "null",
	} {
		got := "null"
		if url := licenseURL(id); url != nil {
			got = *url
		}
		if got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
}
