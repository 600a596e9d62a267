package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// hostileKind is a kind of repository that was made to hurt whoever reads it.
type hostileKind struct {
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

// hostileCanary is a text outside of every hostile repository that some lead to. It
// must appear nowhere.
const hostileCanary = "CANARY-OF-ANOTHER-USER"

// hostiles lists all kinds. The same kind is always made of the same bytes.
func hostiles() []hostileKind {
	list := append(hostileTrees(), hostileObjects()...)
	list = append(list, hostileFiles()...)
	return completed(append(list, hostileFolders()...))
}

// completed fills in what kinds leave out.
func completed(list []hostileKind) []hostileKind {
	for i := range list {
		list[i].Slug = cmp.Or(list[i].Slug, "app")
		list[i].Filemask = cmp.Or(list[i].Filemask, "po/*.po")
	}
	return list
}

// Create makes the repository in a new folder below dir, and returns its path. outside is
// a folder that no repository may lead to; a file and a repository are made there.
func (h *hostileKind) Create(dir, outside string) (path string, err error) {
	w := &hostileWriter{outside: outside, dir: filepath.Join(dir, h.Name+".git")}
	w.file(filepath.Join(w.outside, "secret"), hostileCanary+"\n")
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
func (w *hostileWriter) stream(kind plumbing.ObjectType, size int64, from io.Reader) plumbing.Hash {
	out, err := dotgit.New(osfs.New(w.dir)).NewObject()
	if err != nil {
		w.fail(err)
		return plumbing.ZeroHash
	}
	err = out.WriteHeader(kind, size)
	if err == nil {
		_, err = io.Copy(out, from)
	}
	w.fail(errors.Join(err, out.Close()))
	return out.Hash()
}

func (w *hostileWriter) object(kind plumbing.ObjectType, data string) plumbing.Hash {
	return w.stream(kind, int64(len(data)), strings.NewReader(data))
}

func (w *hostileWriter) blob(text string) plumbing.Hash { return w.object(plumbing.BlobObject, text) }

// treeLine is an entry of a tree.
type treeLine struct {
	mode, name string
	id         plumbing.Hash
}

// tree writes the entries in the order given.
func (w *hostileWriter) tree(lines ...treeLine) plumbing.Hash {
	var b bytes.Buffer
	for _, l := range lines {
		fmt.Fprintf(&b, "%s %s\x00%s", l.mode, l.name, l.id[:])
	}
	return w.object(plumbing.TreeObject, b.String())
}

// commit makes a commit with a tree the head of main.
func (w *hostileWriter) commit(tree plumbing.Hash, parents ...plumbing.Hash) plumbing.Hash {
	w.clock += 60
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author A <a@example.org> %d +0000\ncommitter A <a@example.org> %d +0000\n\nA commit\n", 1700000000+w.clock, 1700000000+w.clock)
	return w.head(w.object(plumbing.CommitObject, b.String()))
}

// head makes an object the head of main.
func (w *hostileWriter) head(id plumbing.Hash) plumbing.Hash {
	w.write("refs/heads/main", id.String()+"\n")
	return id
}

const (
	modeFile, modeDir, modeLink, modeModule = "100644", "40000", "120000", "160000"
	// smallPO is a sound file of one string.
	smallPO = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"One\"\nmsgstr \"Jedna\"\n"
)

// served commits files of the folder po, and returns the tree of that folder.
func (w *hostileWriter) served(lines ...treeLine) plumbing.Hash {
	po := w.tree(lines...)
	w.commit(w.tree(treeLine{modeDir, "po", po}))
	return po
}

// sound is a repository with nothing wrong but what comes after it.
func (w *hostileWriter) sound() plumbing.Hash {
	return w.commit(w.tree(treeLine{modeDir, "po", w.tree(treeLine{modeFile, "cs.po", w.blob(smallPO)})}))
}

// hostileCommits lists kinds whose commits are small in the repository, up to some
// hundred KB, and hold gigabytes of strings: 5 MB of them in each of so many files. They are
// not among hostiles, since most of them take a process some seconds. The same kind is always
// made of the same bytes.
func hostileCommits(files int) []hostileKind {
	return completed([]hostileKind{
		{Name: "long-strings", make: func(w *hostileWriter) { w.languages(files, distinctStrings(50, 100_000)) }},
		{Name: "short-strings", make: func(w *hostileWriter) { w.languages(4*files, distinctStrings(1000, 500)) }},
		{Name: "fat-components", Slug: "c-{component}", Filemask: "po/{component}/*.po", make: func(w *hostileWriter) {
			w.components(files, distinctStrings(50, 100_000))
		}},
		{Name: "one-file", make: func(w *hostileWriter) { w.doubled("msgid \"s\"\nmsgstr \"\"\n\n", 120<<20) }},
		{Name: "other-strings", make: func(w *hostileWriter) { w.differing(files/5, 50, 100_000) }},
		{Name: "many-commits", make: func(w *hostileWriter) { w.versions(files/5, 50, 100_000) }},
		{Name: "second-commit", make: func(w *hostileWriter) { // the first one is harmless
			first := w.sound()
			w.languages(files, distinctStrings(50, 100_000), first)
		}},
	})
}

// distinctStrings is a file of n strings whose translations have a length.
func distinctStrings(n, length int) string {
	var b strings.Builder
	b.WriteString(poHeader + "\n")
	for i := range n {
		fmt.Fprintf(&b, "\nmsgid \"s%d\"\nmsgstr \"%d%s\"\n", i, i, strings.Repeat("x", length))
	}
	return b.String()
}

// languages commits many files of one component that are one blob.
func (w *hostileWriter) languages(files int, text string, parents ...plumbing.Hash) {
	id := w.blob(text)
	lines := make([]treeLine, files)
	for i := range lines {
		lines[i] = treeLine{modeFile, fmt.Sprintf("x%04d.po", i), id}
	}
	w.commit(w.tree(treeLine{modeDir, "po", w.tree(lines...)}), parents...)
}

// components is languages with a folder for each file.
func (w *hostileWriter) components(files int, text string) {
	folder := w.tree(treeLine{modeFile, "cs.po", w.blob(text)})
	lines := make([]treeLine, files)
	for i := range lines {
		lines[i] = treeLine{modeDir, fmt.Sprintf("x%04d", i), folder}
	}
	w.served(lines...)
}

// differing commits files of n strings, none of which two of them share.
func (w *hostileWriter) differing(files, n, length int) {
	lines := make([]treeLine, files)
	for i, id := range w.different(files, n, length) {
		lines[i] = treeLine{modeFile, fmt.Sprintf("x%04d.po", i), id}
	}
	w.served(lines...)
}

// versions commits one file again and again, with other strings each time.
func (w *hostileWriter) versions(commits, n, length int) {
	var parents []plumbing.Hash
	for _, id := range w.different(commits, n, length) {
		parents = []plumbing.Hash{w.commit(w.tree(treeLine{modeDir, "po", w.tree(treeLine{modeFile, "cs.po", id})}), parents...)}
	}
}

// different makes files of n strings, none of which two of them share; each is stored as
// what differs from the first one.
func (w *hostileWriter) different(files, n, length int) (ids []plumbing.Hash) {
	const header = poHeader + "\n\n"
	long := strings.Repeat("x", length) + "\"\nmsgstr \"y\"\n\n"
	p, base, size := &hostilePack{}, 0, 0
	places := make([]int, n) // of long in the first file
	for i := range files {
		text, d := []byte(header), appendCopy(nil, 0, len(header))
		for k := range n {
			id := fmt.Sprintf("msgid \"s%d-%d", i, k)
			if i == 0 {
				places[k] = len(text) + len(id)
			}
			text = append(append(text, id...), long...)
			d = appendCopy(append(append(d, byte(len(id))), id...), places[k], len(long))
		}
		if i == 0 {
			base, size = p.object(3, text), len(text)
		} else {
			p.deltaOf(base, append(sizes(size, len(text)), d...))
		}
		ids = append(ids, plumbing.ComputeHash(plumbing.BlobObject, text))
	}
	w.pack(p, ids...)
	return ids
}

// doubled commits one file of up to size bytes that repeats an entry. Its pack has few
// of them, and then deltas that double them.
func (w *hostileWriter) doubled(entry string, size int) {
	const header, times = poHeader + "\n\n", 12
	text := []byte(header + strings.Repeat(entry, size/len(entry)>>times))
	p := &hostilePack{}
	at, ids := p.object(3, text), []plumbing.Hash{plumbing.ComputeHash(plumbing.BlobObject, text)}
	for range times {
		entries := text[len(header):]
		at = p.delta(at, len(text), len(text)+len(entries), [][2]int{{0, len(text)}, {len(header), len(entries)}})
		text = append(text, entries...)
		ids = append(ids, plumbing.ComputeHash(plumbing.BlobObject, text))
	}
	w.pack(p, ids...)
	w.served(treeLine{modeFile, "cs.po", ids[times]})
}
