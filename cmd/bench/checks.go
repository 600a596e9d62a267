package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// limitChecks bounds all checks of a million units on two cores, in seconds.
const limitChecks = 6

// checks measures all quality checks over the units of real components, with the
// benchmark of catalog/ingest, which reads them.
func (b *bench) checks(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(b.shared, "data/repos")); err != nil {
		fmt.Fprintln(b.out, "checks: not measured, there is no shared data")
		return nil
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^BenchmarkChecks$", "-benchtime", "3x", "-cpu", "2", "-count", "3", "./catalog/ingest")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test: %w\n%s", err, out)
	}
	best := math.Inf(1)
	for _, m := range regexp.MustCompile(`(?m)^BenchmarkChecks\S*\s.*?([\d.]+) s/million`).FindAllSubmatch(out, -1) {
		seconds, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			return err
		}
		best = min(best, seconds)
	}
	if math.IsInf(best, 1) {
		return fmt.Errorf("no figure in the output of go test:\n%s", out)
	}
	b.row("checks: all of 1,000,000 units of real components, two cores", "s", best, limitChecks)
	return nil
}
