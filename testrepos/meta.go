package testrepos

import (
	"cmp"
	"net/mail"
	"slices"
	"strings"
	"time"
)

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
