package object

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// bareConfig is all the configuration of a mirror, with no remote: no credential is on disk.
const bareConfig = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[gc]\n\tauto = 0\n"

// Init makes an empty bare repository in gitDir.
func Init(gitDir string) error {
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(gitDir, filepath.FromSlash(dir)), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(gitDir, "config"), []byte(bareConfig), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(gitDir, "HEAD"), []byte("ref: refs/heads/.invalid\n"), 0o600)
}

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
	packs, _ := Packs(gitDir)
	loose, _ := os.ReadDir(filepath.Join(gitDir, "objects", "17"))
	return len(packs) > maxPacks || len(loose) > looseSample
}

// maxShallow bounds the list of commits at which a history ends: 400,000 of them.
const maxShallow = 16 << 20

// shallowText returns the list of commits where a repository's history ends; "": it is whole.
func shallowText(dir string) (string, error) {
	text, err := readText(dir, "shallow", maxShallow)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return text, err
}

// WriteShallow stores the commits where a history ends, a line each; without any it is whole.
func WriteShallow(gitDir, ends string) error {
	name := filepath.Join(gitDir, "shallow")
	if ends != "" {
		return WriteText(name, ends+"\n")
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store where history ends: %w", err)
	}
	return nil
}

// maxTextFile bounds small text files of a git directory: a loose ref has 41 bytes.
const maxTextFile = 64 << 10

// ReadText reads a small text file of a git directory (HEAD, a ref, alternates) without blanks
// around the text: a regular file of up to 64 KiB, which no symlink leads out of dir to.
func ReadText(dir, name string) (string, error) { return readText(dir, name, maxTextFile) }

func readText(dir, name string, most int64) (string, error) {
	f, err := openIn(dir, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if int64(len(data)) > most {
		return "", fmt.Errorf("%s: %w", path.Base(name), fs.ErrInvalid)
	}
	return strings.TrimSpace(string(data)), err
}

// openIn opens a regular file in a folder. name has slashes. A repository may be
// somebody else's: no symlink leads to other files of this machine (CVE-2022-39253),
// and a pipe or a device is refused without waiting for it.
func openIn(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		if info, lerr := root.Lstat(filepath.FromSlash(name)); lerr == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s: %w: %w", path.Base(name), fs.ErrInvalid, err)
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path.Base(name), fs.ErrInvalid)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// WriteText writes a small text file of a git directory, in one step also if the machine fails.
func WriteText(name, content string) error {
	return writeFile(name, ".tmp-*", func(f *os.File) error {
		if _, err := f.WriteString(content); err != nil {
			return err
		}
		return f.Sync() // otherwise a power failure may leave an empty file
	})
}

// Errors that have one of these causes wrap it.
var (
	// ErrUnknownCommit: the directory does not have this commit, or no longer
	// has it after a force push and a repack. Callers take a snapshot instead.
	ErrUnknownCommit = errors.New("commit is not in the mirror")
	// ErrUnknownObject: the directory does not have this file or tree object. The
	// id is wrong, the source was partial, or the directory is damaged.
	ErrUnknownObject = errors.New("object is not in the mirror")
	// ErrCorrupt: an object cannot be decoded.
	ErrCorrupt = errors.New("object is damaged")
	// ErrTooLarge: an object or a tree is larger than the limit given.
	ErrTooLarge = errors.New("too large")
)

// Damaged reports whether an error says that objects on disk are missing or broken. An unknown
// commit counts too, though it may only be gone after a force push. A caller that finds a
// mirror damaged while reading calls Mirror.Rebuild once.
func Damaged(err error) bool {
	return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrUnknownObject) || errors.Is(err, ErrUnknownCommit)
}

// objectError names the object, of the kind what, in an error, made one of those above.
func objectError(what string, h Hash, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnknownObject), errors.Is(err, ErrUnknownCommit),
		errors.Is(err, ErrCorrupt), errors.Is(err, ErrTooLarge):
		return fmt.Errorf("%s %s: %w", what, h, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s %s: %w", what, h, ErrUnknownObject)
	}
	return fmt.Errorf("%s %s: %w: %v", what, h, ErrCorrupt, err)
}

// Limits bound the pack that a remote sends. Make them with [NewLimits].
type Limits struct {
	// Bytes of the pack on disk.
	Bytes int64
	// Objects in the pack; each takes 400 bytes of memory while go-git makes its index.
	Objects int
	// Whole is the number of bytes of an object: it must be in memory whole.
	Whole int64
	// Total bounds the bytes of objects of the git directory with the pack; 0: no bound.
	Total int64

	total bool // Total is what bounds Bytes
}

// Within returns the limits for a pack into a git directory: Total counts what it has.
func (l Limits) Within(gitDir string) Limits {
	if l.Total <= 0 {
		return l
	}
	if left := max(0, l.Total-Size(gitDir)); left < l.Bytes {
		l.Bytes, l.total = left, true
	}
	return l
}

// Size is the bytes of the objects in a git directory, and in those that it borrows from.
func Size(gitDir string) (sum int64) {
	for _, objects := range ObjectDirs(gitDir) {
		dirs, _ := os.ReadDir(objects) // an error means that there is nothing to count
		for _, d := range dirs {
			files, _ := os.ReadDir(filepath.Join(objects, d.Name()))
			for _, f := range files {
				if info, err := f.Info(); err == nil && info.Mode().IsRegular() {
					sum += info.Size()
				}
			}
		}
	}
	return sum
}

const (
	// defaultMaxPack: the largest public repositories with translations have
	// packs of some 5 GiB.
	defaultMaxPack = 16 << 30
	// maxPackObjects: Linux has 10 million, and takes git.
	maxPackObjects = 2_000_000
	// maxWhole: GitHub takes no files above 100 MiB.
	maxWhole = 128 << 20
)

// LimitError says which limit a remote exceeds: "it sends more than …".
type LimitError string

// Error names the limit.
func (e LimitError) Error() string { return string(e) }

// TooManyBytes is the error for a pack of more than l.Bytes.
func (l Limits) TooManyBytes() error {
	if l.total {
		return LimitError(fmt.Sprintf("its mirror would have more than %d MiB, which quotas.mirror allows", l.Total>>20))
	}
	return LimitError(fmt.Sprintf("it sends a pack of more than %d MiB", l.Bytes>>20))
}

// NewLimits returns the limits for packs of up to maxPack bytes; 0 is 16 GiB.
func NewLimits(maxPack int64) Limits {
	if maxPack <= 0 {
		maxPack = defaultMaxPack
	}
	return Limits{Bytes: maxPack, Objects: maxPackObjects, Whole: maxWhole}
}
