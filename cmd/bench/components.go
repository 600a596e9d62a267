package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/testrepos"
)

// The limits of a configuration of many components.
const (
	limitReady       = 5.0  // s, when nothing changed
	limitAnswer      = 50.0 // ms, not kept
	limitReload      = 1.0  // s
	limitGrowth      = 1.2  // of the time of a component, against a tenth of them
	componentsInRepo = 100
)

// componentRoutes are the lists and statistics of a server of many components; the
// last pages, too.
func componentRoutes(components int) []string {
	last := components / 1000
	return []string{
		"projects/", "components/", fmt.Sprintf("components/?page_size=1000&page=%d", max(1, last)), "projects/p00/components/?page_size=1000",
		"translations/", fmt.Sprintf("translations/?page_size=1000&page=%d", max(1, 3*last)), "languages/", "users/",
		"changes/?page_size=1000", "units/?page_size=1000",
		"statistics/", "projects/p00/statistics/", "projects/p00/languages/", "languages/cs/statistics/", "components/p00/r000-c000/statistics/",
	}
}

// components measures a configuration of many small components: 100 in each
// repository, with three languages and ten strings, a fifth of them in one of 20
// projects. It measures a tenth of them first.
func (b *bench) components(ctx context.Context) error {
	var each [2]float64
	for i, n := range []int{max(componentsInRepo, b.many/10), b.many} {
		config, err := b.manyComponents(n)
		if err != nil {
			return err
		}
		u, err := b.sync(ctx, config)
		if err != nil {
			return err
		}
		each[i] = 1000 * u.cpu.Seconds() / float64(n)
		b.figure(fmt.Sprintf("first sync of %d components", n), "s", u.wall.Seconds())
		b.figure("  processor time of a component", "ms", each[i])
		b.figure("  peak RSS", "MiB", u.rss)
		if i == 1 {
			b.row("  against a tenth of them", "×", each[1]/each[0], limitGrowth)
			if err := b.serveMany(ctx, config, n); err != nil {
				return err
			}
		}
		if err := os.RemoveAll(filepath.Dir(config)); err != nil {
			return err
		}
	}
	return nil
}

// manyComponents makes repositories and a configuration of n components.
func (b *bench) manyComponents(n int) (string, error) {
	dir := filepath.Join(b.dir, fmt.Sprint("components-", n))
	const projects = 20
	var of [projects]strings.Builder
	for r := range n / componentsInRepo {
		repo := filepath.Join(dir, fmt.Sprintf("r%03d.git", r))
		if _, err := testrepos.CreateProject(repo, testrepos.Project{Components: componentsInRepo, Languages: 3, Strings: 10, Shared: 20, Seed: uint64(r)}); err != nil {
			return "", err
		}
		project := &of[0]
		if r%5 != 0 {
			project = &of[1+r%(projects-1)]
		}
		for c := range componentsInRepo {
			fmt.Fprintf(project, "      - {slug: r%03d-c%03d, repo: %s, filemask: %s/*.po, new_base: %[4]s/messages.pot}\n", r, c, repo, fmt.Sprintf("app-%03d", c))
		}
	}
	text := "data_dir: ./data\ngit: builtin\nresponse_cache: 0\nprojects:\n"
	for p := range of {
		text += fmt.Sprintf("  - slug: p%02d\n", p)
		if of[p].Len() > 0 {
			text += "    components:\n" + of[p].String()
		}
	}
	config := filepath.Join(dir, "repoglot.yaml")
	return config, os.WriteFile(config, []byte(text), 0o644)
}

// serveMany starts the server of n components again and measures it.
func (b *bench) serveMany(ctx context.Context, config string, n int) error {
	began := time.Now()
	s, err := b.serve(ctx, config)
	if err != nil {
		return err
	}
	defer s.stop()
	b.row("start until ready, nothing changed", "s", time.Since(began).Seconds(), limitReady)
	if err := b.pullsOfMany(s, n); err != nil {
		return err
	}
	for _, route := range componentRoutes(n) {
		best := time.Hour
		for range 5 {
			_, took, err := s.get("/api/" + route)
			if err != nil {
				return err
			}
			best = min(best, took)
		}
		b.row("  "+route, "ms", best.Seconds()*1000, limitAnswer)
	}
	text, err := os.ReadFile(config)
	if err != nil {
		return err
	}
	for _, change := range []struct {
		what string
		text []byte
	}{
		{"reload, nothing changed", append(text, "# a comment\n"...)},
		{"reload, a component changed", bytes.Replace(text, []byte("slug: r000-c000,"), []byte("slug: r000-c000, license: MIT,"), 1)},
	} {
		took, err := s.reload(config, change.text)
		if err != nil {
			return err
		}
		b.row(change.what, "s", took.Seconds(), limitReload)
	}
	rss, err := s.rss()
	b.figure("resident memory", "MiB", rss)
	return err
}

// pullsOfMany waits for the first round of pulls: one for each repository.
func (b *bench) pullsOfMany(s *server, n int) error {
	repositories := n / componentsInRepo
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		body, _, err := s.get("/metrics")
		if err != nil {
			return err
		}
		pulls := 0
		for line := range bytes.Lines(body) {
			if rest, ok := bytes.CutPrefix(line, []byte("repoglot_pulls_total{")); ok {
				_, count, _ := bytes.Cut(rest, []byte("} "))
				k, _ := strconv.ParseFloat(strings.TrimSpace(string(count)), 64)
				pulls += int(k)
			}
		}
		if pulls >= repositories || time.Now().After(deadline) {
			b.row("  pulls of the first round, one a repository", "", float64(pulls), float64(repositories))
			return nil
		}
	}
}

// reload writes another configuration and waits until the log says that it is
// loaded.
func (s *server) reload(config string, text []byte) (time.Duration, error) {
	const done = "configuration loaded"
	before := strings.Count(s.out.String(), done)
	next := config + ".next"
	if err := os.WriteFile(next, text, 0o644); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := os.Rename(next, config); err != nil {
		return 0, err
	}
	for deadline := began.Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if strings.Count(s.out.String(), done) > before {
			return time.Since(began), nil
		}
	}
	return 0, fmt.Errorf("the configuration is not loaded:\n%s", s.out.String())
}
