package server

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

// TestLimitsDrift: the tables of limits in docs/security.md have every pool with its
// numbers, and the defaults of the configuration.
func TestLimitsDrift(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/security.md")
	must(t, err)
	_, section, _ := strings.Cut(string(text), "\n## Limits\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := map[string][]string{} // by pool or key
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		name := strings.Trim(cells[len(cells)-1], " `")
		if len(cells) < 3 || !regexp.MustCompile(`^[a-z_.]+$`).MatchString(name) {
			continue
		}
		for _, c := range cells[1 : len(cells)-1] {
			rows[name] = append(rows[name], strings.TrimSpace(c))
		}
	}
	want := map[string][]string{}
	s := limitsServer(t)
	for _, p := range append(s.shared, newConnections(0, nil).pools...) { // as where the system bounds nothing
		want[p.Name] = []string{number(p.Total, rows[p.Name], 0), number(p.Share, rows[p.Name], 1)}
	}
	c := config.Default()
	for key, n := range map[string]int64{
		"quotas.components": int64(c.Quotas.Components), "quotas.files": int64(c.Quotas.Files), "quotas.units": int64(c.Quotas.Units),
		"quotas.mirror": int64(c.Quotas.Mirror), "quotas.growth": int64(c.Quotas.Growth),
		"max_file_size": int64(c.MaxFileSize), "min_free_space": int64(c.MinFreeSpace), "response_cache": int64(c.ResponseCache),
	} {
		want[key] = []string{number(n, rows[key], 0)}
	}
	want["rate_limit"] = []string{"–"}
	for name := range want {
		if fmt.Sprint(rows[name]) != fmt.Sprint(want[name]) {
			t.Errorf("%s: docs/security.md says %q, the program %q", name, rows[name], want[name])
		}
	}
	for name := range rows {
		if want[name] == nil && name != "key" && name != "pool" {
			t.Errorf("docs/security.md has %s, the program has not", name)
		}
	}
	limits := newHTTPServer(nil, slog.New(slog.DiscardHandler))
	for _, fixed := range []string{
		fmt.Sprintf("| %d KiB; %g s |", maxHeaderBytes>>10, limits.ReadHeaderTimeout.Seconds()),
		fmt.Sprintf("| %g s; %g min; %g min |", limits.ReadTimeout.Seconds(), limits.WriteTimeout.Minutes(), limits.IdleTimeout.Minutes()),
	} {
		if !strings.Contains(section, fixed) {
			t.Errorf("docs/security.md has no %s", fixed)
		}
	}
}

// limitsServer is a server with its handlers, which serves nothing.
func limitsServer(t *testing.T) *server {
	t.Helper()
	c := config.Default()
	c.DataDir = config.Path(t.TempDir())
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	e, err := Open(t.Context(), c, Options{Work: WorkServe, Logger: log, Line: func(string, string) {}})
	must(t, err)
	t.Cleanup(func() { must(t, e.Close()) })
	s := &server{Settings: Settings{Config: c}, log: log, engine: e}
	_, _, end := s.handler()
	t.Cleanup(end)
	return s
}

// number writes n as the cell at i of a row does: in MiB or GiB, if that has a unit.
func number(n int64, row []string, i int) string {
	if i < len(row) && row[i] == "cores − 1" && n == int64(max(runtime.GOMAXPROCS(0)-1, 1)) {
		return row[i]
	}
	if i < len(row) {
		for unit, shift := range map[string]int{" MiB": 20, " GiB": 30} {
			if strings.HasSuffix(row[i], unit) && n&(1<<shift-1) == 0 {
				return strconv.FormatInt(n>>shift, 10) + unit
			}
		}
	}
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
