package checks

import (
	"iter"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// safeHTML fails if a sanitiser would change the translation that allows only the
// tags and attributes of the source. Text that is no tag, such as a lone "<" or
// "&", is always safe.
func safeHTML(r *run, s, t string) hit {
	if strings.IndexByte(t, '<') < 0 {
		return hit{}
	}
	if r.flags.mdText {
		t = blankLinks(t)
	}
	allowed := make(map[string]struct{})
	for tag := range htmlTags(s) {
		allowed[tag.name] = struct{}{}
		for _, a := range tag.attributes {
			allowed[tag.name+" "+a.Key] = struct{}{}
		}
		if len(allowed) > maxMarks {
			return hit{}
		}
	}
	var bad []Span
	var open []htmlTag
	for tag := range htmlTags(t) {
		ok := tag.allowedBy(allowed)
		switch {
		case !ok, tag.isVoid():
		case !tag.closing && len(open) < maxMarks:
			tag.attributes = nil
			open = append(open, tag)
		case !tag.closing:
			ok = false // too many open tags
		case len(open) > 0 && open[len(open)-1].name == tag.name:
			open = open[:len(open)-1]
		default:
			ok = false // closes what is not open
		}
		if !ok {
			bad = append(bad, Span{tag.from, tag.to})
			if !r.explain || len(bad) == maxPlaces {
				break
			}
		}
	}
	if len(bad) == 0 && len(open) > 0 {
		tag := open[len(open)-1]
		bad = []Span{{tag.from, tag.to}}
	}
	if len(bad) == 0 {
		return hit{}
	}
	return hit{failed: true, targets: bad}
}

// htmlTag is a tag or comment; from and to in bytes.
type htmlTag struct {
	name       string // lower case; "!" for comments, declarations and tags that are not closed by ">"
	closing    bool
	from, to   int
	attributes []html.Attribute
}

func (t *htmlTag) allowedBy(allowed map[string]struct{}) bool {
	if _, ok := allowed[t.name]; !ok || t.name == "!" {
		return false
	}
	for _, a := range t.attributes {
		if _, ok := allowed[t.name+" "+a.Key]; !ok || leadsToScript(a) {
			return false
		}
	}
	return true
}

// leadsToScript reports whether an attribute is an address whose scheme is not known
// to be harmless.
func leadsToScript(a html.Attribute) bool {
	switch a.Key {
	case "href", "src", "action", "formaction", "cite", "background", "poster", "data":
	default:
		return false
	}
	value := strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || unicode.IsControl(c) {
			return -1
		}
		return unicode.ToLower(c)
	}, a.Val)
	scheme, _, ok := strings.Cut(value, ":")
	if !ok || strings.ContainsAny(scheme, "/?#") {
		return false
	}
	switch scheme {
	case "http", "https", "ftp", "ftps", "mailto", "tel", "sms", "irc", "ircs", "xmpp", "news", "nntp", "magnet", "geo", "bitcoin":
		return false
	}
	return !strings.ContainsAny(scheme, "{%") // a placeholder for the address
}

// isVoid reports whether an element has no closing tag.
func (t *htmlTag) isVoid() bool {
	void := []string{"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
	return !t.closing && slices.Contains(void, t.name)
}

// maxHTML bounds the texts whose tags are read, in bytes.
const maxHTML = 1 << 20

// htmlTags yields the tags of s: a longer text is one that is not closed.
func htmlTags(s string) iter.Seq[htmlTag] {
	return func(yield func(htmlTag) bool) {
		if len(s) > maxHTML { // the tokenizer keeps all attributes of a tag
			yield(htmlTag{name: "!", to: len(s)})
			return
		}
		z := html.NewTokenizer(strings.NewReader(s))
		for at := 0; at < len(s); {
			kind := z.Next()
			t := htmlTag{name: "!", closing: kind == html.EndTagToken, from: at, to: at + len(z.Raw())}
			switch at = t.to; kind {
			case html.TextToken:
				continue
			case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
				name, more := z.TagName()
				t.name = string(name)
				for more && len(t.attributes) < maxMarks {
					var key, value []byte
					key, value, more = z.TagAttr()
					t.attributes = append(t.attributes, html.Attribute{Key: string(key), Val: string(value)})
				}
				if more {
					t.name = "!" // its other attributes are not looked at
				}
			case html.ErrorToken: // the end, perhaps of a tag that is not closed
				at, t.to = len(s), len(s)
			}
			if !yield(t) {
				return
			}
		}
	}
}
