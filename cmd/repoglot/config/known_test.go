package config_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

// manyStyles is a configuration with components in the styles that files have.
const manyStyles = `data_dir: ./data
bots: [a, "- {slug: quoted, repo: https://h.example/q.git, filemask: q/*.po}"]
# - {slug: comment, repo: https://h.example/c.git, filemask: c/*.po}
projects:
  - slug: one
    name: |
      - {slug: flow, repo: https://h.example/flow.git, filemask: "po/*.po"}
    components:
      - {slug: flow, repo: https://h.example/flow.git, filemask: "po/*.po"}
      - {slug: flow2, repo: ./local.git, filemask: po/*.po, new_base: po/x.pot}
      - slug: block
        repo: https://h.example/block.git
        filemask: po/*.po
      # between
      - slug: lists
        repo: &address https://h.example/lists.git
        enforced_checks:
        - c_format

        filemask: po/*.po
      - slug: alias
        repo: *address
        filemask: a/*.po
      - slug: comment
        # within
        repo: https://h.example/comment.git
    # less indented
        filemask: po/*.po
      - {slug: lines, repo: https://h.example/l.git,
         filemask: po/*.po}
  - slug: two
    components:
      - {slug: flow, repo: https://h.example/flow.git, filemask: "po/*.po"}
      - {slug: env, repo: https://h.example/e.git, filemask: po/*.po, webhook_secret_env: HOOK}
      -
        slug: alone
        repo: https://h.example/alone.git
        filemask: po/*.po
      - slug: last
        repo: https://h.example/last.git
        check_flags: it's odd, no-such-flag
        filemask: po/*.po
`

// sameAsWhole compares a new version that is read after an old one with the same text
// read alone.
func sameAsWhole(t *testing.T, before *config.Config, text []byte) *config.Config {
	t.Helper()
	environ := []string{"HOOK=secret"}
	want, wantErr := config.Parse("/etc/repoglot/r.yaml", text, environ)
	got, err := config.ParseAfter(before, "/etc/repoglot/r.yaml", text, environ)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("error %v, want %v\n%s", err, wantErr, text)
	}
	if err != nil {
		return nil
	}
	if !reflect.DeepEqual(got.Projects, want.Projects) || !reflect.DeepEqual(got.Bots, want.Bots) || !slices.Equal(got.Warnings(), want.Warnings()) {
		t.Fatalf("after another version:\n%+v\nalone:\n%+v\n%s", got.Projects, want.Projects, text)
	}
	if got.File() != want.File() || got.DataDir != want.DataDir {
		t.Fatalf("%s, %s; want %s, %s", got.File(), got.DataDir, want.File(), want.DataDir)
	}
	return got
}

// TestChangedFile: a new version of a file, of which only what changed is read, means
// what it means when it is read alone.
func TestChangedFile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	before, err := config.Parse("/etc/repoglot/r.yaml", []byte(manyStyles), nil)
	must(t, err)
	sameAsWhole(t, before, []byte(manyStyles))
	text, kept := manyStyles, 0
	for range 400 {
		next := editLines(random, text)
		if c := sameAsWhole(t, before, []byte(next)); c != nil {
			before, text, kept = c, next, kept+1
		}
		if random.IntN(40) == 0 {
			text = manyStyles
		}
	}
	if kept < 60 {
		t.Errorf("only %d versions have no mistake", kept)
	}
}

// editLines moves, repeats, removes, indents or changes lines.
func editLines(random *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	at, other := random.IntN(len(lines)), random.IntN(len(lines))
	switch random.IntN(8) {
	case 0:
		lines = slices.Delete(lines, at, at+1)
	case 1:
		lines = slices.Insert(lines, at, lines[other])
	case 2:
		lines[at], lines[other] = lines[other], lines[at]
	case 3:
		lines[at] = "  " + lines[at]
	case 4:
		lines[at] = strings.TrimPrefix(lines[at], "  ")
	case 5:
		lines = slices.Insert(lines, at, "\n")
	default:
		lines[at] = strings.Replace(lines[at], "slug: ", fmt.Sprintf("slug: x%d", random.IntN(99)), 1)
	}
	return strings.Join(lines, "")
}

// TestChangedFileIsNotReadWhole: of two thousand components, one that changed is read.
func TestChangedFileIsNotReadWhole(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("projects:\n  - slug: p\n    components:\n")
	for i := range 2_000 {
		fmt.Fprintf(&b, "      - {slug: c%d, repo: /srv/%d.git, filemask: po/*.po}\n", i, i%100)
	}
	c, err := config.Parse("/r.yaml", b.Bytes(), nil)
	must(t, err)
	changed := bytes.Replace(b.Bytes(), []byte("{slug: c500,"), []byte("{slug: c500, license: MIT,"), 1)
	if rest := config.Unknown(c, changed); len(rest) > 400 || !bytes.Contains(rest, []byte("license: MIT")) {
		t.Errorf("%d of %d bytes are read: %.500s", len(rest), len(changed), rest)
	}
	for _, text := range [][]byte{changed, append(changed, "# a comment\n"...), b.Bytes()} {
		if c = sameAsWhole(t, c, text); len(c.Projects[0].Components) != 2_000 {
			t.Fatalf("%d components", len(c.Projects[0].Components))
		}
	}
}

// FuzzChangedFile is TestChangedFile for any two versions.
func FuzzChangedFile(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		f.Add([]byte(manyStyles), []byte(editLines(random, manyStyles)))
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		c, err := config.Parse("/etc/repoglot/r.yaml", before, nil)
		if err == nil {
			sameAsWhole(t, c, after)
		}
	})
}
