package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The limits of watching many local repositories.
const (
	watchedRepos  = 1000
	limitIdle     = 1   // per cent of one core
	limitVisible  = 500 // ms from push to visible
	idleFor       = 20 * time.Second
	watchedPushes = 15
	settleFor     = 5 * time.Second // wait after the import
	clockTicks    = 100             // USER_HZ, which is 100 on all systems of Go
)

// watch serves many local repositories: it measures their idle cost, and the time
// until a push to one of them is visible.
func (b *bench) watch(ctx context.Context) error {
	dir := filepath.Join(b.dir, "watched")
	first := filepath.Join(dir, "r0000.git")
	if _, err := git(ctx, "init", "--quiet", "--bare", "--initial-branch=main", first); err != nil {
		return err
	}
	if err := growHistory(ctx, first, 0, 1); err != nil {
		return err
	}
	var config strings.Builder
	config.WriteString("data_dir: ./data\nprojects:\n  - slug: bench\n    components:\n")
	for i := range watchedRepos {
		name := fmt.Sprintf("r%04d", i)
		if i > 0 {
			if err := os.CopyFS(filepath.Join(dir, name+".git"), os.DirFS(first)); err != nil {
				return err
			}
		}
		fmt.Fprintf(&config, "      - slug: %s\n        repo: ./%s.git\n        history: none\n        filemask: po/*.po\n", name, name)
	}
	path := filepath.Join(dir, "repoglot.yaml")
	if err := os.WriteFile(path, []byte(config.String()), 0o644); err != nil {
		return err
	}
	started := time.Now()
	s, err := b.serve(ctx, path)
	if err != nil {
		return err
	}
	defer s.stop()
	fmt.Fprintf(b.out, "%-58s %11.4g s\n", fmt.Sprintf("watch: %d repositories imported and ready", watchedRepos), time.Since(started).Seconds())
	if err := sleep(ctx, settleFor); err != nil {
		return err
	}
	before, err := s.cpu()
	if err != nil {
		return err
	}
	if err := sleep(ctx, idleFor); err != nil {
		return err
	}
	after, err := s.cpu()
	if err != nil {
		return err
	}
	b.row(fmt.Sprintf("watch: CPU while nothing happens, %v", idleFor), "%", 100*(after-before).Seconds()/idleFor.Seconds(), limitIdle)
	rss, err := s.rss()
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "%-58s %11.4g MiB\n", "  memory resident then", rss)
	var took []time.Duration
	for i := range watchedPushes {
		n := i * (watchedRepos / watchedPushes)
		if err := growHistory(ctx, filepath.Join(dir, fmt.Sprintf("r%04d.git", n)), 1, 1); err != nil {
			return err
		}
		pushed := time.Now()
		if err := s.waitForEdit(fmt.Sprintf("r%04d", n)); err != nil {
			return err
		}
		took = append(took, time.Since(pushed))
	}
	b.row(fmt.Sprintf("watch: push visible, the worst of %d", watchedPushes), "ms", float64(slices.Max(took).Microseconds())/1e3, limitVisible)
	b.row("  the median", "ms", median(took), limitVisible)
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// waitForEdit polls a component until its string has been edited once.
func (s *server) waitForEdit(component string) error {
	return s.waitUntil(time.Minute, time.Millisecond, "the push to "+component, func() (bool, error) {
		n, _, err := s.timedCount("/api/translations/bench/" + component + "/cs/changes/?action=31&action=63&action=59&page_size=1")
		return n > 0, err
	})
}

// cpu is the processor time of the process.
func (s *server) cpu() (time.Duration, error) { return processTime(s.cmd.Process.Pid) }

// processTime returns the processor time of a process (proc(5), /proc/PID/stat).
func processTime(pid int) (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	const utime, stime = 11, 12 // after the name
	ticks := 0
	for _, i := range []int{utime, stime} {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / clockTicks, nil
}

// rss returns the resident memory in MiB.
func (s *server) rss() (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	pages, err := strconv.Atoi(strings.Fields(string(data))[1])
	return float64(pages) * float64(os.Getpagesize()) / (1 << 20), err
}
