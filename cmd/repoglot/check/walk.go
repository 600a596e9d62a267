package check

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// StdinName is the name of the standard input in results.
const StdinName = "<stdin>"

// stdinArg is the path that means the standard input.
const stdinArg = "-"

// visit takes a path that is to be checked, or err if it cannot be looked at.
// It returns false to stop.
type visit func(path string, err error) bool

// walk visits what the paths name, in order, each file once: files as they are,
// and of folders the PO and POT files below them, sorted by name in each folder.
//
// Links inside of folders are not followed: what they lead to is checked where
// it lies, or belongs to somebody else, and so there are no loops.
func walk(paths []string, to visit) {
	to = once(paths, to)
	for _, p := range paths {
		info, err := os.Stat(p)
		switch {
		case p == stdinArg:
			err = nil
		case err == nil && info.IsDir():
			if !walkDir(p, to) {
				return
			}
			continue
		}
		if !to(p, err) {
			return
		}
	}
}

// once leaves out what was visited before. One path alone names nothing twice.
func once(paths []string, to visit) visit {
	if len(paths) < 2 {
		return to
	}
	seen := map[string]bool{}
	return func(path string, err error) bool {
		key := path
		if path != stdinArg {
			key = "./" + filepath.Clean(path)
		}
		if seen[key] {
			return true
		}
		seen[key] = true
		return to(path, err)
	}
}

// walkDir visits the files below a folder; false if it was stopped.
func walkDir(dir string, to visit) bool {
	root := dir
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		root += string(filepath.Separator) // WalkDir follows no link, but this is none then
	}
	going := true
	// The function returns no error but SkipAll, which WalkDir keeps.
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // a folder that cannot be listed; go on with its neighbours
			going = to(path, err)
		case path == root:
		case strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && isPO(d.Name()):
			going = to(path, nil)
		}
		if !going {
			return fs.SkipAll
		}
		return nil
	})
	return going
}

// isPO tells PO and POT files by their names.
func isPO(name string) bool {
	ext := filepath.Ext(name)
	return strings.EqualFold(ext, ".po") || strings.EqualFold(ext, ".pot")
}
