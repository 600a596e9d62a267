package object

import (
	"os"
	"path/filepath"
	"strings"
)

const (
	// maxPacks: 150 packs make a walk 15 times slower and cost 160 descriptors.
	maxPacks = 50
	// looseSample: this many loose objects in one of the 256 directories mean
	// some 7,000 in all; git gc --auto uses the same estimate.
	looseSample = 27
)

// Crowded reports whether a git directory has so many packs or loose objects
// that reading becomes slow: more than 50 packs, or some 7,000 loose objects.
func Crowded(gitDir string) bool {
	packs, _ := os.ReadDir(filepath.Join(gitDir, "objects", "pack"))
	n := 0
	for _, p := range packs {
		if strings.HasSuffix(p.Name(), ".pack") {
			n++
		}
	}
	loose, _ := os.ReadDir(filepath.Join(gitDir, "objects", "17"))
	return n > maxPacks || len(loose) > looseSample
}
