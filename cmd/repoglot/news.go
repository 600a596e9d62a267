package main

import (
	"fmt"
	"strconv"

	"github.com/repoglot/repoglot/catalog/ingest"
)

// logged is how many new failures one line of the log names.
const logged = 10

// newsLines tells of each new failure of a pull, at most so many, and of how many
// there are more.
func newsLines(report *ingest.Report, most int) (lines []string) {
	names := map[int64]string{}
	for i := range report.Components {
		c := &report.Components[i]
		names[c.ID] = c.Project + "/" + c.Slug
	}
	for _, f := range report.News.List[:min(most, len(report.News.List))] {
		name, ok := names[f.ComponentID]
		if !ok {
			name = "component " + strconv.FormatInt(f.ComponentID, 10)
		}
		lines = append(lines, fmt.Sprintf("%s %s: %s: %q (unit %d)", name, f.Language, f.Check, f.Source, f.UnitID))
	}
	if more := report.News.Total - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}
