package main

import (
	"bytes"
	"context"
	"crypto/sha1" // git ids objects with it
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/repoglot/repoglot/testrepos"
)

// The limits of a push until it is visible, and what the peer reached.
const (
	limitPush      = 60    // ms from push to visible, 53,000 entries
	limitPushBlob  = 1.5   // against inflating, hashing and recompressing the blob
	weblatePushMS  = 17000 // ms, 53,612 entries
	pushEntries    = 53000
	pushes         = 20
	limitOneFile   = 20 // s, first import of one file of a million entries
	oneFileEntries = 1_000_000
)

// push measures the time until pushed strings are visible, with files and pushes of
// several sizes, and what its parts are.
func (b *bench) push(ctx context.Context) error {
	for _, p := range []pushed{
		{entries: pushEntries, strings: 1, limit: limitPush},
		{entries: pushEntries, strings: 10},
		{entries: pushEntries, strings: 100},
		{entries: 1000, strings: 1},
		{entries: 10_000, strings: 1},
		{entries: 100_000, strings: 1},
	} {
		if err := b.pushed(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// pushed is a push of some strings into a file.
type pushed struct {
	entries, strings int
	limit            float64 // ms; 0: none
}

func (b *bench) pushed(ctx context.Context, p pushed) error {
	name := fmt.Sprintf("push-%d-%d", p.entries, p.strings)
	s, repo, err := b.serveGenerated(ctx, testrepos.GenSpec{Name: name, Entries: p.entries}, "max_file_size: 1GiB\n")
	if err != nil {
		return err
	}
	defer s.stop()
	var took, blob []time.Duration
	var parts phaseTimes
	for i := range pushes + 1 {
		list := make([]int, p.strings)
		for n := range list {
			list[n] = (i*977 + n*(p.entries/p.strings)) % p.entries
		}
		before, err := s.phases()
		if err != nil {
			return err
		}
		edited, err := repo.EditStrings("cs", list...)
		if err != nil {
			return err
		}
		if err := s.waitFor(edited[len(edited)-1].Target); err != nil {
			return err
		}
		visible := time.Since(edited[0].Pushed)
		if i == 0 {
			continue // warms up
		}
		took = append(took, visible)
		if err := parts.since(s, before); err != nil {
			return err
		}
		if err := timeBlob(repo, &blob); err != nil {
			return err
		}
	}
	what := fmt.Sprintf("%d of %d entries pushed: visible, median of %d", p.strings, p.entries, pushes)
	against := fmt.Sprintf("  against its blob inflated, hashed, recompressed (%.3g ms)", median(blob))
	if p.limit > 0 {
		b.row(what, "ms", median(took), p.limit)
		b.row("  against Weblate 5.4.2 (recorded, 53,612 entries)", "ms", median(took), weblatePushMS)
		b.row(against, "×", median(took)/median(blob), limitPushBlob)
	} else {
		fmt.Fprintf(b.out, "%-58s %11.4g ms\n%-58s %11.4g ×\n", what, median(took), against, median(took)/median(blob))
	}
	fmt.Fprintf(b.out, "  of which %s; the rest is watching and asking\n", parts.String())
	return nil
}

// waitFor polls the newest changes until they show the target.
func (s *server) waitFor(target string) error {
	text, err := json.Marshal(target)
	if err != nil {
		return err
	}
	return s.waitUntil(time.Minute, time.Millisecond, "the pushed string", func() (bool, error) {
		body, _, err := s.get("/api/translations/bench/it/cs/changes/?ordering=-id&page_size=100")
		return bytes.Contains(body, text), err
	})
}

// timeBlob appends the time that it takes to inflate, hash and compress the newest
// version of the file with the program's libraries, each once.
func timeBlob(repo *testrepos.Generated, took *[]time.Duration) error {
	data, err := repo.ReadFile(repo.Head(), "po/cs.po")
	if err != nil {
		return err
	}
	sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(data)), data...))
	id := fmt.Sprintf("%x", sum)
	loose, err := os.ReadFile(filepath.Join(repo.Path(), "objects", id[:2], id[2:]))
	if err != nil {
		return err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return err
	}
	inflated := bytes.NewBuffer(make([]byte, 0, len(data)+1024))
	started := time.Now()
	z, err := zlib.NewReader(bytes.NewReader(loose))
	if err != nil {
		return err
	}
	if _, err := io.Copy(inflated, z); err != nil {
		return err
	}
	if sha1.Sum(inflated.Bytes()) != sum {
		return fmt.Errorf("blob %s has other contents", id)
	}
	enc.EncodeAll(inflated.Bytes(), nil)
	*took = append(*took, time.Since(started))
	return enc.Close()
}

// phaseTimes are the times of the phases of pulls, one value for each push.
type phaseTimes struct {
	names []string
	took  map[string][]time.Duration
}

var phaseSum = regexp.MustCompile(`(?m)^repoglot_pull_phase_seconds_sum\{phase="([a-z]+)"\} (.*)$`)

// phases returns the seconds of all pulls so far, by phase.
func (s *server) phases() (map[string]float64, error) {
	text, _, err := s.get("/metrics")
	if err != nil {
		return nil, err
	}
	sums := map[string]float64{}
	for _, m := range phaseSum.FindAllStringSubmatch(string(text), -1) {
		if sums[m[1]], err = strconv.ParseFloat(m[2], 64); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// since adds the times of the pull that ended since the sums were before. A pull is
// counted a moment after its commit can be seen.
func (t *phaseTimes) since(s *server, before map[string]float64) error {
	return s.waitUntil(time.Minute, time.Millisecond, "the end of the pull", func() (bool, error) {
		after, err := s.phases()
		if err != nil || len(after) == 0 { // a version without them
			return true, err
		}
		if after["commit"] == before["commit"] {
			return false, nil
		}
		if t.took == nil {
			t.took = map[string][]time.Duration{}
		}
		for name, sum := range after {
			if !slices.Contains(t.names, name) {
				t.names = append(t.names, name)
			}
			t.took[name] = append(t.took[name], time.Duration((sum-before[name])*float64(time.Second)))
		}
		return true, nil
	})
}

// String lists the median of each phase in the order of a pull.
func (t *phaseTimes) String() string {
	var list []string
	for _, name := range []string{"fetch", "walk", "read", "apply", "check", "commit", "other"} {
		if len(t.took[name]) > 0 {
			list = append(list, fmt.Sprintf("%s %.3g", name, median(t.took[name])))
		}
	}
	return strings.Join(list, ", ") + " ms"
}

// oneFile measures the first import of one large file.
func (b *bench) oneFile(ctx context.Context) error {
	repo, err := testrepos.Generate(filepath.Join(b.dir, "one-file.git"), testrepos.GenSpec{Name: "one-file", Entries: oneFileEntries})
	if err != nil {
		return err
	}
	config, err := b.writeConfig(ctx, "one-file", repo.Path(), "        filemask: po/*.po\n")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(config)
	if err == nil {
		err = os.WriteFile(config, append([]byte("max_file_size: 1GiB\n"), text...), 0o644)
	}
	if err != nil {
		return err
	}
	if _, err := b.sync(ctx, config); err != nil { // clones
		return err
	}
	u, _, err := b.importAgain(ctx, config, 1)
	if err != nil {
		return err
	}
	b.row(fmt.Sprintf("first import of one file of %d entries", oneFileEntries), "s", u.wall.Seconds(), limitOneFile)
	fmt.Fprintf(b.out, "  processor time %.1f s, peak RSS %.0f MiB\n", u.cpu.Seconds(), u.rss)
	return nil
}
