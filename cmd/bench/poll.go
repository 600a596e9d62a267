package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/repoglot/repoglot/gitsource"
)

// pollOften prints the seconds and the allocated bytes of a fetch without changes.
func pollOften(ctx context.Context, mirror *gitsource.Mirror, out io.Writer) error {
	if _, err := mirror.Fetch(ctx); err != nil { // opens the connection
		return err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	started := time.Now()
	for range quietPolls {
		if _, err := mirror.Fetch(ctx); err != nil {
			return err
		}
	}
	took := time.Since(started).Seconds() / quietPolls
	runtime.ReadMemStats(&after)
	_, err := fmt.Fprintln(out, took, float64(after.TotalAlloc-before.TotalAlloc)/quietPolls)
	return err
}
