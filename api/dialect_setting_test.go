package api

import (
	"strings"
	"testing"
)

// TestDialect: with the settings for newer clients pages are longer, addresses have a format
// only if the request has one, and changes come the newest first, unless asked otherwise.
func TestDialect(t *testing.T) {
	t.Parallel()
	s := bare(demoWorld(t), Options{CacheBytes: 1 << 20, Dialect: Dialect{PageSize: 5, PlainAddresses: true, NewestFirst: true}})
	if n := len(getList(t, s, "/api/translations/demo/app/cs/units/").Results); n != 20 {
		t.Errorf("%d strings a page", n)
	}
	if n := len(getList(t, s, "/api/languages/?page_size=3").Results); n != 3 {
		t.Errorf("%d languages with page_size=3", n)
	}
	for _, target := range []string{"/api/", "/api/units/", "/api/changes/", "/api/projects/demo/", "/api/translations/demo/app/cs/", "/api/changes/?page=2"} {
		if body := get(t, s, target); strings.Contains(body, "format=") || strings.Contains(body, `?"`) {
			t.Errorf("%s: %s", target, body)
		}
		if body := get(t, s, target+map[bool]string{true: "&", false: "?"}[strings.Contains(target, "?")]+"format=api"); !strings.Contains(body, "?format=api") {
			t.Errorf("%s with a format: %s", target, body)
		}
	}
	up, down := getList(t, s, "/api/changes/?ordering=id&page_size=1000"), getList(t, s, "/api/changes/?page_size=1000")
	if n := len(up.Results); n < 2 || up.Results[0]["id"] != down.Results[n-1]["id"] {
		t.Errorf("%d entries", n)
	}
	if after := getList(t, s, "/api/changes/?after_id=2"); after.Results[0]["id"] != float64(3) {
		t.Errorf("after 2: %v", after.Results[0]["id"])
	}
	if lines := get(t, s, "/api/changes/?format=ndjson"); !strings.Contains(strings.SplitN(lines, "\n", 2)[0], `"id":1,`) {
		t.Errorf("lines: %.300s", lines)
	}
}
