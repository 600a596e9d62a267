package testrepos

import (
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
		{Name: "one-file", make: func(w *hostileWriter) {
			const entry = "msgid \"s\"\nmsgstr \"\"\n\n"
			w.served(treeLine{modeFile, "cs.po", w.blob(poHeader + "\n\n" + strings.Repeat(entry, 120<<20/len(entry)))})
		}},
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

// different makes files of n strings, none of which two of them share.
func (w *hostileWriter) different(files, n, length int) (ids []plumbing.Hash) {
	long := strings.Repeat("x", length) + "\"\nmsgstr \"y\"\n\n"
	for i := range files {
		var b strings.Builder
		b.WriteString(poHeader + "\n\n")
		for k := range n {
			fmt.Fprintf(&b, "msgid \"s%d-%d%s", i, k, long)
		}
		ids = append(ids, w.blob(b.String()))
	}
	return ids
}
