package export

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/repoglot/repoglot/catalog"
)

// escaped returns s as XML text. XML 1.0 has no control characters: each becomes
// U+FFFD.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}

// tag is the language code for xml:lang (BCP 47).
func tag(code string) string {
	code, variant, _ := strings.Cut(code, "@")
	if script, ok := map[string]string{"latin": "Latn", "cyrillic": "Cyrl", "arabic": "Arab"}[variant]; ok {
		code += "-" + script
	}
	return escaped(strings.ReplaceAll(code, "_", "-"))
}

// xliff is a version of XLIFF.
type xliff string

// write writes plurals as groups with restype x-gettext-plurals (XLIFF 1.2
// Representation Guide for Gettext PO).
func (x xliff) write(w io.Writer, head *Head, units Units) error {
	out := bufio.NewWriter(w)
	original := cmp.Or(head.Filename, head.Project+"/"+head.Component)
	fmt.Fprintf(out, "%s<xliff version=\"%s\" xmlns=\"urn:oasis:names:tc:xliff:document:%[2]s\">\n<file original=\"%[3]s\" source-language=\"%[4]s\" target-language=\"%[5]s\" datatype=\"po\">\n<body>\n",
		xml.Header, x, escaped(original), tag(head.SourceLanguage), tag(head.Language))
	for u, err := range units {
		if err != nil {
			return err
		}
		writeTransUnits(out, head, u)
	}
	out.WriteString("</body>\n</file>\n</xliff>\n")
	return out.Flush()
}

func writeTransUnits(out *bufio.Writer, head *Head, u *catalog.Unit) {
	all := pairs(head, u)
	if len(catalog.SplitForms(u.Source)) == 1 {
		writeTransUnit(out, u, fmt.Sprint(u.ID), all[0])
		return
	}
	fmt.Fprintf(out, "<group id=\"%d\" restype=\"x-gettext-plurals\">\n", u.ID)
	for i, p := range all {
		writeTransUnit(out, u, fmt.Sprintf("%d[%d]", u.ID, i), p)
	}
	out.WriteString("</group>\n")
}

func writeTransUnit(out *bufio.Writer, u *catalog.Unit, id string, p [2]string) {
	translate := ""
	if u.State == catalog.StateReadOnly {
		translate = ` translate="no"`
	}
	fmt.Fprintf(out, "<trans-unit id=\"%s\" xml:space=\"preserve\"%s>\n<source>%s</source>\n", id, translate, escaped(p[0]))
	state := "translated"
	switch {
	case u.State.Fuzzy():
		state = "needs-review-translation"
	case p[1] == "":
		state = "needs-translation"
	}
	fmt.Fprintf(out, "<target state=\"%s\">%s</target>\n", state, escaped(p[1]))
	if u.Location != "" {
		out.WriteString("<context-group purpose=\"location\">\n")
		for location := range strings.SplitSeq(u.Location, ", ") {
			file, line, _ := strings.Cut(location, ":")
			fmt.Fprintf(out, "<context context-type=\"sourcefile\">%s</context>\n", escaped(file))
			if line != "" {
				fmt.Fprintf(out, "<context context-type=\"linenumber\">%s</context>\n", escaped(line))
			}
		}
		out.WriteString("</context-group>\n")
	}
	if u.Context != "" {
		fmt.Fprintf(out, "<context-group purpose=\"information\">\n<context context-type=\"x-gettext-msgctxt\">%s</context>\n</context-group>\n", escaped(u.Context))
	}
	if u.Note != "" {
		fmt.Fprintf(out, "<note from=\"developer\">%s</note>\n", escaped(u.Note))
	}
	out.WriteString("</trans-unit>\n")
}

// writeTMX writes TMX 1.4: the translated strings, each plural form as a pair.
func writeTMX(w io.Writer, head *Head, units Units) error {
	out := bufio.NewWriter(w)
	source, target := tag(head.SourceLanguage), tag(head.Language)
	fmt.Fprintf(out, "%s<!DOCTYPE tmx SYSTEM \"tmx14.dtd\">\n<tmx version=\"1.4\">\n<header creationtool=\"repoglot\" creationtoolversion=\"1\" segtype=\"sentence\" o-tmf=\"PO\" adminlang=\"en\" srclang=\"%s\" datatype=\"PlainText\"/>\n<body>\n", xml.Header, source)
	for u, err := range units {
		if err != nil {
			return err
		}
		if !u.State.Translated() {
			continue
		}
		for _, p := range pairs(head, u) {
			if p[0] != "" && p[1] != "" {
				fmt.Fprintf(out, "<tu>\n<tuv xml:lang=\"%s\"><seg>%s</seg></tuv>\n<tuv xml:lang=\"%s\"><seg>%s</seg></tuv>\n</tu>\n",
					source, escaped(p[0]), target, escaped(p[1]))
			}
		}
	}
	out.WriteString("</body>\n</tmx>\n")
	return out.Flush()
}
