package web

import (
	"cmp"
	"context"
	gopath "path"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// codePlace is a reference to the code.
type codePlace struct {
	link
	Open  string     // the page with the lines around it; "" if they cannot be read
	Asked bool       // it is this page
	Lines []codeLine // none if the file is not there
}

type codeLine struct {
	Number int
	Text   []span
}

// fillPlaces links the references of the string to the repository browser, and reads the lines
// around the one that the address asks for.
func (p *Pages) fillPlaces(ctx context.Context, snap *store.Snapshot, _ *rest.Request, v *view, o *oneString) error {
	c, location := &o.Row.Component, o.Unit.Location
	if location == "" && o.Unit.SourceID != 0 { // a file without references has those of the template
		source, err := snap.Unit(ctx, o.Unit.SourceID)
		if err != nil {
			return err
		}
		location = source.Location
	}
	var code *store.ComponentRow
	if location != "" { // else no page opens any
		var err error
		if code, err = p.codeOf(ctx, snap, &o.Row); err != nil {
			return err
		}
	}
	for ref := range strings.SplitSeq(location, ",") {
		ref = strings.TrimSpace(ref)
		if ref == "" || len(o.Places) == 20 {
			continue
		}
		file, line, _ := strings.Cut(ref, ":")
		n, _ := strconv.Atoi(line)
		place, number := codePlace{link: link{Name: visible(ref), URL: placeURL(c, true, file, max(n, 1))}}, strconv.Itoa(len(o.Places)+1)
		if code != nil {
			place.Open = v.with("code", number) + "#code"
			if place.Asked = v.param("code") == number; place.Asked {
				beside := gopath.Dir(cmp.Or(c.Settings.NewBase, o.Row.Filename)) // as xgettext writes it there
				text, err := p.env.Commits.Code(ctx, code, []string{gopath.Clean(file), gopath.Join(beside, file)})
				if err != nil {
					return err
				}
				place.Lines = linesAround(text, n, o.Unit.Source)
			}
		}
		o.Places = append(o.Places, place)
	}
	o.FileURL = fileURL(c, o.Row.Filename)
	return nil
}

// codeOf is a component whose clones have the code of a translation's strings: its own, or one that
// the client may see, if the template is elsewhere; nil if nobody gets it from here.
func (p *Pages) codeOf(ctx context.Context, snap *store.Snapshot, t *store.TranslationRow) (*store.ComponentRow, error) {
	if s := &t.Component.Settings; p.env.Commits == nil || p.env.WithoutGitExport {
		return nil, nil
	} else if s.TemplateElsewhere() {
		all, ids, err := resource.ServedComponents(ctx, snap)
		for _, id := range ids {
			if c := all[id]; !c.Settings.TemplateElsewhere() && c.Repo == cmp.Or(s.TemplateRepo, t.Component.Repo) && c.Branch == s.TemplateBranch {
				return c, err
			}
		}
		return nil, err
	}
	return resource.RowOf(t), nil
}

const (
	codeAround = 5   // how many lines are shown before a line of code, and after it
	codeWidth  = 400 // how much of a line is shown, in bytes
)

// linesAround are the lines around the nearest one to a number that has the beginning of a source,
// which is marked, or else around that number.
func linesAround(text string, number int, source string) (list []codeLine) {
	first := catalog.FirstForm(source)
	first, _, _ = strings.Cut(strings.TrimLeft(first, "\n"), "\n")
	quoted := strconv.Quote(first) // as most languages write it
	part := string([]rune(first)[:min(len([]rune(first)), 20)])
	lines, best, mark := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), number-1, ""
	for _, needle := range []string{quoted[1 : len(quoted)-1], first, part} {
		far := len(lines)
		for i, line := range lines {
			if d := max(i-number+1, number-1-i); needle != "" && d < far && strings.Contains(line, needle) {
				best, far, mark = i, d, needle
			}
		}
		if mark != "" {
			break
		}
	}
	mark = strings.ToValidUTF8(mark[:min(len(mark), codeWidth*3/4)], "") // which is within what is shown of a line
	for i := max(0, best-codeAround); text != "" && i < min(len(lines), best+codeAround+1); i++ {
		line, shown := codeLine{Number: i + 1}, lines[i]
		if from := max(strings.Index(shown, mark)-codeWidth/4, 0); len(shown) > codeWidth {
			shown = strings.ToValidUTF8(shown[from:min(from+codeWidth, len(shown))], "")
		}
		before, after, _ := strings.Cut(shown, mark)
		if line.Text = []span{{Text: visible(shown)}}; i == best && mark != "" {
			line.Text = []span{{Text: visible(before)}, {Kind: "mark", Text: visible(mark)}, {Text: visible(after)}}
		}
		list = append(list, line)
	}
	return list
}
