package catalog_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

// TestHashVectors has the values that Weblate computes (docs/compatibility.md#hashes).
func TestHashVectors(t *testing.T) {
	for _, c := range []struct {
		source, context string
		mono            bool
		content, id     int64
		checksum        string
	}{
		{"mr", "", false, 3515632860997702012, 3515632860997702012, "b0ca0975e075517c"},
		{"String 'B'", "B", true, 5871207942681564553, 94239120442185084, "814ecdfb11e6d57c"},
		{"Orangutan has %d banana.\n\x1e\x1eOrangutan has %d bananas.\n", "", false, 2097404709965985808, 2097404709965985808, "9d1b7a789fc0f810"},
		{"Open", "menu", false, -1293144710616949837, -1293144710616949837, "6e0dd3bcb0805bb3"},
		{"日本語", "文脈", false, 3169443328167425865, 3169443328167425865, "abfc1fea1f26b749"},
		{"string 3", "", false, -8998529377531235556, -8998529377531235556, "31ecd351755731c"},
		{"", "", false, 2141328909150225308, 2141328909150225308, "9db7874c312c839c"},
	} {
		checkVector(t, c.source, c.context, c.mono, c.content, c.id, c.checksum)
	}
}

// TestHashVectorsShared checks the vectors in a file beside the repository.
func TestHashVectorsShared(t *testing.T) {
	data, err := os.ReadFile("../../shared/data/hash-vectors.json")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the hash vectors must be there in CI: %v", err)
		}
		t.Skipf("skipped: the recorded hashes are not in the repository: %v", err)
	}
	var vectors []struct {
		Source      string `json:"source"`
		Context     string `json:"context"`
		Monolingual bool   `json:"monolingual"`
		ContentHash int64  `json:"content_hash"`
		IDHash      int64  `json:"id_hash"`
		Checksum    string `json:"checksum_4x"`
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 14 {
		t.Fatalf("%d vectors, want at least 14", len(vectors))
	}
	for _, v := range vectors {
		checkVector(t, v.Source, v.Context, v.Monolingual, v.ContentHash, v.IDHash, v.Checksum)
	}
}

func checkVector(t *testing.T, source, context string, mono bool, content, id int64, checksum string) {
	t.Helper()
	var h catalog.Hasher
	if got := h.Identity(source, context).Hash; got != content {
		t.Errorf("the content_hash of %q, %q is %d, want %d", source, context, got, content)
	}
	if mono { // the id_hash is the hash of the context alone
		source = ""
	}
	got := h.Identity(source, context).Hash
	if got != id {
		t.Errorf("the id_hash of %q, %q (%v) is %d, want %d", source, context, mono, got, id)
	}
	if sum := catalog.Checksum(got); sum != checksum {
		t.Errorf("Checksum(%d) = %s, want %s", got, sum, checksum)
	}
	for _, s := range []string{checksum, "0" + checksum} {
		if back, ok := catalog.ParseChecksum(s); !ok || back != id {
			t.Errorf("ParseChecksum(%q) = %d, %v, want %d", s, back, ok, id)
		}
	}
}

func TestParseChecksumRefusesNonsense(t *testing.T) {
	for _, s := range []string{"", "xyz", "-1", "10000000000000000"} {
		if _, ok := catalog.ParseChecksum(s); ok {
			t.Errorf("ParseChecksum(%q) is ok", s)
		}
	}
}

// TestIdentityTellsCollisionsApart checks that our hash separates source and context,
// unlike the hash of the API.
func TestIdentityTellsCollisionsApart(t *testing.T) {
	var h catalog.Hasher
	a, b := h.Identity("Open", "menu"), h.Identity("Openm", "enu")
	if a.Hash != b.Hash {
		t.Errorf("the hashes differ: %d and %d", a.Hash, b.Hash)
	}
	if a == b {
		t.Error("two strings share an identity")
	}
}

func TestTextFingerprint(t *testing.T) {
	var h catalog.Hasher
	base := h.Text("a\x1e\x1eb", catalog.StateTranslated)
	if base == h.Text("a\x1e\x1eb", catalog.StateFuzzy) {
		t.Error("the state is not part of the fingerprint")
	}
	if base != h.Text("a\x1e\x1eb\x1e\x1e", catalog.StateTranslated) {
		t.Error("a trailing empty form changes the fingerprint")
	}
	if base == h.Text("a\x1e\x1e\x1e\x1eb", catalog.StateTranslated) {
		t.Error("an inner empty form does not change the fingerprint")
	}
	if h.Meta("ab", "") == h.Meta("a", "b") {
		t.Error("Meta does not separate its parts")
	}
}
