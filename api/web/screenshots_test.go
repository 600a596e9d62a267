package web_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// TestScreenshots takes the pictures of docs/img from the demo, which `make screenshots`
// serves at the origin REPOGLOT_SCREENSHOTS, the last ones signed in with the token
// REPOGLOT_SCREENSHOTS_TOKEN. Look at them before you commit them.
func TestScreenshots(t *testing.T) {
	origin := os.Getenv("REPOGLOT_SCREENSHOTS")
	if origin == "" {
		t.Skip("skipped: make screenshots")
	}
	b := openBrowser(t)
	must(t, os.MkdirAll("../../docs/img", 0o755))
	signed := ""
	for _, shot := range []struct {
		file, target  string
		width, height int
		dark          bool
		typed         []string // into the form; nil: not signed in
	}{
		{"project.png", "/projects/demo/?ui=en", 1280, 860, false, nil},
		{"translation.png", "/projects/demo/app/fr/?ui=en", 1280, 860, false, nil},
		{"string.png", "/translate/demo/app/cs/?offset=2&checksum=3f54de24b5dd3d39&ui=en", 1280, 870, false, nil},
		{"phone.png", "/projects/demo/?ui=ar", 390, 780, true, nil},
		{"edit.png", "/translate/demo/app/es/?q=state:empty&offset=5&checksum=80d952bcfc39164c&ui=en", 1280, 1000, false, []string{}},
		{"missing.png", "/translate/demo/app/fr/?checksum=3f71e04b0595152d&offset=43&ui=en", 1280, 860, false, []string{"%d lien", "%d liens"}},
	} {
		if signed == "" && shot.typed != nil {
			signed = os.Getenv("REPOGLOT_SCREENSHOTS_TOKEN")
			b.signIn(origin, signed, "/")
		}
		b.load(origin+shot.target, shot.width, shot.dark)
		for i, text := range shot.typed {
			b.typeInto(fmt.Sprint("text", i), text)
		}
		b.shoot("../../docs/img/"+shot.file, shot.width, shot.height)
	}
}

// shoot writes the upper part of the page as PNG, of at most 150 kB.
func (b *browserTab) shoot(file string, width, height int) {
	b.t.Helper()
	data := b.picture(width, height)
	if len(data) > 150_000 {
		b.t.Errorf("%s has %d bytes", file, len(data))
	}
	must(b.t, os.WriteFile(file, data, 0o644))
}

// picture is the upper part of the page as PNG.
func (b *browserTab) picture(width, height int) []byte {
	b.t.Helper()
	clip := map[string]any{"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
	var shot struct{ Data string }
	must(b.t, json.Unmarshal(b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true, "clip": clip}), &shot))
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	must(b.t, err)
	return data
}
