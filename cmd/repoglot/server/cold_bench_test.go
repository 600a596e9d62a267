//go:build unix

package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// BenchmarkCold measures pages of a project of 263 components in up to 60 languages, and of a
// component of 105 languages without a template, none of which is kept: by processor time of the
// process, which others on the machine do not lengthen. `first` is the first answer of a process.
// Run it with
//
//	go test ./cmd/repoglot/server -run '^$' -bench Cold -benchtime 9x
func BenchmarkCold(b *testing.B) {
	const parts, languages, large, few, commits = 263, 60, 105, 30, 300
	words := strings.Fields("the window file could not be opened because its name has a sign that this system does not know please choose another one")
	file := func(code string, strings, translated int) string {
		text := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
		for i := range strings {
			said := ""
			if i < translated {
				said = fmt.Sprintf("%s %s %d %s", code, words[i%len(words)], i, words[i*7%len(words)])
			}
			text += fmt.Sprintf("\n#: src/file%d.c:%d\nmsgid \"%s %s %d %s\"\nmsgstr \"%s\"\n", i/100, i, words[i%len(words)], words[i*3%len(words)], i, words[i*5%len(words)], said)
		}
		return text
	}
	code := func(i int) string {
		if i == 0 {
			return "de"
		}
		return fmt.Sprintf("x%c%c", 'a'+i/26, 'a'+i%26)
	}
	files, paths := map[string]string{}, []string{}
	for part := range parts {
		files[fmt.Sprintf("applets/part%03d/po/part%03d.pot", part, part)] = file("", few, 0)
		for l := range languages {
			if path := fmt.Sprintf("applets/part%03d/po/%s.po", part, code(l)); l == 0 || (part*7+l*l)%languages > l {
				files[path] = file(code(l), few, few-(part+l)%7)
				paths = append(paths, path)
			}
		}
	}
	for l := range large {
		files["editor/"+code(l)+".po"] = file(code(l), 700+l, 600)
		paths = append(paths, "editor/"+code(l)+".po")
	}
	repo, day := testrepos.Empty(b), time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	repo.Commit(b, testrepos.Change{Files: files, When: day})
	for i := range commits {
		changed := map[string]string{}
		for j := range 12 {
			path := paths[(i*977+j*389)%len(paths)]
			files[path] = strings.Replace(files[path], "msgstr \""+strings.TrimSuffix(path[strings.LastIndex(path, "/")+1:], ".po"), fmt.Sprint("msgstr \"", i, " "), 1)
			changed[path] = files[path]
		}
		repo.Commit(b, testrepos.Change{Files: changed, When: day.Add(time.Duration(i) * 60 * time.Hour), Author: fmt.Sprintf("Person %d <p%d@example.org>", i%40, i%40)})
	}
	w := catalogtest.NewPuller(b, repo.URL(), map[string]catalog.ComponentSettings{
		"applets-{component}": {Filemask: "applets/{component}/po/*.po", NewBase: "applets/{component}/po/{component_name}.pot", History: catalog.History{Full: true}},
		"editor":              {Filemask: "editor/*.po", History: catalog.History{Full: true}},
	})
	w.Sync()
	b.Logf("%d files", len(files))
	used := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	for _, page := range []string{
		"/", "/projects/demo/", "/projects/demo/?page=7", "/projects/demo/?sort=left&cols=3", "/projects/demo/applets-part007/",
		"/projects/demo/applets-part007/de/", "/projects/demo/editor/", "/projects/demo/editor/de/", "/translate/demo/editor/de/",
		"/translate/demo/editor/de/?q=window", "/translate/demo/editor/de/?q=has:check", "/languages/", "/languages/de/", "/languages/de/demo/", "/engage/demo/", "/changes/",
		"/changes/browse/demo/", "/changes/browse/demo/editor/", "/checks/", "/checks/end_space/", "/search/?q=system&lang=de", "/search/?q=window", "/user/person-7/",
		"/new-lang/demo/editor/", "/projects/",
	} {
		b.Run(page, func(b *testing.B) {
			w.Close()
			w.Open()
			s := api.New(api.Options{DB: w.DB, Languages: w.Languages, Now: func() time.Time { return day.AddDate(2, 1, 0) }, CacheBytes: -1, Commits: commitsOf(w)})
			var times []time.Duration
			ask := func() {
				before := used()
				_, rec := catalogtest.Send(s, http.MethodGet, page, "Accept", catalogtest.Browser, "Accept-Language", "de")
				times = append(times, used()-before)
				if rec.Code != http.StatusOK {
					b.Fatal(page, rec.Code)
				}
			}
			ask()
			for b.Loop() {
				ask()
			}
			ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
			b.ReportMetric(ms(times[0]), "cpu-ms-first")
			slices.Sort(times[1:])
			b.ReportMetric(ms(times[1+len(times[1:])/2]), "cpu-ms-median")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// commitsOf reads commits of what a puller pulled.
func commitsOf(w *catalogtest.Puller) commits {
	return commits{w.Syncer, &Engine{db: w.DB, languages: w.Languages}}
}
