package wire

import "testing"

// TestLinksEscape: text in a path cannot leave its segment.
func TestLinksEscape(t *testing.T) {
	t.Parallel()
	for want, segments := range map[string][]string{
		"/api/users/jan-%C5%BEi%C5%BEka/": {"api", "users", "jan-žižka"},
		"/api/a%2Fb/%3Fc%23/%25/":         {"api", "a/b", "?c#", "%"},
		"/languages/sr@latin/":            {"languages", "sr@latin"},
	} {
		if got := Path(segments...); got != want {
			t.Errorf("%v: %s", segments, got)
		}
	}
}
