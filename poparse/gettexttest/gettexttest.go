// Package gettexttest has what tests hold PO files against: the counts of GNU msgfmt.
//
// Goals: one way to run msgfmt and to read its counts and the tables of them. It
// imports none of our packages, so that the tests of poparse can use it. Non-goals:
// repositories (see testrepos and gitsource/gittest), and any use outside tests.
package gettexttest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Counts are the numbers that msgfmt --statistics prints.
type Counts struct{ Translated, Fuzzy, Untranslated int }

// String lists the counts.
func (c Counts) String() string {
	return fmt.Sprintf("%d translated, %d fuzzy, %d untranslated", c.Translated, c.Fuzzy, c.Untranslated)
}

var statistics = regexp.MustCompile(`(\d+) (translated|fuzzy|untranslated)`)

// ParseStatistics reads the line that msgfmt --statistics prints.
func ParseStatistics(tb testing.TB, line string) (c Counts) {
	tb.Helper()
	for _, m := range statistics.FindAllStringSubmatch(line, -1) {
		switch n := Number(tb, m[1]); m[2] {
		case "translated":
			c.Translated = n
		case "fuzzy":
			c.Fuzzy = n
		default:
			c.Untranslated = n
		}
	}
	return c
}

// Msgfmt returns the counts that msgfmt prints of a file, or its complaints.
func Msgfmt(tb testing.TB, data []byte) (Counts, string) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), "msgfmt", "--statistics", "-o", os.DevNull, "-")
	cmd.Stdin = bytes.NewReader(data)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "LANGUAGE=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return Counts{}, string(out)
	}
	return ParseStatistics(tb, string(out)), ""
}

// Table reads a table of cells between tabs; its first line names the columns.
func Table(tb testing.TB, file string) (rows []map[string]string) {
	tb.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	names := strings.Split(lines[0], "\t")
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, cell := range strings.Split(line, "\t") {
			if i < len(names) {
				row[names[i]] = cell
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// Number reads a decimal number.
func Number(tb testing.TB, s string) int {
	tb.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}
