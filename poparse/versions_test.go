package poparse

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/repoglot/repoglot/poparse/gettexttest"
)

// TestVersionsOfBundles reads all versions of all files of real repositories with one
// Reader, in the order of their history. Each is what it is when it is read alone.
func TestVersionsOfBundles(t *testing.T) {
	bundles, err := filepath.Glob(filepath.Join(gettexttest.Shared(t, "data", "repos"), "*.bundle"))
	must(t, err)
	for _, bundle := range bundles {
		t.Run(filepath.Base(bundle), func(t *testing.T) {
			dir := cloneBundle(t, bundle)
			list := historyOf(t, dir)
			if testing.Short() {
				list = list[:min(len(list), 200)]
			}
			var r Reader
			for chunk := range slices.Chunk(list, 200) {
				readBlobs(t, dir, chunk)
				for i := range chunk {
					checkVersion(t, &r, &chunk[i])
					chunk[i].data = nil
				}
			}
			t.Logf("%d versions", len(list))
		})
	}
}

func checkVersion(t *testing.T, r *Reader, b *blob) {
	want, wantErr := Parse(b.path, b.data)
	got, err := r.Parse(b.path, b.data)
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Fatalf("%s at %s: %v, alone %v", b.path, b.id, err, wantErr)
	}
	if err != nil {
		return
	}
	want.source = nil
	if !reflect.DeepEqual(want, got) { // cmp takes minutes for all
		t.Errorf("%s at %s (-alone +Reader):\n%s", b.path, b.id, cmp.Diff(want, got, cmpopts.IgnoreUnexported(File{}), cmpopts.EquateEmpty()))
	}
}

// historyOf lists the versions of PO files in the first-parent history.
func historyOf(t *testing.T, dir string) (list []blob) {
	out := git(t, dir, "log", "--reverse", "--first-parent", "-m", "--raw", "--no-abbrev", "--no-renames", "--format=", "--", "*.po", "*.pot")
	for line := range strings.Lines(string(out)) {
		meta, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		fields := strings.Fields(meta)
		if ok && len(fields) == 5 && fields[1] == "100644" {
			list = append(list, blob{path: path, id: fields[3]})
		}
	}
	return list
}
