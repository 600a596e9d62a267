package ingest_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/repoglot/repoglot/testrepos"
)

const (
	pageEntries = 1_000_000
	largeFiles  = "max_file_size: 1GiB\n"
	uncached    = largeFiles + "response_cache: 0\n"
	translation = "/api/translations/bench/it/cs/"
)

// page measures pages of units of a translation of a million.
func (r *run) page() {
	const (
		limitPage     = 2   // ms, 50 units from the store
		limitDeep     = 2   // page 1,000 against page 1
		weblatePageMS = 300 // ms, 53,612 entries
		requests      = 300
	)
	s, _ := r.serveGenerated(GenSpec{Entries: pageEntries}, uncached)
	r.figure("memory of the server of a file of 1,000,000 entries, after its import", "MiB", s.rss())
	first, deep := s.median(translation+"units/?page_size=50&page=1", requests), s.median(translation+"units/?page_size=50&page=1000", requests)
	r.atMost(fmt.Sprintf("page of 50 units of %d, over HTTP, median of %d", pageEntries, requests), "ms", first, limitPage)
	r.atMost("  against Weblate 5.4.2 (recorded, 53,612 entries)", "x", first/weblatePageMS, 1)
	r.atMost("  page 1,000 against page 1", "x", deep/first, limitDeep)
}

// The load of http.
const (
	httpEntries = 50_000
	loadFor     = 3 * time.Second
	loadRuns    = 7
)

// http measures answers under load, client and servers on the same cores: warm ones in
// turn with a bare net/http handler, cold ones, and pages while a file changes.
func (r *run) http() {
	const (
		overBare        = 0.7  // rate of warm pages against the bare handler
		limitColdPages  = 3000 // pages of 50 units a second
		limitColdGzip   = 2000 // compressed ones (our own limit)
		limitPullingP99 = 20   // ms, while a file of 50,000 strings is pulled
	)
	s, repo := r.serveGenerated(GenSpec{Entries: httpEntries}, "")
	r.againstBare(s, "list page of 50 units", translation+"units/?page_size=50", overBare)
	r.againstBare(s, "translation detail", translation, overBare)
	r.coldPages(s, "", limitColdPages)
	r.coldPages(s, "gzip", limitColdGzip)
	worst := time.Duration(0)
	pulled := s.replaceAll(repo.Repo, "Z ")
	for done := false; !done; {
		got := r.load(s.hammer(func(int, int) string { return translation + "units/?page_size=50" }), 250*time.Millisecond)
		worst, done = max(worst, got.p99), pulled()
	}
	r.atMost(fmt.Sprintf("http: worst p99 of a page while %d strings are pulled", httpEntries), "ms", inMS(worst), limitPullingP99)
}

// coldPages prints the best round of pages that are not cached: they differ by an unknown
// parameter.
func (r *run) coldPages(s *server, encoding string, limit float64) {
	var best load
	for round := range loadRuns {
		h := s.hammer(func(conn, n int) string {
			return fmt.Sprintf("%sunits/?page_size=50&page=%d&nothing=%s%d.%d.%d", translation, (conn*131+n*17)%(httpEntries/50)+1, encoding, round, conn, n)
		})
		h.header = "Accept-Encoding: " + encoding + "\r\n"
		if got := r.load(h, loadFor/3); got.rate > best.rate {
			best = got
		}
	}
	r.atLeast("http: cold pages of 50 units "+encoding, "/s", best.rate, limit)
	r.atMost("  processor time of each, the client's included", "us", best.cpu, 2e6/limit)
}

// againstBare prints the rows of a warm resource: our best round, and the medians of the
// ratios of rates, and of processor time, which does not depend on other processes.
func (r *run) againstBare(s *server, what, path string, limit float64) {
	const limitWarmP99, limit304 = 5, 0.8 // ms, rate against the bare handler
	body, _ := s.get(path)
	req, err := http.NewRequestWithContext(r.ctx, http.MethodHead, s.base+path, nil)
	r.must(err)
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := http.DefaultClient.Do(req)
	r.must(err)
	r.must(resp.Body.Close())
	ours := s.hammer(func(int, int) string { return path })
	bare := ours
	bare.address, bare.pid = r.bare(body)
	for _, kind := range []struct {
		name        string
		status      int
		tag, theirs string
		limit       float64
	}{{"", http.StatusOK, "", "", limit}, {" 304", http.StatusNotModified, resp.Header.Get("ETag"), bareTag, limit304}} {
		if ours.status, bare.status = kind.status, kind.status; kind.tag != "" {
			ours.header, bare.header = "If-None-Match: "+kind.tag+"\r\n", "If-None-Match: "+kind.theirs+"\r\n"
		}
		var best load
		var rates, cpus []float64
		for range loadRuns {
			got, other := r.load(ours, loadFor/loadRuns), r.load(bare, loadFor/loadRuns)
			rates, cpus = append(rates, got.rate/other.rate), append(cpus, other.cpu/got.cpu)
			if got.rate > best.rate {
				best = got
			}
		}
		slices.Sort(rates)
		slices.Sort(cpus)
		r.figure("http: "+what+", warm"+kind.name, "/s", best.rate)
		r.atLeast("  against a bare net/http handler", "x", rates[loadRuns/2], kind.limit)
		r.atLeast("  the bare handler's processor time by ours", "x", cpus[loadRuns/2], kind.limit)
		r.atMost("  p99", "ms", inMS(best.p99), limitWarmP99)
	}
}

// replaceAll pushes a file in which every string begins with a text; pulled reports
// whether it is visible.
func (s *server) replaceAll(repo *testrepos.Repo, text string) (pulled func() bool) {
	const list = translation + "changes/?page_size=1"
	before, _ := s.count(list)
	header, entries, _ := strings.Cut(string(repo.File(s, repo.Head(), "po/cs.po")), "\n\n")
	changed := strings.Count(entries, "\nmsgstr")
	entries = strings.ReplaceAll(entries, "msgstr \"", "msgstr \""+text)
	repo.Commit(s, testrepos.Change{Files: map[string]string{"po/cs.po": header + "\n\n" + entries}})
	return func() bool {
		now, _ := s.count(list)
		return now >= before+int64(changed)/2 // a step is one transaction
	}
}

// cache measures how many answers come from the cache while one of many components
// is pushed to every second: with a repository each, and all in one.
func (r *run) cache() {
	const (
		components = 100
		rate       = 1000 // requests a second, over one page of each component
		pushes     = 20   // and seconds
		limitHits  = 95   // % of answers from the cache
		limitP99   = 20   // ms
	)
	file := func(i int) string { return fmt.Sprintf("c%d/cs.po", i) }
	text := func(i, push int) string { // the last string has the number of the push
		text := "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"
		for n := range 50 {
			text += fmt.Sprintf("\nmsgid \"String %d of component %d.\"\nmsgstr \"Řetězec %[1]d komponenty %[2]d.\"\n", n, i)
		}
		return strings.TrimSuffix(text, ".\"\n") + fmt.Sprintf(" %d.\"\n", push)
	}
	page := func(i int) string {
		return fmt.Sprintf("/api/translations/bench/c%d/cs/units/?page_size=50", i%components)
	}
	for _, repositories := range []int{components, 1} {
		repos := make([]*testrepos.Repo, repositories)
		files := make([]map[string]string, repositories)
		var list []string
		for i := range components {
			k := i % repositories
			if repos[k] == nil {
				repos[k], files[k] = testrepos.Empty(r), map[string]string{}
			}
			files[k][file(i)] = text(i, 0)
			list = append(list, component(fmt.Sprint("c", i), repos[k].Path(), "none", fmt.Sprintf("filemask: c%d/*.po", i)))
		}
		for k, repo := range repos {
			repo.Commit(r, testrepos.Change{Files: files[k]})
		}
		s := r.serve(r.config("", benchProject(list...)))
		for i := range components {
			s.get(page(i))
		}
		last := 0
		before, started, pushed := s.metrics(), time.Now(), make(chan error, 1)
		go func() {
			for n := 1; n <= pushes; n++ {
				time.Sleep(time.Until(started.Add(time.Duration(n)*time.Second - time.Second/2)))
				last = n * 37 % components
				if _, err := repos[last%repositories].Push(testrepos.Change{Files: map[string]string{file(last): text(last, n)}}); err != nil {
					pushed <- err
					return
				}
			}
			pushed <- nil
		}()
		h := s.hammer(nil)
		h.connections = 8
		h.path = func(conn, n int) string {
			number := n*h.connections + conn
			time.Sleep(time.Until(started.Add(time.Duration(number) * time.Second / rate)))
			return page(number)
		}
		got := r.load(h, pushes*time.Second)
		r.must(<-pushed)
		after := s.metrics()
		hits, misses := after["repoglot_api_cache_hits_total"]-before["repoglot_api_cache_hits_total"], after["repoglot_api_cache_misses_total"]-before["repoglot_api_cache_misses_total"]
		r.atLeast(fmt.Sprintf("cache: %d components, %d repositories, %d pushes", components, repositories, pushes), "% kept", 100*hits/(hits+misses), limitHits)
		r.atMost("  p99 of a page", "ms", inMS(got.p99), limitP99)
		s.waitUntil(time.Minute, 5*time.Millisecond, "the last push", func() bool {
			body, _ := s.get(page(last))
			return bytes.Contains(body, fmt.Appendf(nil, "komponenty %d %d.", last, pushes))
		})
		s.stop()
	}
}

// edits measures editors who send an edit each now and then, all into one translation,
// from when an edit is due until it is answered, and so durable.
func (r *run) edits() {
	const (
		editors, each = 100, 10
		rate          = 50 // a second
		limitP99      = 50 // ms
	)
	repo := GenSpec{Entries: 20_000}.Generate(r)
	config := r.config("", benchProject(component("it", repo.Path(), "none", poMask, "push_mode: direct", "flush: 24h", "flush_max: 100000")))
	s := r.serve(config)
	_, key := r.command(r.binary, "token", "create", "--config", config, "--scope", "write", "--author", "Jana", "--email", "jana@example.org", "jana")
	body, _ := s.get(translation + "units/?page_size=1000")
	var list struct{ Results []struct{ ID int64 } }
	r.must(json.Unmarshal(body, &list))
	all, errs := make([]time.Duration, editors*each), make([]error, editors*each)
	before, start := s.cpu(), time.Now()
	var group sync.WaitGroup
	for i := range editors {
		group.Go(func() {
			for n := i; n < len(all); n += editors {
				due := start.Add(time.Duration(n) * time.Second / rate)
				time.Sleep(time.Until(due))
				errs[n] = s.patch(strings.TrimSpace(key), list.Results[n].ID, fmt.Sprintf("Text %d", n))
				all[n] = time.Since(due)
			}
		})
	}
	group.Wait()
	r.must(errs...)
	spent := s.cpu() - before
	slices.Sort(all)
	r.atMost(fmt.Sprintf("%d editors, %d edits a second: answered, p99 of %d", editors, rate, len(all)), "ms", inMS(all[len(all)*99/100]), limitP99)
	r.figure("  median", "ms", median(all))
	r.figure("  processor time of the server for each", "ms", inMS(spent)/float64(len(all)))
}

// patch sends an edit.
func (s *server) patch(key string, unit int64, text string) error {
	body := fmt.Sprintf(`{"target": [%q], "state": 20}`, text)
	req, err := http.NewRequestWithContext(s.ctx, http.MethodPatch, fmt.Sprintf("%s/api/units/%d/", s.base, unit), strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Token "+key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("PATCH units/%d/: %s", unit, resp.Status)
	}
	return nil
}

// large measures lists of a database with a million strings and, for each version of
// their file, a million entries: against a tenth of the versions, and pages against the
// first one. Nothing is cached. Each version takes about half a minute.
func (r *run) large() {
	const (
		limitFirst = 10 // ms, page 1 of 50
		limitRatio = 2
		requests   = 60
	)
	s, repo := r.serveGenerated(GenSpec{Entries: pageEntries}, uncached)
	lists := []string{
		translation + "units/?page_size=50", "/api/units/?page_size=50", translation + "changes/?page_size=50", "/api/components/bench/it/changes/?page_size=50",
		"/api/changes/?page_size=50", "/api/changes/?page_size=50&action=59", "/api/projects/bench/statistics/?page_size=50",
	}
	tenth := map[string]float64{}
	for v := range r.versions {
		s.waitUntil(10*time.Minute, 200*time.Millisecond, fmt.Sprintf("version %d", v+1), s.replaceAll(repo.Repo, fmt.Sprint(v, " ")))
		if v+1 == max(1, r.versions/10) {
			for _, list := range lists {
				tenth[list] = s.median(list, requests)
			}
		}
	}
	changes, _ := s.count("/api/changes/?page_size=1")
	r.figure("large: entries", "", float64(changes))
	for _, list := range lists {
		first := s.median(list, requests)
		r.atMost(list+", page 1", "ms", first, limitFirst)
		r.atMost("  against a tenth of the entries", "x", first/tenth[list], limitRatio)
		if strings.Contains(list, "/statistics/") {
			continue
		}
		others := []string{"&page=1000", "&page=last"}
		if strings.Contains(list, "/changes/") {
			others = append(others, fmt.Sprintf("&after_id=%d", changes/2))
		}
		for _, other := range others {
			r.atMost("  "+other+" against page 1", "x", s.median(list+other, requests)/first, limitRatio)
		}
	}
}

// search measures searches among the strings of a translation of a million, and as many
// changes: the first page with its count. Every pass asks for another value, so that
// neither an answer nor a count is cached; the best counts.
func (r *run) search() {
	const indexed, substring, regular, refused = 300, 1000, 2000, 50 // limits in ms
	const passes = 5
	const words = "open OR close OR save OR river OR w1 OR w2 OR w3 OR w4 OR w5 OR w6 OR w7 OR w8 OR w9 OR v1 OR v2 OR v3 OR v4 OR v5 OR v6"
	s, repo := r.serveGenerated(GenSpec{Entries: pageEntries, Plural: 50, Context: 10, Fuzzy: 20, Untranslated: 7}, largeFiles)
	s.waitUntil(10*time.Minute, 200*time.Millisecond, "a history", s.replaceAll(repo.Repo, "0 "))
	const list = translation + "units/"
	for _, kind := range []struct {
		name, list, q string
		limit         float64
	}{
		{"state, the first time", list, "state:>=translated position:>=%d", 10 * indexed}, // warms the cache of the system
		{"state", list, "state:>=%d", indexed},
		{"state and priority", list, "state:<20 AND priority:>=%d", indexed},
		{"id", list, "id:>%d", indexed},
		{"position", list, "position:%d", indexed},
		{"added", list, "added:>=20%02d", indexed},
		{"changed", list, "changed:>=20%02d", indexed},
		{"changed by nobody", list, "changed_by:nobody%d", indexed},
		{"location", list, "location:c:%d7", substring},
		{"substring of the target", list, "target:%dka", substring},
		{"substring of source, target, context", list, `"river bef%d"`, substring},
		{"substring, beyond ASCII", list, `"řeč%d"`, substring},
		{"substring, found in none", list, "xyz%dxyz", substring},
		{"substring, negated: found in all", list, "NOT xyz%dxyz", substring},
		{"alternatives, 20", list, "%d OR " + words, substring},
		{"substring, found in most", list, `source:o note:="" NOT %d`, substring},
		{"regular expression with a literal", list, `source:r"[a-z]+ river$|x%d"`, regular},
		{"regular expression without", list, `r"[0-9] [a-z]+e$|x%d"`, regular},
		{"regular expression, any case", list, `target:r"(?i)ŘEČ\s+%d"`, regular},
		{"substring on the whole server, 2,000,000", "/api/units/", `"river bef%d"`, 2 * substring},
	} {
		var walls, cpus []time.Duration
		for i := range passes {
			before := s.cpu()
			_, took := s.count(kind.list + "?page_size=50&q=" + url.QueryEscape(fmt.Sprintf(kind.q, i+1)))
			walls, cpus = append(walls, took), append(cpus, s.cpu()-before)
		}
		r.atMost(fmt.Sprintf("search %d, first page and count: %s", pageEntries, kind.name), "ms", inMS(slices.Min(walls)), kind.limit)
		r.atMost("  its processor time by two", "ms", inMS(slices.Min(cpus))/2, kind.limit)
	}
	for _, q := range []string{
		strings.Repeat("x", 8193), strings.Repeat("a ", 101), strings.Repeat("(", 41) + "a" + strings.Repeat(")", 41), `source:r"(a{40}){40}"`,
	} {
		started := time.Now()
		if _, _, err := s.fetch(list + "?q=" + url.QueryEscape(q)); err == nil || !strings.Contains(err.Error(), " 400 ") {
			r.Fatalf("q=%.40s is not refused: %v", q, err)
		}
		r.atMost(fmt.Sprintf("  refused: q=%.24s…, %d bytes", q, len(q)), "ms", inMS(time.Since(started)), refused)
	}
}

// searches measures searches of all strings of a project of many components, each the first
// one of its process: terms of the texts by how many strings have them, and what is known of
// strings besides.
func (r *run) searches() {
	const rare, limitRare, limitAny, limitRareRegexp, limitRegexp = 10_000, 50, 300, 100, 500 // strings; ms
	p := r.project
	p.Templates, p.Edits, p.Shared = 0, 0, 40
	config := r.config("", benchProject(component(`"{component}"`, p.Generate(r).Path(), "none", `filemask: "{component}/*.po"`, `new_base: "{component}/messages.pot"`)))
	r.sync(config) // clones
	u := r.syncAgain(config, 1)
	r.figure("import", "s", u.wall.Seconds())
	r.figure("  processor time", "s", u.cpu.Seconds())
	r.figure("  peak RSS", "MiB", u.rss)
	if files, err := filepath.Glob(filepath.Join(filepath.Dir(config), "data", "*.db")); err == nil && len(files) == 1 {
		info, err := os.Stat(files[0])
		r.must(err)
		r.figure("  database", "MiB", float64(info.Size())/(1<<20))
	}
	s := r.serve(config)
	body, _ := s.get("/api/units/?page_size=200&q=state:translated")
	s.stop()
	var page struct {
		Results []struct{ Source, Target []string }
	}
	r.must(json.Unmarshal(body, &page))
	seen := map[string]int{}
	for _, unit := range page.Results {
		for _, word := range strings.Fields(strings.Join(unit.Target, " ")) {
			if len([]rune(word)) > 3 {
				seen[word]++
			}
		}
	}
	words := slices.SortedFunc(maps.Keys(seen), func(a, b string) int { return cmp.Or(seen[b]-seen[a], cmp.Compare(a, b)) })
	most, middle, least := words[0], words[len(words)/2], words[len(words)-1]
	letters := string([]rune(middle)[:3])
	for _, kind := range []struct {
		q             string
		limit, always float64
	}{
		{"target:" + most, limitRare, limitAny},
		{"target:" + middle, limitRare, limitAny},
		{"target:" + least, limitRare, limitAny},
		{"target:" + letters, limitRare, limitAny},
		{"target:" + letters[:1], limitAny, limitAny},
		{"NOT target:" + most, limitAny, limitAny},
		{most, limitRare, limitAny},
		{"source:" + letters, limitRare, limitAny},
		{`target:="` + strings.Join(page.Results[0].Target, "") + `"`, limitRare, limitAny},
		{`target:r"` + middle + `.*[0-9]"`, limitRareRegexp, limitRegexp},
		{`target:r"(` + most + "|" + least + `) "`, limitRareRegexp, limitRegexp},
		{`target:r"` + letters + `[a-z]* [0-9]"`, limitRareRegexp, limitRegexp},
		{`target:r"[0-9] [a-z]+e$"`, 0, 0},
		{`note:` + middle, 0, 0},
		{"has:check", limitRare, limitRare},
		{"state:needs-editing", limitRare, limitRare},
		{"state:empty", limitRare, limitRare},
		{"language:cs target:" + letters, limitRare, limitRare},
	} {
		s := r.serve(config)
		s.waitUntil(time.Minute, 300*time.Millisecond, "the end of the first pull", func() bool {
			before := s.cpu()
			time.Sleep(300 * time.Millisecond)
			return s.cpu() == before
		})
		s.get("/api/units/?page_size=50")
		before := s.cpu()
		n, took := s.count("/api/units/?page_size=50&q=" + url.QueryEscape(kind.q))
		limit := kind.limit
		if n > rare {
			limit = kind.always
		}
		r.atMost(fmt.Sprintf("%s: %d strings", kind.q, n), "ms", inMS(took), limit)
		r.figure("  processor time", "ms", inMS(s.cpu()-before))
		s.stop()
	}
	s = r.serve(config)
	defer s.stop()
	for _, n := range []int{1, 10, 100} {
		var sources []string
		for _, unit := range page.Results[:n] {
			sources = append(sources, strings.Join(unit.Source, ""))
		}
		asked, err := json.Marshal(map[string]any{"source_language": "en", "target_language": "cs", "strings": sources})
		r.must(err)
		before := s.cpu()
		body, took, err := s.send(http.MethodPost, "/api/memory/lookup/", string(asked))
		r.must(err)
		r.atMost(fmt.Sprintf("memory: %d strings, %d matches", n, bytes.Count(body, []byte(`"similarity"`))), "ms", inMS(took), limitRare)
		r.figure("  processor time", "ms", inMS(s.cpu()-before))
	}
}
