package push_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/poparse"
)

// moveTemplate has others push another template: strings come, go, are reworded, or only
// change their place. Who moves a string decides what becomes of its texts.
func (m *model) moveTemplate() {
	was := m.pot
	all := append(slices.Clone(modelStrings["app"]), "String 1, reworded", "Another one", "And one more")
	m.rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	m.pot = all[:3+m.rnd.IntN(len(all)-2)]
	for _, id := range append(slices.Clone(all), was...) {
		if !slices.Contains(was, id) || !slices.Contains(m.pot, id) {
			m.closed[id] = true
		}
	}
	m.others()
}

// settledUpdates looks at each file that we pushed: msgfmt -c takes it, and it has each string
// once; one that was updated has the strings of its template. It returns the number of updates.
func (m *model) settledUpdates() (updates int) {
	m.t.Helper()
	log := gittest.RunGit(m.t, m.up.Dir, "-c", "core.quotePath=false", "log", "--branches", "--no-merges", "--committer=noreply@example.org", "--format=\x1e%H\n%s", "--name-only")
	for _, commit := range strings.Split(log, "\x1e")[1:] {
		lines := strings.Split(commit, "\n")
		id, err := object.ParseHash(lines[0])
		gittest.Must(m.t, err)
		files := filesAt(m.TB, m.up, id)
		for _, path := range lines[2:] {
			text, there := files[path]
			if !there || !strings.HasPrefix(path, "po/") || strings.HasPrefix(text, "->") || filepath.Ext(path) != ".po" {
				continue
			}
			compiles(m.TB, path, text)
			if !strings.Contains(lines[1], "msgmerge") {
				continue
			}
			updates++
			if got, want := m.strings(path, text), m.strings("app.pot", files["app.pot"]); !slices.Equal(got, want) {
				m.t.Errorf("%s at %s has %q, its template %q", path, id, got, want)
			}
		}
	}
	return updates
}

// compiles has msgfmt -c look at a file.
func compiles(tb testing.TB, path, text string) {
	tb.Helper()
	if _, err := exec.LookPath("msgfmt"); err != nil {
		return
	}
	msgfmt := exec.CommandContext(tb.Context(), "msgfmt", "-c", "-o", os.DevNull, "-")
	msgfmt.Stdin = strings.NewReader(text)
	if out, err := msgfmt.CombinedOutput(); err != nil {
		tb.Errorf("%s: %v: %s\n%s", path, err, out, text)
	}
}

// strings are the sources of the live strings of a file.
func (m *model) strings(path, text string) (ids []string) {
	m.t.Helper()
	f, err := poparse.Parse(path, []byte(text))
	gittest.Must(m.t, err)
	for e := range f.Live() {
		ids = append(ids, e.ID)
	}
	slices.Sort(ids)
	return ids
}
