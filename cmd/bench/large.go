package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/repoglot/repoglot/testrepos"
)

// The limits of lists over a large database.
const (
	limitDeepLists = 2  // page 1,000, the last one and after_id against page 1
	limitLists     = 10 // ms, page 1 of 50
	largeRequests  = 60
	largeTimeout   = 10 * time.Minute // of the pull of one version
	uncached       = "max_file_size: 1GiB\nresponse_cache: 0\n"
)

// large measures lists of units and changes of a database with a million units and,
// for each version of their file, a million entries. Nothing is cached. Each version
// takes about half a minute, so that it runs only with -only large.
func (b *bench) large(ctx context.Context) error {
	started := time.Now()
	s, repo, err := b.serveGenerated(ctx, testrepos.GenSpec{Name: "large", Entries: pageEntries}, uncached)
	if err != nil {
		return err
	}
	defer s.stop()
	changes, err := s.pushVersions(ctx, repo.Repo, b.versions)
	if err != nil {
		return err
	}
	units, err := s.count("/api/units/")
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "large: %d units and %d entries, made in %.0f s\n", units, changes, time.Since(started).Seconds())
	for _, list := range []string{
		"/api/translations/bench/it/cs/units/", "/api/units/", "/api/translations/bench/it/cs/changes/", "/api/components/bench/it/changes/", "/api/changes/",
	} {
		if err := b.deepList(s, list, changes); err != nil {
			return err
		}
	}
	return nil
}

// pushVersions changes every string of the file a number of times and returns the
// number of entries after that.
func (s *server) pushVersions(ctx context.Context, repo *testrepos.Repo, versions int) (changes int64, err error) {
	const list = "/api/translations/bench/it/cs/changes/"
	data, err := repo.ReadFile(repo.Head(), "po/cs.po")
	if err != nil {
		return 0, err
	}
	header, entries, _ := strings.Cut(string(data), "\n\n")
	for v := range versions {
		before, err := s.count(list)
		if err != nil {
			return 0, err
		}
		file := header + "\n\n" + strings.ReplaceAll(entries, "msgstr \"", fmt.Sprintf("msgstr \"%d ", v))
		if _, err := repo.Push(testrepos.Change{Files: map[string]string{"po/cs.po": file}}); err != nil {
			return 0, err
		}
		err = s.waitUntil(largeTimeout, 200*time.Millisecond, fmt.Sprintf("version %d", v+1), func() (bool, error) {
			n, err := s.count(list)
			return n >= before+pageEntries/2, cmp.Or(err, ctx.Err()) // a step is one transaction
		})
		if err != nil {
			return 0, err
		}
	}
	return s.count("/api/changes/")
}

// deepList prints the rows of a list: page 1, and other pages against it.
func (b *bench) deepList(s *server, list string, changes int64) error {
	first, err := s.median(list+"?page_size=50", largeRequests)
	if err != nil {
		return err
	}
	b.row(list+", page 1", "ms", first, limitLists)
	others := []struct{ name, query string }{{"page 1,000", "&page=1000"}, {"last page", "&page=last"}}
	if strings.HasSuffix(list, "/changes/") {
		others = append(others, struct{ name, query string }{"after_id of the middle", fmt.Sprintf("&after_id=%d", changes/2)})
	}
	for _, o := range others {
		took, err := s.median(list+"?page_size=50"+o.query, largeRequests)
		if err != nil {
			return err
		}
		b.row(fmt.Sprintf("  %s (%.2f ms) against page 1", o.name, took), "×", took/first, limitDeepLists)
	}
	return nil
}

// The limits of pages of units, and what the peer reached.
const (
	limitPage     = 2   // ms, 50 units from the store
	limitDeep     = 2   // page 1,000 against page 1
	weblatePageMS = 300 // ms, 53,612 entries
	pageEntries   = 1_000_000
	pageRequests  = 300
)

// page measures pages of units of a translation of a million.
func (b *bench) page(ctx context.Context) error {
	s, _, err := b.serveGenerated(ctx, testrepos.GenSpec{Name: "page", Entries: pageEntries}, uncached)
	if err != nil {
		return err
	}
	defer s.stop()
	const pages = "/api/translations/bench/it/cs/units/?page_size=50&page="
	first, err := s.median(pages+"1", pageRequests)
	if err != nil {
		return err
	}
	deep, err := s.median(pages+"1000", pageRequests)
	if err != nil {
		return err
	}
	b.row(fmt.Sprintf("page of 50 units of %d, over HTTP, median of %d", pageEntries, pageRequests), "ms", first, limitPage)
	b.row("  against Weblate 5.4.2 (recorded, 53,612 entries)", "ms", first, weblatePageMS)
	b.row("  page 1,000 against page 1", "×", deep/first, limitDeep)
	return nil
}
