package object

import (
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

func TestMain(m *testing.M) { gittest.Main(m) }

type (
	files    = gittest.Files
	upstream = gittest.Upstream[Hash]
)

func newUpstream(tb testing.TB) *upstream {
	tb.Helper()
	return gittest.NewUpstream[Hash](tb)
}
