package testrepos

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/msgmerge"
)

// Scenarios with whole PO files in every commit would be unreadable, so this file
// can put entries into a PO file: it knows blocks separated by blank lines, comment
// lines first.

// block is one entry, or a lone comment.
type block struct {
	key      string   // msgctxt U+0004 msgid, without quotes; "\x04" the header; "" not an entry
	comments []string // lines that begin with #, without #~ ones
	body     []string // the other lines, and all that begin with #~
	obsolete bool
}

func splitPO(text []byte) []block {
	var blocks []block
	var cur block
	flush := func() {
		if len(cur.comments)+len(cur.body) > 0 {
			cur.key = bodyKey(cur.body)
			blocks = append(blocks, cur)
		}
		cur = block{}
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.TrimSpace(line) == "":
			flush()
		case strings.HasPrefix(line, "#~"):
			cur.obsolete = true
			cur.body = append(cur.body, line)
		case strings.HasPrefix(line, "#"):
			cur.comments = append(cur.comments, line)
		default:
			cur.body = append(cur.body, line)
		}
	}
	flush()
	return blocks
}

func joinPO(blocks []block) []byte {
	var b strings.Builder
	for i, bl := range blocks {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, l := range slices.Concat(bl.comments, bl.body) {
			b.WriteString(l)
			b.WriteByte('\n')
		}
	}
	return []byte(b.String())
}

// bodyKey returns the key of an entry; "" if the lines have no msgid.
func bodyKey(body []string) string {
	var ctx, id strings.Builder
	var at *strings.Builder
	found := false
	for _, l := range body {
		l = strings.TrimSpace(strings.TrimPrefix(l, "#~"))
		switch {
		case strings.HasPrefix(l, "|"):
			continue
		case strings.HasPrefix(l, "msgctxt "):
			at = &ctx
		case strings.HasPrefix(l, "msgid "):
			at, found = &id, true
		case strings.HasPrefix(l, "msg"):
			at = nil
		}
		if at != nil {
			at.WriteString(quoted(l))
		}
	}
	if !found {
		return ""
	}
	return ctx.String() + "\x04" + id.String()
}

// quoted returns the text between the first and the last double quote.
func quoted(l string) string {
	i, j := strings.IndexByte(l, '"'), strings.LastIndexByte(l, '"')
	if i < 0 || i == j {
		return ""
	}
	return l[i+1 : j]
}

// comment lines by kind, in the order gettext writes them.
type comments struct {
	translator, extracted, references, flags, previous []string
}

func sortComments(lines []string) comments {
	var c comments
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "#."):
			c.extracted = append(c.extracted, l)
		case strings.HasPrefix(l, "#:"):
			c.references = append(c.references, l)
		case strings.HasPrefix(l, "#,"):
			for f := range strings.SplitSeq(l[2:], ",") {
				c.flags = append(c.flags, strings.TrimSpace(f))
			}
		case strings.HasPrefix(l, "#|"):
			c.previous = append(c.previous, l)
		default:
			c.translator = append(c.translator, l)
		}
	}
	return c
}

func (c comments) lines() []string {
	out := slices.Concat(c.translator, c.extracted, c.references)
	if len(c.flags) > 0 {
		out = append(out, "#, "+strings.Join(c.flags, ", "))
	}
	return append(out, c.previous...)
}

// withTranslation returns the entry old with the body, the translator comments (if
// any), the fuzzy flag and the previous text of given.
func withTranslation(old, given block) block {
	c, g := sortComments(old.comments), sortComments(given.comments)
	if len(g.translator) > 0 {
		c.translator = g.translator
	}
	if len(g.extracted) > 0 {
		c.extracted = g.extracted
	}
	if len(g.references) > 0 {
		c.references = g.references
	}
	flags := g.flags
	for _, f := range c.flags {
		if f != "fuzzy" && !slices.Contains(flags, f) {
			flags = append(flags, f)
		}
	}
	c.flags, c.previous = flags, g.previous
	return block{key: given.key, comments: c.lines(), body: given.body}
}

// putEntries adds the given entries: each replaces the one with the same msgctxt and
// msgid, or is added after the last live one.
func putEntries(text, given []byte) []byte {
	blocks := splitPO(text)
	for _, g := range splitPO(given) {
		i := slices.IndexFunc(blocks, func(b block) bool { return b.key == g.key && g.key != "" })
		if i >= 0 && !blocks[i].obsolete && !g.obsolete {
			blocks[i] = withTranslation(blocks[i], g)
			continue
		}
		if i >= 0 {
			blocks = slices.Delete(blocks, i, i+1)
		}
		if g.obsolete {
			blocks = append(blocks, g)
		} else {
			end := slices.IndexFunc(blocks, func(b block) bool { return b.obsolete })
			if end < 0 {
				end = len(blocks)
			}
			blocks = slices.Insert(blocks, end, g)
		}
	}
	return joinPO(blocks)
}

// mergePO works like `msgmerge --no-fuzzy-matching --previous`: the entries, order,
// references and flags of the POT, the translations of given or else of old, and as
// obsolete the entries that the POT lacks.
func mergePO(pot, old, given []byte) ([]byte, error) {
	template, err := poparse.Parse("POT", pot)
	if err != nil {
		return nil, err
	}
	file, err := poparse.Parse("PO", putEntries(old, given))
	if err != nil {
		return nil, err
	}
	merged, err := msgmerge.Merge(file, template, msgmerge.Options{Previous: true, NoFuzzyMatching: true, NoWrap: true})
	if err != nil {
		return nil, err
	}
	flags := map[[2]string][]string{} // msgmerge drops those that gettext does not know
	for e := range template.Live() {
		flags[[2]string{e.Context, e.ID}] = e.Flags
	}
	for e := range merged.File.Live() {
		e.Flags = flags[[2]string{e.Context, e.ID}]
	}
	var b bytes.Buffer
	_, err = merged.File.WriteTo(&b)
	return b.Bytes(), err
}

// repeat writes the part above the line %% once and the part below it n times, with
// {n} counting from 1 and {nn} padded to seven digits.
func repeat(text []byte, n int) []byte {
	head, body, ok := bytes.Cut(text, []byte("%%\n"))
	if !ok {
		head, body = nil, text
	}
	var out bytes.Buffer
	out.Grow(len(head) + n*(len(body)+8))
	out.Write(head)
	for i := 1; i <= n; i++ {
		b := bytes.ReplaceAll(body, []byte("{n}"), strconv.AppendInt(nil, int64(i), 10))
		out.Write(bytes.ReplaceAll(b, []byte("{nn}"), fmt.Appendf(nil, "%07d", i)))
	}
	return out.Bytes()
}
