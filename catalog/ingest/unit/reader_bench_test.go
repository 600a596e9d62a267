package unit

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkReadFiles makes units of the PO files at the head of real
// repositories: parsing, hashes, word counts and states, as a first import does.
func BenchmarkReadFiles(b *testing.B) {
	const repos = "../../../../shared/data/repos"
	if _, err := os.Stat(repos); err != nil {
		b.Skipf("skipped: the bundles of real repositories are not in the repository: %v", err)
	}
	var all [][]byte
	for _, name := range []string{
		"demo", "dnf-plugins-core", "gtranslator-po", "hello", "polib", "python-docs-pl", "switchboard", "vim-po",
	} {
		files := headPOFiles(b, filepath.Join(repos, name+".bundle"))
		all = append(all, files...)
		b.Run("repo="+name, func(b *testing.B) { benchmarkRead(b, files) })
	}
	b.Run("repo=all", func(b *testing.B) { benchmarkRead(b, all) })
}

func benchmarkRead(b *testing.B, files [][]byte) {
	size := 0
	for _, data := range files {
		size += len(data)
	}
	r := NewRules("", false)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	units := 0
	s := new(Reader) // as prefetch has
	start := processorTime(b)
	for b.Loop() {
		for _, data := range files {
			if f, err := s.Read("x.po", data, r); err == nil {
				units += len(f.Units)
			}
		}
	}
	b.ReportMetric(float64(units)/b.Elapsed().Seconds(), "units/s")
	b.ReportMetric(float64(size)*float64(b.N)/1e6/(processorTime(b)-start).Seconds(), "cpu-MB/s")
}

// processorTime returns the processor time of this process. On one idle processor
// it is the time that passes; on a busy machine it is the better measure.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func headPOFiles(b *testing.B, bundle string) (files [][]byte) {
	b.Helper()
	dir := b.TempDir()
	if out, err := exec.Command("git", "clone", "-q", bundle, dir).CombinedOutput(); err != nil {
		b.Fatalf("git clone: %v\n%s", err, out)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".po") {
			return err
		}
		data, err := os.ReadFile(path)
		files = append(files, data)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return files
}
