package testrepos

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// HostileCommits lists kinds whose commits are small in the repository, up to some
// hundred KB, and hold gigabytes of strings: 5 MB of them in each of so many files. They are
// not among Hostiles, since most of them take a process some seconds. The same kind is always
// made of the same bytes.
func HostileCommits(files int) []Hostile {
	return named([]Hostile{
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
