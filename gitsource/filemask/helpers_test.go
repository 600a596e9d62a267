package filemask

import (
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

func TestMain(m *testing.M) { gittest.Main(m) }

func mask(tb testing.TB, text string) Mask {
	tb.Helper()
	m, err := Parse(text)
	gittest.Must(tb, err)
	return m
}
