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

// visit is called with a path to check, or with the error of reading it. It returns
// false to stop.
type visit func(path string, err error) bool

// walk visits the files of paths, in order, each file once: files whatever their
// names, and the PO and POT files below folders, sorted by name in each folder.
//
// It does not follow links inside of folders: their targets are checked where they
// are, or belong to another project, and links may form loops.
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

// once skips files that were visited before. A single path needs no such check.
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
		root += string(filepath.Separator) // WalkDir follows no link, and with a / this is not one
	}
	going := true
	// The function returns no error except SkipAll, which WalkDir handles.
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil: // a folder that cannot be listed; go on with the next one
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

// isPO reports whether a name is the name of a PO or POT file.
func isPO(name string) bool {
	ext := filepath.Ext(name)
	return strings.EqualFold(ext, ".po") || strings.EqualFold(ext, ".pot")
}
