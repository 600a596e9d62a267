package object

import "bytes"

// File is one entry of a commit's tree.
type File struct {
	// Path from the root of the repository, with slashes. Bytes that a path should
	// not hold are written \xNN; filemask.CheckPath refuses such a path.
	Path string
	// Blob is the id of the contents; of a symlink, of its text.
	Blob Hash
	// Link is the text of a symlink; empty for a file.
	Link string
	// Target is the path inside the repository that Link leads to; empty for a
	// file, and where the link leaves the repository.
	Target string
}

// lfsPrefix begins every pointer file (git-lfs specification, version 1).
const lfsPrefix = "version https://git-lfs.github.com/spec/v1\n"

// IsLFSPointer reports whether a file only points to contents in Git LFS. Such a
// file is reported, not parsed.
func IsLFSPointer(data []byte) bool {
	return len(data) < 1024 && bytes.HasPrefix(data, []byte(lfsPrefix)) && bytes.Contains(data, []byte("\noid sha256:"))
}
