package main

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/leonelquinteros/gotext"

	"github.com/repoglot/repoglot/poparse"
)

// The limits of reading PO files, on one core.
const (
	limitParse     = 300 // MB/s, all bundles together
	limitReadUnits = 200 // MB/s with hashes, words and states
	overMsgfmt     = 10  // times as fast, all bundles together; half of it for each
	overGotext     = 3   // the same
	poPasses       = 9
	poPassBytes    = 8 << 20 // bytes that a pass reads at least
)

// poBundles are the real repositories whose PO files are read.
func poBundles() []string {
	return []string{"demo", "dnf-plugins-core", "gtranslator-po", "hello", "polib", "python-docs-pl", "switchboard", "vim-po"}
}

// poFiles are the PO files of a repository's head.
type poFiles struct {
	paths []string
	data  [][]byte
	size  int // bytes of all
}

// po measures poparse on one core against gotext and msgfmt, on the same bytes in
// turn. gotext reads the raw bytes, since it knows no charsets, and keeps neither
// order nor flags nor comments. msgfmt is a process per file: the time of its start,
// measured on a file with only a header, is subtracted, so that the ratio compares
// reading.
func (b *bench) po(ctx context.Context) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var all poTimes
	for _, name := range poBundles() {
		repo, err := b.cloneBundle(ctx, name)
		if err != nil {
			return err
		}
		if repo == "" {
			fmt.Fprintf(b.out, "parsing of %s: not measured, there is no shared data\n", name)
			continue
		}
		files, err := b.checkOut(ctx, name, repo)
		if err != nil {
			return err
		}
		took, err := b.poOne(ctx, name, files)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all.add(took)
	}
	if all.size == 0 {
		return nil
	}
	b.rate("po: parse, all bundles", "MB/s", float64(all.size)/all.parse/1e6, limitParse)
	b.rate("po: gotext's time, all bundles", "×", all.gotext/all.parse, overGotext)
	b.rate("po: msgfmt's time, all bundles where it could be measured", "×", all.msgfmt/all.besideMsgfmt, overMsgfmt)
	return b.poUnits(ctx)
}

// poTimes are the best times of a pass over files, in seconds.
type poTimes struct {
	size                 int // bytes
	parse, gotext        float64
	msgfmt, besideMsgfmt float64 // both 0 if msgfmt could not be measured
}

func (t *poTimes) add(o poTimes) {
	t.size += o.size
	t.parse += o.parse
	t.gotext += o.gotext
	t.msgfmt += o.msgfmt
	t.besideMsgfmt += o.besideMsgfmt
}

// poOne prints the rows of a repository.
func (b *bench) poOne(ctx context.Context, name string, files poFiles) (poTimes, error) {
	repeat := 1 + poPassBytes/files.size
	parse, other := math.Inf(1), math.Inf(1)
	for range poPasses {
		parse = min(parse, perPass(repeat, func() {
			for i, data := range files.data {
				_, _ = poparse.Parse(files.paths[i], data) // some real files are broken
			}
		}))
		other = min(other, perPass(repeat, func() {
			for _, data := range files.data {
				gotext.NewPo().Parse(data)
			}
		}))
	}
	b.rate("po: parse, "+name, "MB/s", float64(files.size)/parse/1e6, limitParse/2)
	b.rate("po: gotext's time, "+name, "×", other/parse, overGotext/2.)
	took := poTimes{size: files.size, parse: parse, gotext: other}
	msgfmt, start, err := b.msgfmt(ctx, files)
	switch {
	case err != nil:
		return took, err
	case msgfmt < start: // of small files it is noise
		fmt.Fprintf(b.out, "%-58s not measured: msgfmt takes longer to start than to read\n", "po: msgfmt's time, "+name)
	default:
		b.rate("po: msgfmt's time, "+name, "×", msgfmt/parse, overMsgfmt/2)
		took.msgfmt, took.besideMsgfmt = msgfmt, parse
	}
	return took, nil
}

// perPass returns the processor time of f in seconds, called repeatedly: of this
// process, including garbage collection, and of the programs that it ran. On one
// core this equals the elapsed time, but does not depend on other processes.
func perPass(repeat int, f func()) float64 {
	runtime.GC()
	start := processorTime()
	for range repeat {
		f()
	}
	return (processorTime() - start).Seconds() / float64(repeat)
}

// processorTime is the processor time of this process and of its finished children.
func processorTime() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(who, &r); err == nil { // fails only for a wrong who
			sum += time.Duration(r.Utime.Nano() + r.Stime.Nano())
		}
	}
	return sum
}

// msgfmt returns the time in which msgfmt reads all files and, apart from it, the
// time of its starts, in seconds.
func (b *bench) msgfmt(ctx context.Context, files poFiles) (read, start float64, err error) {
	if _, err := exec.LookPath("msgfmt"); err != nil {
		return 0, 0, fmt.Errorf("parsing is compared with msgfmt: install gettext: %w", err)
	}
	empty := filepath.Join(b.dir, "empty.po")
	if err := os.WriteFile(empty, []byte("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n"), 0o644); err != nil {
		return 0, 0, err
	}
	run := func(path string) {
		_ = exec.CommandContext(ctx, "msgfmt", "-o", os.DevNull, path).Run() // some real files are broken
	}
	read, start = math.Inf(1), math.Inf(1)
	for range 3 {
		start = min(start, float64(len(files.paths))*perPass(20, func() { run(empty) }))
		read = min(read, perPass(1, func() {
			for _, path := range files.paths {
				run(path)
			}
		}))
	}
	return read - start, start, ctx.Err()
}

// poUnits prints the speed of making units from files. The function is internal to
// its package, so it runs the benchmark of the package.
func (b *bench) poUnits(ctx context.Context) error {
	figures, err := goBenchmark(ctx, "./catalog/ingest/unit", `BenchmarkReadFiles/repo=(\S+)\s.*?([\d.]+) cpu-MB/s`, "-bench", "ReadFiles", "-cpu", "1", "-count", "5")
	if err != nil {
		return err
	}
	best := map[string]float64{}
	var order []string
	for _, f := range figures {
		if best[f.name] == 0 {
			order = append(order, f.name)
		}
		best[f.name] = max(best[f.name], f.value)
	}
	for _, name := range order {
		limit := float64(limitReadUnits)
		if name != "all" {
			limit /= 2
		}
		b.rate("po: units with hashes, words and states, "+name, "MB/s", best[name], limit)
	}
	return nil
}

// checkOut writes the files of a repository's head and reads its PO files.
func (b *bench) checkOut(ctx context.Context, name, repo string) (poFiles, error) {
	dir := filepath.Join(b.dir, "tree-"+name)
	if _, err := git(ctx, "clone", "-q", repo, dir); err != nil {
		return poFiles{}, err
	}
	var files poFiles
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".po") {
			return err
		}
		data, err := os.ReadFile(path)
		files.paths = append(files.paths, path)
		files.data = append(files.data, data)
		files.size += len(data)
		return err
	})
	return files, err
}

// limitChecks bounds all checks of a million units on two cores, in seconds.
const limitChecks = 6

// checks measures all quality checks over the units of real components, with the
// benchmark of catalog/ingest, which reads them.
func (b *bench) checks(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(b.shared, "data/repos")); err != nil {
		fmt.Fprintln(b.out, "checks: not measured, there is no shared data")
		return nil
	}
	figures, err := goBenchmark(ctx, "./catalog/ingest", `(BenchmarkChecks)\S*\s.*?([\d.]+) s/million`, "-bench", "^BenchmarkChecks$", "-benchtime", "3x", "-cpu", "2", "-count", "3")
	if err != nil {
		return err
	}
	best := math.Inf(1)
	for _, f := range figures {
		best = min(best, f.value)
	}
	b.row("checks: all of 1,000,000 units of real components, two cores", "s", best, limitChecks)
	return nil
}

// figure is one line of the output of a benchmark.
type figure struct {
	name  string
	value float64
}

// goBenchmark runs a benchmark of a package. line matches a line with a figure: its
// name and its value.
func goBenchmark(ctx context.Context, dir, line string, args ...string) ([]figure, error) {
	out, err := exec.CommandContext(ctx, "go", append(append([]string{"test", "-run", "^$"}, args...), dir)...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("go test: %w\n%s", err, out)
	}
	var figures []figure
	for _, m := range regexp.MustCompile(`(?m)^`+line).FindAllSubmatch(out, -1) {
		value, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			return nil, err
		}
		figures = append(figures, figure{string(m[1]), value})
	}
	if len(figures) == 0 {
		return nil, fmt.Errorf("no figure in the output of go test:\n%s", out)
	}
	return figures, nil
}
