package config_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
)

var update = flag.Bool("update", false, "rewrite docs/configuration.md")

// manual is the path of the manual from this package.
const manual = "../../../docs/configuration.md"

// TestManualDrift: docs/configuration.md is made from the comments of Config. After
// a change of these: go test ./cmd/repoglot/config -update
func TestManualDrift(t *testing.T) {
	want := writeManual(t)
	if *update {
		must(t, os.MkdirAll(filepath.Dir(manual), 0o755))
		must(t, os.WriteFile(manual, []byte(want), 0o644))
	}
	got, err := os.ReadFile(manual)
	must(t, err)
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("the manual differs from the comments; run go test ./cmd/repoglot/config -update (-file +comments):\n%s", diff)
	}
}

// TestWithoutEffect: a key of a component that the manual lists as one without effect
// decides neither how files are read nor how strings are checked.
func TestWithoutEffect(t *testing.T) {
	docs := fieldComments(t)
	plain := config.DefaultComponent()
	want := plain.Settings()
	kind := reflect.TypeFor[config.Component]()
	found := 0
	for _, field := range reflect.VisibleFields(kind) {
		if !withoutEffect.MatchString(docOf(docs, kind, field)) {
			continue
		}
		found++
		other := config.DefaultComponent()
		v := reflect.ValueOf(&other).Elem().FieldByIndex(field.Index)
		v.SetZero()
		if reflect.DeepEqual(v.Interface(), reflect.ValueOf(plain).FieldByIndex(field.Index).Interface()) {
			fill(v)
		}
		if got := other.Settings(); got.ReadKey() != want.ReadKey() || got.CheckKey() != want.CheckKey() {
			t.Errorf("%s has an effect, and its comment says that it has none", field.Tag.Get("yaml"))
		}
	}
	if found < 15 {
		t.Errorf("only %d keys are listed as without effect", found)
	}
}

// TestManualExample reads the example of the manual.
func TestManualExample(t *testing.T) {
	if _, err := config.Parse("example", []byte(example), nil); err != nil {
		t.Error(err)
	}
}

const example = `listen: 127.0.0.1:8080
data_dir: ./repoglot-data
projects:
  - slug: demo
    name: Demo
    components:
      - slug: app
        repo: https://example.org/app.git
        filemask: po/*.po
        new_base: po/app.pot
      - slug: "docs-{component}"            # one component per match
        repo: https://example.org/app.git
        filemask: "locale/*/LC_MESSAGES/{component}.po"
      - slug: manual
        repo: ../manual-es                  # a repository of one language
        filemask: manual.po
        language: es
`

const preface = `# Configuration

<!-- Made from the comments in cmd/repoglot/config and catalog by
     "go test ./cmd/repoglot/config -update"; change those. -->

repoglot serve --config repoglot.yaml reads one YAML file:

` + "```yaml\n" + example + "```" + `

* Every key has a default, except the slug of a project and slug, repo and
  filemask of a component. A key without a value keeps its default.
* Unknown keys, repeated keys, values of the wrong type and values that make no
  sense are errors. All of them are reported at once, one line each:
  ` + "`repoglot.yaml:12:9: unknown key \"filmask\"; did you mean \"filemask\"?`" + `
* Keys of the top level whose value is one word, but not true or false, can be
  overridden by an environment variable, REPOGLOT_ and the key in capitals:
  ` + "`REPOGLOT_LISTEN`, `REPOGLOT_BASE_URL`, `REPOGLOT_DATA_DIR`" + `… A variable that is
  set but empty overrides nothing. The flags --listen and --data-dir win over
  both.
* Relative paths (data_dir, a local repo, ssh_key) begin at the folder of the
  file, whatever the current directory is; ` + "`~/`" + ` is the home directory. Paths in
  an environment variable or a flag begin at the current directory.
* The file is watched. A saved change takes effect without a restart, unless the
  key says otherwise; a broken file is reported and the old configuration stays.
* Passwords are not in the file; it names environment variables that hold them.
  Credentials within the address of a repository work and are never shown.
* YAML anchors, aliases and ` + "`<<:`" + ` may be used to write common settings once.
`

// writeManual makes the manual from the sources of this package.
func writeManual(t *testing.T) string {
	t.Helper()
	docs := fieldComments(t)
	var b strings.Builder
	b.WriteString(preface)
	var passed []string // rows of the keys without effect
	section := func(title, text string, defaults any) {
		fmt.Fprintf(&b, "\n## %s\n\n", title)
		if text != "" {
			fmt.Fprintf(&b, "%s\n\n", text)
		}
		b.WriteString("| key | default | meaning |\n|---|---|---|\n")
		v := reflect.ValueOf(defaults)
		for _, f := range reflect.VisibleFields(v.Type()) {
			key := f.Tag.Get("yaml")
			if key == "" || key == "-" {
				continue
			}
			doc := docOf(docs, v.Type(), f)
			if doc == "" {
				t.Errorf("%s.%s has no comment", v.Type().Name(), f.Name)
			}
			doc = strings.TrimPrefix(strings.TrimPrefix(doc, f.Name+" is "), f.Name+" ")
			doc = strings.ToUpper(doc[:1]) + doc[1:]
			if values := f.Tag.Get("oneof"); values != "" && !strings.Contains(doc, "`"+strings.Fields(values)[0]+"`") {
				doc += " One of `" + strings.ReplaceAll(values, " ", "`, `") + "`."
			}
			if f.Tag.Get("restart") != "" {
				doc += " A change needs a restart."
			}
			if withoutEffect.MatchString(doc) {
				passed = append(passed, fmt.Sprintf("| %s | `%s` | %s |%s |\n", strings.ToLower(v.Type().Name()), key, defaultOf(f, v.FieldByIndex(f.Index)), noteOf(doc)))
				continue
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", key, defaultOf(f, v.FieldByIndex(f.Index)), strings.ReplaceAll(doc, "|", "\\|"))
		}
	}
	section("The file", "", *config.Default())
	section("rate_limit", "", config.RateLimit{})
	section("compatibility", "", config.Default().Compatibility)
	section("quotas", "", config.Default().Quotas)
	section("An entry of credentials", "", config.Credential{})
	section("An entry of sign_in", "", config.SignIn{})
	section("An entry of notify", "", config.Notify{})
	section("smtp", "", config.Default().SMTP)
	section("An entry of projects", "", config.DefaultProject())
	section("An entry of components", "", config.DefaultComponent())
	section("suggestions", "", config.DefaultComponent().Suggestions)
	b.WriteString("\n## Settings without effect\n\n" + withoutEffectText + "\n\n| of a | key | default | |\n|---|---|---|---|\n" + strings.Join(passed, ""))
	return b.String()
}

// withoutEffect recognises the comment of a key whose value is only shown to clients.
var withoutEffect = regexp.MustCompile(`(?i)\bserved unchanged\b|^A message template|not used\.$|: always `)

const withoutEffectText = "Clients of Weblate read these keys of a project or component. repoglot does nothing\n" +
	"with them: it shows the value unchanged, passwords in addresses removed. Leave them\n" +
	"out unless a client needs another value than the default."

// noteOf is what the comment of a key without effect says besides that.
func noteOf(doc string) string {
	doc = regexp.MustCompile(`(?i)(, |; it is )?\bserved unchanged\b`).ReplaceAllString(doc, "")
	doc = strings.TrimLeft(strings.TrimSpace(doc), ".; ")
	if doc == "" {
		return ""
	}
	return " " + strings.ToUpper(doc[:1]) + doc[1:]
}

// defaultOf writes a default as in a configuration file.
func defaultOf(f reflect.StructField, v reflect.Value) string {
	if f.Tag.Get("required") != "" {
		return "*required*"
	}
	switch v.Kind() {
	case reflect.Slice:
		return "`[]`"
	case reflect.Map:
		return "`{}`"
	case reflect.Struct:
		switch f.Name {
		case "History":
			return "`full`"
		case "Allow":
			return "`anyone`"
		}
		return "`{}`"
	}
	s := fmt.Sprint(v.Interface())
	switch {
	case s == "":
		return "empty"
	case strings.Contains(s, "\n"):
		return "a short text"
	case s == "5m0s":
		s = "5m"
	}
	return "`" + strings.ReplaceAll(s, "|", "\\|") + "`"
}

// docOf returns the comment of a field, which may be one of an embedded struct.
func docOf(docs map[string]string, of reflect.Type, f reflect.StructField) string {
	if n := len(f.Index); n > 1 {
		of = of.FieldByIndex(f.Index[:n-1]).Type
	}
	return docs[of.Name()+"."+f.Name]
}

// fieldComments returns the comments of all fields, by "Type.Field", each as
// one line.
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	must(t, err)
	files = append([]string{"../../../catalog/component.go", "../../../catalog/project.go"}, files...)
	docs := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if st, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					for _, id := range f.Names {
						docs[spec.Name.Name+"."+id.Name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
					}
				}
			}
			return true
		})
	}
	return docs
}
