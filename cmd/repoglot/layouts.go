package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/repourl"
	"github.com/repoglot/repoglot/poparse"
)

// layouts fetches a repository and finds the translation files at its head. No file
// is an error.
func layouts(ctx context.Context, mirror *gitsource.Mirror, languages *lang.Table, address string) (filemask.Discovery, object.Head, error) {
	head, err := mirror.Fetch(ctx)
	if err != nil {
		return filemask.Discovery{}, head, err
	}
	reader, err := mirror.Reader(ctx)
	if err != nil {
		return filemask.Discovery{}, head, err
	}
	defer reader.Close()
	files, err := reader.Snapshot(ctx, head.Hash, func(p string) bool {
		return strings.HasSuffix(p, ".po") || strings.HasSuffix(p, ".pot")
	}, nil)
	if err != nil {
		return filemask.Discovery{}, head, err
	}
	d := filemask.Discover(files, filemask.DiscoverOptions{
		Known: func(code string) (string, bool) {
			l, ok := languages.Lookup(code)
			return l.Code, ok
		},
		Language: languageOf(ctx, reader, languages),
		Default:  nameLanguage(repoName(address), languages),
	})
	if len(d.Sets) == 0 {
		return d, head, fmt.Errorf("%s: no PO files whose path tells a language were found: write a configuration with a filemask", repourl.Redact(address))
	}
	return d, head, ctx.Err()
}

// maxHeaders bounds the files that are read for their language.
const maxHeaders = 1000

// languageOf returns a function that reads the language of a file from its header.
func languageOf(ctx context.Context, reader *gitsource.Reader, languages *lang.Table) func(object.File) string {
	left := maxHeaders
	return func(f object.File) string {
		if left--; left < 0 {
			return ""
		}
		data, err := reader.Blob(ctx, f.Blob, maxHeaderFile)
		if err != nil {
			return ""
		}
		po, err := poparse.Parse(f.Path, data)
		if err != nil {
			return ""
		}
		l, _ := languages.Lookup(strings.TrimSpace(po.Field("Language")))
		return l.Code
	}
}

// maxHeaderFile bounds a file that is read for its language.
const maxHeaderFile = 4 << 20

// nameLanguage is the language at the end of a repository's name, such as
// manual-es or python-docs-pt-br; "" if it has none.
func nameLanguage(name string, languages *lang.Table) string {
	for i := range len(name) {
		if i > 0 && (name[i-1] == '-' || name[i-1] == '_' || name[i-1] == '.') {
			if l, ok := languages.Lookup(name[i:]); ok {
				return l.Code
			}
		}
	}
	return ""
}
