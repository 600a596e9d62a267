package testrepos

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"golang.org/x/tools/txtar"
)

// Parse reads a scenario; README.md describes the format. Every error begins with its
// file and line. What depends on earlier commits (a parent, entries of a file that is not
// there, a merge conflict) shows only when the step is made.
func Parse(name string, data []byte) (*Scenario, error) {
	archive := txtar.Parse(data)
	var settings struct {
		Branch  string
		Initial *int
	}
	line, err := decode(archive.Comment, 1, &settings)
	s := &Scenario{Name: strings.TrimSuffix(path.Base(name), ".txtar"), Branch: cmp.Or(settings.Branch, DefaultBranch)}
	for i := 0; i < len(archive.Files) && err == nil; i++ {
		f := archive.Files[i]
		if line, err = s.section(f, line); err == nil {
			line += 1 + bytes.Count(f.Data, []byte("\n"))
		}
	}
	if s.Initial = len(s.Steps); settings.Initial != nil && err == nil {
		s.Initial = *settings.Initial
	}
	if n := len(s.Steps); err == nil && (s.Initial < 0 || s.Initial > n) {
		line, err = 1, fmt.Errorf("initial: %d, but there are %d steps", s.Initial, n)
	} else if err == nil && n > 0 && s.Steps[n-1].Hold {
		line, err = s.Steps[n-1].Line, errors.New("the last step cannot be held back")
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	return s, nil
}

// decode reads the YAML of a section that begins at a line. It returns the line after it,
// or that of the error, as far as it is known.
func decode(data []byte, line int, into any) (int, error) {
	err := yaml.UnmarshalWithOptions(data, into, yaml.Strict(), yaml.CustomUnmarshaler(func(t *time.Time, text []byte) (err error) {
		*t, err = time.Parse(time.RFC3339, string(bytes.TrimSpace(text)))
		return err
	}))
	if at := yaml.Error(nil); errors.As(err, &at) {
		return line + at.GetToken().Position.Line - 1, errors.New(at.GetMessage())
	}
	if err != nil {
		return line, err
	}
	return line + bytes.Count(data, []byte("\n")), nil
}

// section reads one txtar file: a step, or a file of the step before it. It returns its
// line, or that of the error.
func (s *Scenario) section(f txtar.File, line int) (int, error) {
	if kind, label, ok := strings.Cut(f.Name, " "); ok && (kind == "commit" || kind == "ref") {
		same := func(st Step) bool { return st.Label == label }
		if label == "" || strings.ContainsAny(label, " /") || slices.ContainsFunc(s.Steps, same) {
			return line, fmt.Errorf("label %q: want one that no other step has, without blanks and slashes", label)
		}
		var st Step
		if at, err := decode(f.Data, line+1, &st); err != nil {
			return at, err
		}
		st.Label, st.Line, st.RefOnly = label, line, kind == "ref"
		st.Branch, st.Message = cmp.Or(st.Branch, s.Branch), cmp.Or(st.Message, "Commit "+label)
		s.Steps = append(s.Steps, st)
		return line, nil
	}
	label, rest, ok := strings.Cut(f.Name, "/")
	if n := len(s.Steps); !ok || n == 0 || s.Steps[n-1].Label != label || s.Steps[n-1].RefOnly {
		return line, fmt.Errorf("section %q: want `commit LABEL`, `ref LABEL`, or `LABEL/PATH` below its `commit LABEL`", f.Name)
	}
	file, err := parseFile(rest, f.Data)
	if err != nil {
		return line, err
	}
	file.Line = line
	st := &s.Steps[len(s.Steps)-1]
	st.changes = append(st.changes, file)
	return line, nil
}
