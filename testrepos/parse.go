package testrepos

import (
	"bytes"
	"cmp"
	"fmt"
	"net/mail"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
)

// maxRepeat bounds (repeat N): with a body of 100 bytes it makes 100 MB.
const maxRepeat = 1_000_000

// Parse reads a scenario; README.md describes the format. Every error begins with its
// file and line. What depends on the files of earlier commits (entries of a file that
// is not there, a merge conflict) shows only when the step is made.
func Parse(name string, data []byte) (*Scenario, error) {
	p := &parser{
		file: name,
		s: &Scenario{
			Name:   strings.TrimSuffix(path.Base(name), ".txtar"),
			Branch: DefaultBranch, Initial: -1,
		},
		known: map[string]bool{},
		clock: time.Date(2024, 1, 1, 9, 0, 0, 0, time.UTC),
	}
	if err := p.parse(txtar.Parse(data)); err != nil {
		return nil, err
	}
	return p.s, nil
}

type parser struct {
	file   string
	s      *Scenario
	known  map[string]bool // labels and branches so far
	clock  time.Time       // date of the step before
	author Person
}

func (p *parser) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", p.file, line, fmt.Errorf(format, args...))
}

func (p *parser) parse(a *txtar.Archive) error {
	if err := p.settings(a.Comment); err != nil {
		return err
	}
	p.known[p.s.Branch] = true
	line := 1 + bytes.Count(a.Comment, []byte("\n"))
	for _, f := range a.Files {
		if err := p.section(f, line); err != nil {
			return err
		}
		line += 1 + bytes.Count(f.Data, []byte("\n"))
	}
	return p.finish()
}

// settings reads the part before the first section.
func (p *parser) settings(comment []byte) error {
	var about []string
	fields, err := p.fields(comment, 1, func(text string) { about = append(about, text) })
	if err != nil {
		return err
	}
	p.s.About = strings.TrimSpace(strings.Join(about, "\n"))
	for _, f := range fields {
		switch f.key {
		case "branch":
			if p.s.Branch = f.value; !validRefName(f.value) {
				return p.errorf(f.line, "branch %q is no name for a branch", f.value)
			}
		case "initial":
			n, err := strconv.Atoi(f.value)
			if err != nil || n < 0 {
				return p.errorf(f.line, "initial: %q is no number of steps", f.value)
			}
			p.s.Initial = n
		default:
			return p.errorf(f.line, "unknown setting %q; there are branch, initial", f.key)
		}
	}
	return nil
}

// finish checks what needs all steps.
func (p *parser) finish() error {
	n := len(p.s.Steps)
	switch {
	case p.s.Initial < 0:
		p.s.Initial = n
	case p.s.Initial > n:
		return p.errorf(1, "initial: %d, but there are %d steps", p.s.Initial, n)
	}
	if n > 0 && p.s.Steps[n-1].Hold {
		return p.errorf(p.s.Steps[n-1].Line, "the last step cannot be held back")
	}
	if p.s.Initial > 0 && p.s.Steps[p.s.Initial-1].Hold {
		return p.errorf(p.s.Steps[p.s.Initial-1].Line, "the last step of the initial push cannot be held back")
	}
	return nil
}

// section reads one txtar file: a step, or a file of the step before it.
func (p *parser) section(f txtar.File, line int) error {
	if label, ok := strings.CutPrefix(f.Name, "commit "); ok {
		return p.step(label, false, f.Data, line)
	}
	if label, ok := strings.CutPrefix(f.Name, "ref "); ok {
		return p.step(label, true, f.Data, line)
	}
	label, rest, ok := strings.Cut(f.Name, "/")
	n := len(p.s.Steps)
	switch {
	case !ok:
		return p.errorf(line, "section %q: want `commit LABEL`, `ref LABEL` or `LABEL/PATH`", f.Name)
	case n == 0 || p.s.Steps[n-1].Label != label:
		return p.errorf(line, "file of step %q is not below `-- commit %s --`", label, label)
	case p.s.Steps[n-1].RefOnly:
		return p.errorf(line, "a ref step has no files")
	}
	file, err := parseFile(rest, f.Data)
	if err != nil {
		return p.errorf(line, "%v", err)
	}
	file.Line = line
	p.s.Steps[n-1].Files = append(p.s.Steps[n-1].Files, file)
	return nil
}

// step reads the head of a commit or ref section.
func (p *parser) step(label string, refOnly bool, data []byte, line int) error {
	if !validLabel(label) {
		return p.errorf(line, "label %q: want letters, digits, - and _", label)
	}
	for _, s := range p.s.Steps {
		if s.Label == label {
			return p.errorf(line, "step %q again; it is at line %d", label, s.Line)
		}
	}
	st := Step{Label: label, Line: line, RefOnly: refOnly, Branch: p.s.Branch}
	fields, err := p.fields(data, line+1, nil)
	if err != nil {
		return err
	}
	m := meta{p: p, st: &st}
	for _, f := range fields {
		if err := m.set(f); err != nil {
			return err
		}
	}
	if err := m.complete(); err != nil {
		return err
	}
	if !refOnly {
		p.known[label] = true
	}
	if !refOnly || st.To != "" {
		p.known[st.Branch] = true
	}
	p.s.Steps = append(p.s.Steps, st)
	return nil
}

// field is a `key: value` line; its value continues in indented lines.
type field struct {
	key, value string
	line       int
}

// fields splits key: value lines. comment, if not nil, gets empty lines and lines
// that begin with #.
func (p *parser) fields(data []byte, line int, comment func(string)) ([]field, error) {
	var out []field
	gap := "" // empty lines, kept if the value continues after them
	for i, l := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		l = strings.TrimRight(l, " \r")
		switch {
		case strings.HasPrefix(l, "#"):
			if comment != nil {
				comment(strings.TrimPrefix(strings.TrimPrefix(l, "#"), " "))
			}
		case strings.HasPrefix(l, "  "):
			if len(out) == 0 {
				return nil, p.errorf(line+i, "indented line %q goes on with nothing", l)
			}
			out[len(out)-1].value += gap + "\n" + strings.TrimPrefix(l, "  ")
			gap = ""
		case l == "":
			gap += "\n"
		default:
			key, value, ok := strings.Cut(l, ":")
			if !ok {
				return nil, p.errorf(line+i, "%q: want `key: value`, or # before a remark", l)
			}
			gap = ""
			out = append(out, field{key: key, value: strings.TrimSpace(value), line: line + i})
		}
	}
	return out, nil
}

func validLabel(s string) bool {
	for _, c := range s {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", c) {
			return false
		}
	}
	return s != ""
}

// validRefName is the part of git-check-ref-format that scenarios need.
func validRefName(s string) bool {
	for _, part := range strings.Split(s, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.ContainsAny(s, " ~^:?*[\\\x7f\n\t") && !strings.Contains(s, "..") && !strings.Contains(s, "@{")
}

// defaultAuthor is the author of scenarios that name no author.
const (
	defaultAuthorName  = "Test Author"
	defaultAuthorEmail = "author@example.org"
)

// meta fills a Step from the fields of its section.
type meta struct {
	p         *parser
	st        *Step
	committed time.Time
	hasParent bool
}

func (m *meta) set(f field) error {
	if m.st.RefOnly && !slices.Contains([]string{"branch", "to", "push", "force"}, f.key) {
		return m.p.errorf(f.line, "unknown key %q in a ref step; there are branch, to, force, push", f.key)
	}
	switch f.key {
	case "author":
		return m.person(f, &m.st.Author)
	case "committer":
		return m.person(f, &m.st.Committer)
	case "date":
		return m.date(f, &m.st.Author.When)
	case "committed":
		return m.date(f, &m.committed)
	case "message":
		m.st.Message = strings.TrimRight(f.value, "\n") + "\n"
	case "branch":
		if m.st.Branch = f.value; !validRefName(f.value) {
			return m.p.errorf(f.line, "branch %q is no name for a branch", f.value)
		}
	case "parents", "merge", "tree", "to":
		return m.revs(f)
	case "tags":
		m.st.Tags = strings.Fields(f.value)
	case "drop":
		m.st.Drop = strings.Fields(f.value)
	case "force":
		if m.st.Force = f.value == "yes"; !m.st.Force {
			return m.p.errorf(f.line, "force: want yes, or no such line")
		}
	case "push":
		if m.st.Hold = f.value == "with-next"; !m.st.Hold {
			return m.p.errorf(f.line, "push: want with-next, or no such line")
		}
	default:
		return m.p.errorf(f.line, "unknown key %q; there are author, branch, committed, committer, date, drop, force, merge, message, parents, push, tags, tree", f.key)
	}
	return nil
}

func (m *meta) person(f field, to *Person) error {
	who, err := parsePerson(f.value, Person{})
	if err != nil || who.Name == "" {
		return m.p.errorf(f.line, "%s %q: want Name <email>", f.key, f.value)
	}
	to.Name, to.Email = who.Name, who.Email
	return nil
}

func (m *meta) date(f field, to *time.Time) error {
	when, err := time.Parse(time.RFC3339, f.value)
	if err != nil {
		if when, err = mail.ParseDate(f.value); err != nil {
			return m.p.errorf(f.line, "%s %q: want a time such as 2024-03-01T09:30:00+01:00", f.key, f.value)
		}
	}
	*to = inZone(when)
	return nil
}

// inZone keeps the offset of a time and drops the name of the zone: time.Parse
// prefers a matching local zone, on which commits must not depend.
func inZone(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.In(time.FixedZone("", offset))
}

func (m *meta) revs(f field) error {
	list := strings.Fields(f.value)
	if f.key == "parents" && f.value == "none" {
		m.st.Orphan, m.hasParent = true, true
		return nil
	}
	for _, rev := range list {
		if !m.p.known[rev] {
			return m.p.errorf(f.line, "%s: %q is no earlier label and no branch so far", f.key, rev)
		}
	}
	single := f.key == "tree" || f.key == "to"
	if len(list) == 0 && f.key != "to" || single && len(list) > 1 {
		return m.p.errorf(f.line, "%s: want labels or branches (one for tree and to)", f.key)
	}
	switch f.key {
	case "parents":
		m.st.Parents, m.hasParent = list, true
	case "merge":
		m.st.Merge = list
	case "tree":
		m.st.Tree = list[0]
	case "to":
		m.st.To = f.value
	}
	return nil
}

// complete applies the defaults: the author of the step before, one hour later.
func (m *meta) complete() error {
	st, p := m.st, m.p
	if st.RefOnly {
		return nil
	}
	if !p.known[st.Branch] && !m.hasParent {
		return p.errorf(st.Line, "branch %q is new: say where it begins with `parents: LABEL` or `parents: none`", st.Branch)
	}
	if st.Author.Name == "" {
		st.Author.Name, st.Author.Email = defaultAuthorName, defaultAuthorEmail
		if p.author.Name != "" {
			st.Author.Name, st.Author.Email = p.author.Name, p.author.Email
		}
	}
	p.author = st.Author
	if st.Author.When.IsZero() {
		st.Author.When = p.clock.Add(time.Hour)
	}
	p.clock = st.Author.When
	if st.Committer.Name == "" {
		st.Committer.Name, st.Committer.Email = st.Author.Name, st.Author.Email
	}
	st.Committer.When = st.Author.When
	if !m.committed.IsZero() {
		st.Committer.When = m.committed
	}
	st.Message = cmp.Or(st.Message, "Commit "+st.Label+"\n")
	return nil
}
