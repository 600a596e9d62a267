package linebreak

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTableDrift makes table.go again, from the Unicode data of Perl.
func TestTableDrift(t *testing.T) {
	const need = "14.0.0"
	have, err := exec.Command("perl", "-MUnicode::UCD", "-e", "print Unicode::UCD::UnicodeVersion()").Output()
	if err != nil || string(have) != need {
		t.Skipf("needs a perl with the data of Unicode %s (5.36), has %q (%v)", need, have, err)
	}
	made := filepath.Join(t.TempDir(), "table.go")
	if out, err := exec.Command("go", "run", "maketable.go", "-o", made).CombinedOutput(); err != nil {
		t.Fatalf("maketable.go: %v\n%s", err, out)
	}
	got, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("table.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("table.go is not what maketable.go writes: go generate ./poparse/linebreak")
	}
}
