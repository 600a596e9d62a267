package object

import (
	"strings"
	"testing"
)

func TestIsLFSPointer(t *testing.T) {
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
	if !IsLFSPointer([]byte(pointer)) {
		t.Error("a pointer is not recognised")
	}
	for _, s := range []string{"", "msgid \"\"\n", pointer[1:], pointer + strings.Repeat("x", 2000), "version https://git-lfs.github.com/spec/v1\n"} {
		if IsLFSPointer([]byte(s)) {
			t.Errorf("%.60q is taken for a pointer", s)
		}
	}
}
