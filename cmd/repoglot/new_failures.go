package main

import (
	"fmt"
	"strconv"

	"github.com/repoglot/repoglot/catalog/ingest"
)

// maxLogged bounds the new failures in one line of the log.
const maxLogged = 10

// newFailureLines describes the new failures of a pull: up to most of them, and
// the number of the others.
func newFailureLines(report *ingest.Report, most int) (lines []string) {
	names := map[int64]string{}
	for i := range report.Components {
		c := &report.Components[i]
		names[c.ID] = c.Project + "/" + c.Slug
	}
	for _, f := range report.NewFailures.List[:min(most, len(report.NewFailures.List))] {
		name, ok := names[f.ComponentID]
		if !ok {
			name = "component " + strconv.FormatInt(f.ComponentID, 10)
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s: %q (unit %d)", name, f.Language, f.Check, f.Source, f.UnitID))
	}
	if more := report.NewFailures.Total - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}
