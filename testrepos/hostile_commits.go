package testrepos

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// HostileCommits lists kinds whose commits are small in the repository, up to some
// hundred KB, and hold gigabytes of strings. They are not among Hostiles, since most of
// them take a process some seconds. The same kind is always made of the same bytes.
func HostileCommits() []Hostile {
	return named([]Hostile{
		{Name: "long-strings", make: func(w *hostileWriter) { w.languages(1000, distinctStrings(50, 100_000)) }},
		{Name: "short-strings", make: func(w *hostileWriter) { w.languages(4000, distinctStrings(1000, 500)) }},
		{Name: "fat-components", Slug: "c-{component}", Filemask: "po/{component}/*.po", make: func(w *hostileWriter) {
			w.components(1000, distinctStrings(50, 100_000))
		}},
		{Name: "one-file", make: func(w *hostileWriter) { w.doubled("msgid \"s\"\nmsgstr \"\"\n\n", 120<<20) }},
		{Name: "other-strings", make: func(w *hostileWriter) { w.differing(200, 50, 100_000) }},
		{Name: "many-commits", make: func(w *hostileWriter) { w.versions(200, 50, 100_000) }},
		{Name: "second-commit", make: func(w *hostileWriter) { // the first one is harmless
			first := w.sound()
			w.languages(1000, distinctStrings(50, 100_000), first)
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
func (w *hostileWriter) languages(files int, text string, parents ...objectID) {
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
	var parents []objectID
	for _, id := range w.different(commits, n, length) {
		parents = []objectID{w.commit(w.tree(treeLine{modeDir, "po", w.tree(treeLine{modeFile, "cs.po", id})}), parents...)}
	}
}

// different makes files of n strings, none of which two of them share; each is stored as
// what differs from another one.
func (w *hostileWriter) different(files, n, length int) (ids []objectID) {
	pack, err := newPackWriter(w.dir)
	if err != nil {
		w.fail(err)
		return nil
	}
	long := strings.Repeat("x", length) + "\"\nmsgstr \"y\"\n\n"
	versions := chain{kind: plumbing.BlobObject}
	for i := range files {
		segments := []string{poHeader + "\n\n"}
		for k := range n {
			segments = append(segments, fmt.Sprintf("msgid \"s%d-%d", i, k), long)
		}
		id, err := pack.add(&versions, segments)
		w.fail(err)
		ids = append(ids, objectID(id))
	}
	w.fail(errors.Join(pack.flush(&versions), pack.close()))
	return ids
}

// doubled commits one file of up to size bytes that repeats an entry. Its pack has few
// of them, and then deltas that double them.
func (w *hostileWriter) doubled(entry string, size int) {
	pack, err := newPackWriter(w.dir)
	if err != nil {
		w.fail(err)
		return
	}
	const header = poHeader + "\n\n"
	var id plumbing.Hash
	most, before, at := size/len(entry), 0, int64(0)
	for n := most >> 12; n <= most; n *= 2 {
		file := []string{header, strings.Repeat(entry, n)}
		id, err = pack.identify(plumbing.BlobObject, file)
		w.fail(err)
		kind, base, length := plumbing.BlobObject, at, len(header)+n*len(entry)
		data := []byte(header + file[1][:most>>12*len(entry)])
		if before > 0 {
			kind, data = plumbing.OFSDeltaObject, copying(before, length, [][2]int{{0, before}, {len(header), before - len(header)}})
		}
		packedData, err := pack.compress(data)
		w.fail(err)
		at = pack.offset
		w.fail(pack.object(kind, packed{id, len(data), packedData}, at-base))
		before = length
	}
	w.fail(pack.close())
	w.served(treeLine{modeFile, "cs.po", objectID(id)})
}
