package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
)

// Error is one mistake of a configuration.
type Error struct {
	// File is the path of the file, or the name of an environment variable.
	File string
	// Line and Column count from 1; they are 0 if the mistake is not in the file.
	Line, Column int
	// Msg says what is wrong and what to do about it, in one line and without
	// credentials.
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

func (l Errors) sort() {
	slices.SortStableFunc(l, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// position is a position in the file; the zero value is not in it.
type position struct{ line, column int }

// maxErrors bounds the list of mistakes: one alias can repeat a mistake a thousand
// times.
const maxErrors = 100

// report collects mistakes and the positions of all values, for mistakes that are
// found later.
type report struct {
	file      string
	errs      Errors
	positions map[string]position    // by path: "projects[0].components[1].repo"
	keys      map[reflect.Type]*keys // of the structs met so far
}

// at reports a mistake at a position, unless it is the same as the last one.
func (r *report) at(p position, format string, args ...any) {
	e := Error{File: r.file, Line: p.line, Column: p.column, Msg: oneLine(fmt.Sprintf(format, args...))}
	if n := len(r.errs); n < maxErrors && (n == 0 || *r.errs[n-1] != e) {
		r.errs = append(r.errs, &e)
	}
}

// on reports a mistake of the value at a path, at its own position or that of the
// nearest value around it.
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
