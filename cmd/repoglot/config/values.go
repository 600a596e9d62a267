package config

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// scalar is a value that is written as one word. The error of parse says how to write it.
type scalar interface{ parse(text string) error }

// wordParser returns what reads a value that is written as one word; nil for other values.
func wordParser(dst reflect.Value) func(text string) error {
	switch v := dst.Addr().Interface().(type) {
	case scalar:
		return v.parse
	case *time.Duration:
		return func(text string) (err error) {
			if *v, err = time.ParseDuration(text); err != nil || *v < 0 {
				err = errors.New("must be a duration; write it like 30s, 5m or 1h30m")
			}
			return err
		}
	case *netip.Prefix:
		return func(text string) (err error) {
			*v, err = parseNetwork(text)
			return err
		}
	case *bool:
		return func(text string) error {
			if *v = strings.EqualFold(text, "true"); !*v && !strings.EqualFold(text, "false") {
				return errors.New("must be true or false")
			}
			return nil
		}
	case *int:
		return func(text string) error {
			n, err := strconv.ParseInt(text, 10, 32)
			if *v = int(n); err != nil {
				return errors.New("must be a whole number below 2147483648")
			}
			return nil
		}
	}
	if dst.Kind() != reflect.String {
		return nil
	}
	return func(text string) error { dst.SetString(text); return nil }
}

// day is a day of UTC.
type day struct{ time.Time }

func (d *day) parse(text string) (err error) {
	if d.Time, err = time.Parse(time.DateOnly, text); err != nil {
		err = errors.New("must be a day; write it like 2024-01-31")
	}
	return err
}

// Path is a path of this machine. In the file it is relative to the folder of
// the file; `~/` is the home directory.
type Path string

// Secret is a text that is never printed.
type Secret string

// String returns "***", or "" for no secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// GoString returns the same as String, so that %#v does not print the secret.
func (s Secret) GoString() string { return s.String() }

// Size is a number of bytes.
type Size int64

var sizeUnits = [...]struct {
	suffix string
	bytes  int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"B", 1},
	{"", 1},
}

func (s *Size) parse(text string) error {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/u.bytes {
			break
		}
		*s = Size(n * u.bytes)
		return nil
	}
	return errors.New("must be a size; write it like 128MiB")
}

// String returns the size with the largest unit that divides it.
func (s Size) String() string {
	for _, u := range [...]int{2, 1, 0} {
		if s > 0 && int64(s)%sizeUnits[u].bytes == 0 {
			return strconv.FormatInt(int64(s)/sizeUnits[u].bytes, 10) + sizeUnits[u].suffix
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// parseNetwork reads a network; an address is a network of one address.
func parseNetwork(text string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked(), nil
	}
	a, err := netip.ParseAddr(text)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, errors.New("must be an address or a network; write it like 127.0.0.1 or 10.0.0.0/8")
	}
	return netip.PrefixFrom(a, a.BitLen()), nil
}

// Rate is a number of requests in a span of time; the zero value means no bound.
type Rate struct {
	// Count is the number of requests.
	Count int
	// Per is the span: a second, minute, hour or day.
	Per time.Duration
}

func (r *Rate) parse(text string) error {
	count, per, ok := strings.Cut(text, "/")
	n, err := strconv.ParseInt(count, 10, 32)
	spans := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	if !ok || err != nil || n < 1 || spans[per] == 0 {
		return errors.New("must be a rate; write it like 1000/h (units: s, m, h, d)")
	}
	*r = Rate{Count: int(n), Per: spans[per]}
	return nil
}

// Address is the address of a repository or a database. It may have credentials:
// printing leaves them out, Raw does not.
type Address string

// Raw returns the address as written, with credentials: to connect, never to print.
func (a Address) Raw() string { return string(a) }

// String returns the address without its credentials.
func (a Address) String() string { return repourl.Redact(string(a)) }

// GoString returns the same as String, so that %#v prints no credentials.
func (a Address) GoString() string { return a.String() }

// LogValue returns the same as String.
func (a Address) LogValue() slog.Value { return slog.StringValue(a.String()) }

// Error is one mistake of a configuration.
type Error struct {
	// File is the path of the file, or the name of an environment variable.
	File string
	// Line and Column count from 1; they are 0 if the mistake is not in the file.
	Line, Column int
	// Msg says what is wrong and what to do about it, in one line and without credentials.
	Msg string
}

// Error returns "FILE:LINE:COLUMN: message".
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
}

// Errors are all mistakes of a configuration, in the order of the file.
type Errors []*Error

// Error returns one line per mistake.
func (l Errors) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// position is a position in the file; the zero value is not in it.
type position struct{ line, column int }

// maxErrors bounds the list of mistakes: one alias can repeat a mistake a thousand times.
const maxErrors = 100

// report collects mistakes and the positions of all values, for mistakes that are found later.
type report struct {
	file      string
	errs      Errors
	positions map[string]position    // by path: "projects[0].components[1].repo"
	keys      map[reflect.Type]*keys // of the structs met so far
	variables map[string]bool        // of the environment, which keys with the tag env name
}

// at reports a mistake at a position, unless it is the same as the last one.
func (r *report) at(p position, format string, args ...any) {
	e := Error{File: r.file, Line: p.line, Column: p.column, Msg: oneLine(fmt.Sprintf(format, args...))}
	if n := len(r.errs); n < maxErrors && (n == 0 || *r.errs[n-1] != e) {
		r.errs = append(r.errs, &e)
	}
}

// on reports a mistake of the value at a path, at its position or the nearest one around it.
func (r *report) on(path, format string, args ...any) {
	for p := path; ; {
		if at, ok := r.positions[p]; ok {
			r.at(at, format, args...)
			return
		}
		i := strings.LastIndexAny(p, ".[")
		if i < 0 {
			r.at(position{1, 1}, format, args...)
			return
		}
		p = p[:i]
	}
}

// place is a struct of the file: an item of a list, or the value of a key.
type place struct {
	*report
	path string
}

func (p place) bad(key, format string, args ...any) {
	p.on(p.path+"."+key, p.path+"."+key+" "+format, args...)
}

func (p place) set(key string) bool {
	_, set := p.positions[p.path+"."+key]
	return set
}

// oneLine replaces line breaks and other control characters by spaces.
func oneLine(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, s)
}

// sample quotes a value of a file for a message; long values are cut.
func sample(s string) string {
	return fmt.Sprintf("%q", catalog.Clip(s, 60))
}
