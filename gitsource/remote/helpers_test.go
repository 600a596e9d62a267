package remote

import (
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

func TestMain(m *testing.M) { gittest.Main(m) }

type (
	files    = gittest.Files
	upstream = gittest.Upstream[object.Hash]
)

func newUpstream(tb testing.TB) *upstream {
	tb.Helper()
	return gittest.NewUpstream[object.Hash](tb)
}

func pattern(tb testing.TB, s string) BranchPattern {
	tb.Helper()
	p, err := ParseBranchPattern(s)
	gittest.Must(tb, err)
	return p
}
