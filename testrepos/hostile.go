package testrepos

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zlib"
)

// Hostile is a kind of repository that was made to hurt whoever reads it.
type Hostile struct {
	// Name names the kind; it is a name of a folder, too.
	Name string
	// Slug and Filemask are those of the component that reads it: "app" and
	// "po/*.po" unless the kind needs others.
	Slug, Filemask string
	// Fails is a part of the error of a pull that keeps to small quotas; "": the pull
	// succeeds, and what cannot be served is named as a problem of a file.
	Fails string

	make func(w *hostileWriter)
}

// HostileCanary is a text outside of every hostile repository that some lead to. It
// must appear nowhere.
const HostileCanary = "CANARY-OF-ANOTHER-USER"

// Hostiles lists all kinds. The same kind is always made of the same bytes.
func Hostiles() []Hostile {
	list := append(hostileTrees(), hostileObjects()...)
	list = append(list, hostileFiles()...)
	return named(append(list, hostileFolders()...))
}

// named completes kinds.
func named(list []Hostile) []Hostile {
	for i := range list {
		if list[i].Slug == "" {
			list[i].Slug = "app"
		}
		if list[i].Filemask == "" {
			list[i].Filemask = "po/*.po"
		}
	}
	return list
}

// Create makes the repository in a new folder below dir, and returns its path. outside is
// a folder that no repository may lead to; a file and a repository are made there.
func (h *Hostile) Create(dir, outside string) (path string, err error) {
	w := &hostileWriter{outside: outside, dir: filepath.Join(dir, h.Name+".git")}
	w.file(filepath.Join(w.outside, "secret"), HostileCanary+"\n")
	w.write("HEAD", "ref: refs/heads/main\n")
	w.write("config", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
	w.mkdir("objects")
	w.mkdir("refs/heads")
	h.make(w)
	if w.err != nil {
		return "", fmt.Errorf("hostile repository %s: %w", h.Name, w.err)
	}
	return w.dir, nil
}

// objectID is the id of an object.
type objectID [sha1.Size]byte

func (h objectID) String() string { return hex.EncodeToString(h[:]) }

// hostileWriter writes a bare repository whose objects need not be sound. It keeps
// its first error.
type hostileWriter struct {
	dir     string
	outside string // a folder of somebody else
	clock   int64
	err     error
}

func (w *hostileWriter) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *hostileWriter) file(path, text string) {
	w.fail(errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)))
}

func (w *hostileWriter) write(name, text string) { w.file(w.path(name), text) }
func (w *hostileWriter) path(name string) string {
	return filepath.Join(w.dir, filepath.FromSlash(name))
}
func (w *hostileWriter) mkdir(name string)  { w.fail(os.MkdirAll(w.path(name), 0o755)) }
func (w *hostileWriter) remove(name string) { w.fail(os.RemoveAll(w.path(name))) }

// link replaces a file of the repository by a symlink.
func (w *hostileWriter) link(name, target string) {
	w.remove(name)
	w.fail(os.Symlink(target, w.path(name)))
}

// stream writes a loose object of a size whose contents are read.
func (w *hostileWriter) stream(kind string, size int64, from func() io.Reader) (h objectID) {
	header := fmt.Sprintf("%s %d\x00", kind, size)
	sum := sha1.New()
	_, err := io.Copy(sum, io.MultiReader(bytes.NewReader([]byte(header)), from()))
	w.fail(err)
	sum.Sum(h[:0])
	name := w.path("objects/" + h.String()[:2] + "/" + h.String()[2:])
	if _, err := os.Lstat(name); err == nil {
		return h
	}
	w.fail(os.MkdirAll(filepath.Dir(name), 0o755))
	f, err := os.Create(name)
	if err != nil {
		w.fail(err)
		return h
	}
	out := bufio.NewWriterSize(f, 1<<16)
	z, err := zlib.NewWriterLevel(out, zlib.BestSpeed)
	w.fail(err)
	_, err = io.Copy(z, io.MultiReader(bytes.NewReader([]byte(header)), from()))
	w.fail(errors.Join(err, z.Close(), out.Flush(), f.Close()))
	return h
}

func (w *hostileWriter) object(kind, data string) objectID {
	return w.stream(kind, int64(len(data)), func() io.Reader { return bytes.NewReader([]byte(data)) })
}

func (w *hostileWriter) blob(text string) objectID { return w.object("blob", text) }

// treeLine is an entry of a tree.
type treeLine struct {
	mode, name string
	id         objectID
}

// tree writes the entries in the order given.
func (w *hostileWriter) tree(lines ...treeLine) objectID {
	var b bytes.Buffer
	for _, l := range lines {
		fmt.Fprintf(&b, "%s %s\x00%s", l.mode, l.name, l.id[:])
	}
	return w.object("tree", b.String())
}

// commit makes a commit with a tree the head of main.
func (w *hostileWriter) commit(tree objectID, parents ...objectID) objectID {
	w.clock += 60
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author A <a@example.org> %d +0000\ncommitter A <a@example.org> %d +0000\n\nA commit\n", 1700000000+w.clock, 1700000000+w.clock)
	return w.head(w.object("commit", b.String()))
}

// head makes an object the head of main.
func (w *hostileWriter) head(id objectID) objectID {
	w.write("refs/heads/main", id.String()+"\n")
	return id
}

const (
	modeFile, modeDir, modeLink, modeModule = "100644", "40000", "120000", "160000"
	// smallPO is a sound file of one string.
	smallPO = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"One\"\nmsgstr \"Jedna\"\n"
)

// served commits files of the folder po, and returns the tree of that folder.
func (w *hostileWriter) served(lines ...treeLine) objectID {
	po := w.tree(lines...)
	w.commit(w.tree(treeLine{modeDir, "po", po}))
	return po
}

// sound is a repository with nothing wrong but what comes after it.
func (w *hostileWriter) sound() objectID {
	return w.commit(w.tree(treeLine{modeDir, "po", w.tree(treeLine{modeFile, "cs.po", w.blob(smallPO)})}))
}
