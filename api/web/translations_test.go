package web

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template/parse"

	"github.com/repoglot/repoglot/api/web/intl"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/poparse"
)

var update = flag.Bool("update", false, "write the template and the PO files of the pages anew")

// text is a text of the pages to translate.
type text struct {
	one, many string
	places    []string
}

// collect returns the texts of the templates and of calls of T and N, by text.
func collect(t *testing.T) []text {
	t.Helper()
	found := map[string]*text{}
	add := func(place, one, many string) {
		x := found[one]
		if x == nil {
			x = &text{one: one}
			found[one] = x
		}
		x.many = cmp.Or(x.many, many)
		if !slices.Contains(x.places, place) {
			x.places = append(x.places, place)
		}
	}
	names, err := filepath.Glob("templates/*.html")
	must(t, err)
	for _, name := range names {
		source, err := os.ReadFile(name)
		must(t, err)
		tree := parse.New(name)
		tree.Mode = parse.SkipFuncCheck
		trees := map[string]*parse.Tree{}
		_, err = tree.Parse(string(source), "", "", trees)
		must(t, err)
		for _, tr := range trees {
			inTemplate(tr.Root, func(one, many string) { add(filepath.ToSlash(filepath.Join("api/web", name)), one, many) })
		}
	}
	for _, folder := range []string{".", "intl"} {
		files, err := filepath.Glob(folder + "/*.go")
		must(t, err)
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				inCode(t, name, func(one, many string) { add(filepath.ToSlash(filepath.Join("api/web", name)), one, many) })
			}
		}
	}
	for _, c := range checks.All() {
		add("catalog/checks/table.go", c.Title, "")
		add("catalog/checks/table.go", c.Description, "")
	}
	var list []text
	for _, x := range found {
		slices.Sort(x.places)
		list = append(list, *x)
	}
	slices.SortFunc(list, func(a, b text) int { return cmp.Or(cmp.Compare(a.places[0], b.places[0]), cmp.Compare(a.one, b.one)) })
	return list
}

// inTemplate finds calls of t and n with constant texts.
func inTemplate(n parse.Node, add func(one, many string)) {
	each := func(list *parse.ListNode) {
		if list != nil {
			for _, child := range list.Nodes {
				inTemplate(child, add)
			}
		}
	}
	switch n := n.(type) {
	case *parse.ListNode:
		each(n)
	case *parse.ActionNode:
		inTemplate(n.Pipe, add)
	case *parse.TemplateNode:
		if n.Pipe != nil {
			inTemplate(n.Pipe, add)
		}
	case *parse.IfNode:
		inTemplate(n.Pipe, add)
		each(n.List)
		each(n.ElseList)
	case *parse.RangeNode:
		inTemplate(n.Pipe, add)
		each(n.List)
		each(n.ElseList)
	case *parse.WithNode:
		inTemplate(n.Pipe, add)
		each(n.List)
		each(n.ElseList)
	case *parse.PipeNode:
		for _, c := range n.Cmds {
			inTemplate(c, add)
		}
	case *parse.CommandNode:
		inCommand(n, add)
	}
}

func inCommand(n *parse.CommandNode, add func(one, many string)) {
	for _, arg := range n.Args {
		if p, ok := arg.(*parse.PipeNode); ok {
			inTemplate(p, add)
		}
	}
	name, ok := n.Args[0].(*parse.IdentifierNode)
	if !ok || len(n.Args) < 2 {
		return
	}
	one, ok := n.Args[1].(*parse.StringNode)
	switch {
	case ok && name.Ident == "t":
		add(one.Text, "")
	case ok && name.Ident == "n" && len(n.Args) > 2:
		add(one.Text, n.Args[2].(*parse.StringNode).Text)
	}
}

// inCode finds calls of the methods T and N, and of intl.Text, with constant texts.
func inCode(t *testing.T, name string, add func(one, many string)) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	must(t, err)
	literal := func(e ast.Expr) (string, bool) {
		l, ok := e.(*ast.BasicLit)
		if !ok || l.Kind != token.STRING {
			return "", false
		}
		s, err := strconv.Unquote(l.Value)
		return s, err == nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		var name string
		switch f := call.Fun.(type) {
		case *ast.SelectorExpr:
			name = f.Sel.Name
		case *ast.Ident:
			name = f.Name
		}
		one, constant := literal(call.Args[0])
		switch {
		case constant && (name == "T" || name == "Text"):
			add(one, "")
		case constant && name == "N" && len(call.Args) > 1:
			many, _ := literal(call.Args[1])
			add(one, many)
		}
		return true
	})
}

// header is the header of a file for a language; "" is the template's.
func header(language, plural string) string {
	h := "Project-Id-Version: repoglot\n" + "Report-Msgid-Bugs-To: https://github.com/repoglot/repoglot/issues\n" + "MIME-Version: 1.0\n" +
		"Content-Type: text/plain; charset=UTF-8\n" + "Content-Transfer-Encoding: 8bit\n"
	if language != "" {
		h += "Language: " + language + "\n"
	}
	return h + "Plural-Forms: " + plural + "\n"
}

// plurals are the plural forms of the languages of the pages.
var plurals = map[string]string{
	"":   "nplurals=INTEGER; plural=EXPRESSION;",
	"cs": "nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;",
	"de": "nplurals=2; plural=(n != 1);",
	"fr": "nplurals=2; plural=(n > 1);",
	"ar": "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);",
}

// write makes a PO file of texts with the translations of old.
func write(texts []text, language string, old map[string][]string) []byte {
	var b bytes.Buffer
	forms := 2
	fmt.Sscanf(plurals[language], "nplurals=%d", &forms)
	line := func(key, value string) { fmt.Fprintf(&b, "%s %s\n", key, quotePO(value)) }
	if language == "" {
		b.WriteString("# The texts of repoglot's pages. Made by go generate ./api/web.\n#, fuzzy\n")
	}
	b.WriteString("msgid \"\"\nmsgstr \"\"\n")
	for l := range strings.Lines(header(language, plurals[language])) {
		b.WriteString(quotePO(l) + "\n")
	}
	for _, x := range texts {
		fmt.Fprintf(&b, "\n#: %s\n", strings.Join(x.places, " "))
		if verb.MatchString(x.one + x.many) {
			b.WriteString("#, c-format\n")
		}
		line("msgid", x.one)
		known := old[x.one]
		if x.many == "" {
			line("msgstr", strings.Join(known[:min(1, len(known))], ""))
			continue
		}
		line("msgid_plural", x.many)
		for i := range forms {
			value := ""
			if i < len(known) {
				value = known[i]
			}
			line(fmt.Sprintf("msgstr[%d]", i), value)
		}
	}
	return b.Bytes()
}

var verb = regexp.MustCompile(`%(\[\d\])?[sd]`)

func quotePO(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// translations reads the translations of a PO file, by text.
func translations(t *testing.T, data []byte) map[string][]string {
	t.Helper()
	file, err := poparse.Parse("pages.po", data)
	must(t, err)
	found := map[string][]string{}
	for i := range file.Entries {
		e := file.Entries[i]
		if e.ID != "" && !e.Fuzzy {
			found[e.ID] = e.Str
		}
	}
	return found
}

// TestTranslationsDrift: the template has the texts of the pages, each PO file those of
// the template, and every language of the pages is complete.
func TestTranslationsDrift(t *testing.T) {
	t.Parallel()
	texts := collect(t)
	if len(texts) < 100 {
		t.Fatalf("only %d texts", len(texts))
	}
	for _, language := range []string{"", "ar", "cs", "de", "fr"} {
		name := "po/" + cmp.Or(language, "repoglot") + ".po"
		if language == "" {
			name += "t"
		}
		old, err := fs.ReadFile(intl.Files, name)
		must(t, err)
		var known map[string][]string
		if language != "" {
			known = translations(t, old)
		}
		want := write(texts, language, known)
		if *update {
			must(t, os.WriteFile("intl/"+name, want, 0o644))
		} else if !bytes.Equal(old, want) {
			t.Errorf("%s is not up to date: go generate ./api/web", name)
		}
		for _, x := range texts {
			if language != "" {
				complete(t, name, &x, known[x.one], language)
			}
		}
	}
}

// complete checks a translation: all forms, with the verbs of the text.
func complete(t *testing.T, name string, x *text, got []string, language string) {
	t.Helper()
	forms := 1
	if x.many != "" {
		fmt.Sscanf(plurals[language], "nplurals=%d", &forms)
	}
	if len(got) != forms || slices.Contains(got, "") {
		t.Errorf("%s: %q is not translated", name, x.one)
		return
	}
	want := verb.FindAllString(cmp.Or(x.many, x.one), -1)
	slices.Sort(want)
	for i, form := range got {
		verbs := verb.FindAllString(form, -1)
		slices.Sort(verbs)
		// a form for one, two or none may say the number in words
		if !slices.Equal(verbs, want) && (x.many == "" || len(verbs) > 0 || i > 2) {
			t.Errorf("%s: the verbs of %q are not those of %q", name, form, x.one)
		}
	}
}

var must = gittest.Must
