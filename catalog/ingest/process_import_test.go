package ingest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The limits of imports and replays, and what the peer reached.
const (
	limitUnits     = 50000 // units/s of a first import, after the clone
	weblateUnits   = 270   // units/s, the same repository
	limitRSS       = 400   // MiB, clone included
	limitEntries   = 30000 // change entries/s of a replay
	limitCommits   = 500   // first-parent commits/s of a replay
	limitReplayRSS = 350   // MiB
	limitRestart   = 500   // ms
	importRuns     = 3
	restarts       = 5 // of a server, measured
)

// importHead measures a first import with and without the clone.
func (r *run) importHead() {
	what, repo, settings := "vim-po", r.bundle("vim-po"), replayedRepos()[0].components["it"]
	if repo == "" {
		what, settings = "a generated repository", []string{poMask}
		repo = GenSpec{Languages: Languages(30), Entries: 3200}.Generate(r).Path()
	}
	config := r.config("", benchProject(component("it", repo, "none", settings...)))
	first := r.sync(config)
	best := r.syncAgain(config, importRuns)
	units, _ := r.countIn(config, "/api/units/")
	rate := float64(units) / best.wall.Seconds()
	r.atLeast(fmt.Sprintf("first import of %s, %d units, whole process", what, units), "units/s", rate, limitUnits)
	r.atLeast("  against Weblate 5.4.2 (recorded)", "x", rate/weblateUnits, 1)
	r.figure("  processor time", "s", best.cpu.Seconds())
	r.atMost("  peak RSS with go-git's clone", "MiB", first.rss, limitRSS)
	r.atMost("  peak RSS of the import alone", "MiB", best.rss, limitRSS)
}

// replayed is a repository whose history is replayed. One of the rates is limited.
type replayed struct {
	name       string
	components map[string][]string // settings by slug
	entries    bool                // the limit is on entries/s, else on commits/s
}

func replayedRepos() []replayed {
	const anyLanguage = `language_regex: ".*"`
	return []replayed{
		{"vim-po", map[string][]string{"it": {"filemask: src/po/*.po", "new_base: src/po/vim.pot", anyLanguage}}, true},
		{"gtranslator-po", map[string][]string{"it": {poMask, anyLanguage}, "help": {"filemask: help/*/*.po", anyLanguage}}, true},
		{"switchboard", map[string][]string{
			"it":    {poMask, "new_base: po/io.elementary.settings.pot", anyLanguage},
			"extra": {"filemask: po/extra/*.po", "new_base: po/extra/extra.pot", anyLanguage},
		}, false},
	}
}

// replay measures replays of whole histories, as whole processes with an existing
// mirror, and the start of a server after them.
func (r *run) replay() {
	for _, replayed := range replayedRepos() {
		if repo := r.bundle(replayed.name); repo != "" {
			r.replayOne(replayed, repo)
		}
	}
}

func (r *run) replayOne(replayed replayed, repo string) {
	var components []string
	for slug, settings := range replayed.components {
		components = append(components, component(slug, repo, "full", settings...))
	}
	slices.Sort(components)
	config := r.config("", benchProject(components...))
	r.sync(config) // makes the mirror
	best := r.syncAgain(config, importRuns)
	var entries int64
	starts := make([]time.Duration, restarts)
	for i := range starts {
		entries, starts[i] = r.countIn(config, "/api/changes/")
	}
	idle := r.sync(config) // also finds out that there is nothing to pull
	_, out := r.command("git", "-C", repo, "rev-list", "--first-parent", "--count", "HEAD")
	commits, err := strconv.Atoi(out)
	r.must(err)
	what := fmt.Sprintf("replay of %s, %d entries, %d commits, best of %d", replayed.name, entries, commits, importRuns)
	if replayed.entries {
		r.atLeast(what, "entries/s", float64(entries)/best.wall.Seconds(), limitEntries)
	} else {
		r.atLeast(what, "commits/s", float64(commits)/best.wall.Seconds(), limitCommits)
	}
	r.figure("  processor time", "s", best.cpu.Seconds())
	r.atMost("  peak RSS, highest", "MiB", best.rss, limitReplayRSS)
	r.atMost("  restart until ready, median", "ms", median(starts), limitRestart)
	r.atMost("  sync that finds nothing, start to exit", "ms", inMS(idle.wall), limitRestart)
}

// oneFile measures the first import of one large file.
func (r *run) oneFile() {
	const limit = 20 // s
	repo := GenSpec{Entries: pageEntries}.Generate(r)
	config := r.config(largeFiles, benchProject(component("it", repo.Path(), "none", poMask)))
	r.sync(config) // clones
	u := r.syncAgain(config, 1)
	r.atMost(fmt.Sprintf("first import of one file of %d entries", pageEntries), "s", u.wall.Seconds(), limit)
	r.figure("  processor time", "s", u.cpu.Seconds())
	r.figure("  peak RSS", "MiB", u.rss)
}

// projects measures a project of many components, 40 % of whose strings are shared,
// against one component that has as many distinct strings, in turn: the import of its
// head, then the replay of its history.
func (r *run) projects() {
	const limitOne, limitFirstList = 0.7, 50 // rate against the one component; ms
	p := r.project
	p.Shared = 40
	for _, history := range []string{"none", "full"} {
		list, of := "/api/units/", p
		if history == "full" {
			list, of.Strings = "/api/changes/", r.replayed
		} else {
			of.Templates, of.Edits = 0, 0
		}
		many := of.Generate(r)
		// The one component has as many times fewer commits as it has more strings, and
		// each changes as many more, so that both histories have the same bytes.
		one := of
		one.Components, one.Strings = 1, many.Distinct
		one.Templates, one.Edits = of.Templates*of.Strings/many.Distinct, of.Edits*of.Strings/many.Distinct
		var configs [2]string
		var best [2]usage
		var rates, worked [2]float64
		for i, repo := range []string{many.Path(), one.Generate(r).Path()} {
			configs[i] = r.config("", benchProject(component(`"{component}"`, repo, history, `filemask: "{component}/*.po"`, `new_base: "{component}/messages.pot"`)))
			r.sync(configs[i]) // clones
		}
		for range 2 {
			for i := range configs {
				best[i] = best[i].best(r.syncAgain(configs[i], 1))
			}
		}
		for i, kind := range []string{"many components", "one component"} {
			n, _ := r.countIn(configs[i], list)
			rates[i], worked[i] = float64(n)/best[i].wall.Seconds(), float64(n)/best[i].cpu.Seconds()
			r.figure(fmt.Sprintf("history: %s, %s, %d of %s", history, kind, n, list), "s", best[i].wall.Seconds())
			r.figure("  processor time", "s", best[i].cpu.Seconds())
			r.atMost("  peak RSS", "MiB", best[i].rss, limitReplayRSS)
			if history == "full" {
				s := r.serve(configs[i])
				_, took := s.count(list + "?action=59&page_size=50")
				r.atMost("  first list by action of a process", "ms", inMS(took), limitFirstList)
				s.stop()
			}
		}
		r.atLeast("  rate of many against one component", "x", rates[0]/rates[1], limitOne)
		r.atLeast("  the same by processor time", "x", worked[0]/worked[1], limitOne)
	}
}

// componentsInRepo is the number of components of each repository of components.
const componentsInRepo = 100

// components measures a configuration of many small components: 100 in each
// repository, with three languages and ten strings, a fifth of them in one of 20
// projects. It measures a tenth of them first.
func (r *run) components() {
	const limitGrowth = 1.2 // of the time of a component, against a tenth of them
	var each [2]float64
	for i, n := range []int{max(componentsInRepo, r.many/10), r.many} {
		config := r.manyComponents(n)
		u := r.sync(config)
		each[i] = 1000 * u.cpu.Seconds() / float64(n)
		r.figure(fmt.Sprintf("first sync of %d components", n), "s", u.wall.Seconds())
		r.figure("  processor time of a component", "ms", each[i])
		r.figure("  peak RSS", "MiB", u.rss)
		if i == 1 {
			r.atMost("  against a tenth of them", "x", each[1]/each[0], limitGrowth)
			r.serveMany(config, n)
		}
	}
}

// manyComponents makes repositories and a configuration of n components.
func (r *run) manyComponents(n int) string {
	const projects = 20
	var of [projects]string
	for i := range n / componentsInRepo {
		repo := Project{Components: componentsInRepo, Languages: 3, Strings: 10, Shared: 20, Seed: uint64(i)}.Generate(r)
		project := 0
		if i%5 != 0 {
			project = 1 + i%(projects-1)
		}
		for c := range componentsInRepo {
			of[project] += fmt.Sprintf("      - {slug: r%03d-c%03d, repo: %s, filemask: %s/*.po, new_base: %[4]s/messages.pot}\n", i, c, repo.Path(), fmt.Sprintf("app-%03d", c))
		}
	}
	text := ""
	for p := range of {
		text += fmt.Sprintf("  - slug: p%02d\n", p)
		if of[p] != "" {
			text += "    components:\n" + of[p]
		}
	}
	return r.config("response_cache: 0\n", text)
}

// serveMany starts the server of n components again and measures it.
func (r *run) serveMany(config string, n int) {
	const limitReady, limitAnswer, limitReload = 5, 50, 1 // s, ms, s
	began := time.Now()
	s := r.serve(config)
	defer s.stop()
	r.atMost("start until ready, nothing changed", "s", time.Since(began).Seconds(), limitReady)
	pulls := 0.0
	s.waitUntil(time.Minute, 50*time.Millisecond, "the first pulls", func() bool {
		pulls = 0
		for name, value := range s.metrics() {
			if strings.HasPrefix(name, "repoglot_pulls_total{") {
				pulls += value
			}
		}
		return pulls >= float64(n/componentsInRepo)
	})
	r.atMost("  pulls of the first round, one a repository", "", pulls, float64(n/componentsInRepo))
	for _, route := range []string{
		"projects/", "components/", fmt.Sprintf("components/?page_size=1000&page=%d", max(1, n/1000)), "projects/p00/components/?page_size=1000",
		"translations/", fmt.Sprintf("translations/?page_size=1000&page=%d", max(1, 3*n/1000)), "languages/", "users/",
		"changes/?page_size=1000", "units/?page_size=1000",
		"statistics/", "projects/p00/statistics/", "projects/p00/languages/", "languages/cs/statistics/", "components/p00/r000-c000/statistics/",
	} {
		best := time.Hour
		for range 5 {
			_, took := s.get("/api/" + route)
			best = min(best, took)
		}
		r.atMost("  "+route, "ms", inMS(best), limitAnswer)
	}
	text, err := os.ReadFile(config)
	r.must(err)
	r.atMost("reload, nothing changed", "s", s.reload(config, append(text, "# a comment\n"...)).Seconds(), limitReload)
	changed := bytes.Replace(text, []byte("slug: r000-c000,"), []byte("slug: r000-c000, license: MIT,"), 1)
	r.atMost("reload, a component changed", "s", s.reload(config, changed).Seconds(), limitReload)
	r.figure("resident memory", "MiB", s.rss())
}

// reload writes another configuration and waits until the log says that it is loaded.
func (s *server) reload(config string, text []byte) time.Duration {
	const done = "configuration loaded"
	before := strings.Count(s.out.String(), done)
	next := filepath.Join(filepath.Dir(config), "next")
	s.must(os.WriteFile(next, text, 0o644))
	began := time.Now()
	s.must(os.Rename(next, config))
	s.waitUntil(time.Minute, 5*time.Millisecond, done, func() bool { return strings.Count(s.out.String(), done) > before })
	return time.Since(began)
}
