package filemask

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// DefaultLanguageRegex is the expression that language codes must match by default
// (docs/compatibility.md#languages).
const DefaultLanguageRegex = `^[^.]+$`

// componentToken marks the component in a mask.
const componentToken = "{component}"

// nameToken marks the last part of a component in other paths than masks.
const nameToken = "{component_name}"

// Fill puts a component into a path or a name: the whole for "{component}", and its last
// part for "{component_name}".
func Fill(pattern, component string) string {
	return strings.ReplaceAll(strings.ReplaceAll(pattern, nameToken, path.Base(component)), componentToken, component)
}

// ErrInvalid says that a filemask cannot be understood.
var ErrInvalid = errors.New("invalid filemask")

// Mask selects the translation files of a component (docs/compatibility.md#languages). "*"
// matches any text without a slash; the longest of these texts in a path, or the first of
// several, is its language code. "{component}" matches any text, slashes included, and names
// the component; if a mask has it twice, both texts must be equal. All else is literal. A mask
// without "*" is for a repository with one language. The zero value matches no path.
type Mask struct {
	text   string
	prefix string                // that every path has: most paths are of other masks
	re     func() *regexp.Regexp // compiled when it is needed: configurations have 10,000 masks
	groups []bool                // of re, from 1: true for {component}
	dirs   []string              // patterns of package path
	deep   bool                  // {component} follows dirs: files at any depth can match
}

// Match holds the texts that a mask reads from a path.
type Match struct {
	// Code is the language code as in the path; empty with a mask without "*".
	Code string
	// Component is the text for "{component}"; empty with a mask without it.
	Component string
}

// maxTokens bounds "*" and "{component}" in one mask; real masks have up to 3.
const maxTokens = 10

var (
	examplePath = strings.NewReplacer(componentToken, "c", "*", "x") // makes a path of a mask
	escaped     = strings.NewReplacer("?", `\?`, "[", `\[`)          // for package path
)

// Parse reads a mask. Errors wrap [ErrInvalid] and say what to write instead.
func Parse(mask string) (Mask, error) {
	bad := func(reason string) error {
		return fmt.Errorf("filemask %.200q: %w: %s", mask, ErrInvalid, reason)
	}
	if err := CheckPath(examplePath.Replace(mask)); err != nil {
		_, reason, _ := strings.Cut(err.Error(), ErrUnsafePath.Error()+": ")
		return Mask{}, bad(reason + "; write a path from the root of the repository, with slashes")
	}
	switch {
	case strings.Contains(mask, "**"):
		return Mask{}, bad(`"**" has no meaning; write {component} for what may hold slashes`)
	case strings.ContainsAny(strings.ReplaceAll(mask, componentToken, ""), "{}"):
		return Mask{}, bad("the only word in braces is {component}")
	case strings.Contains(mask, "*"+componentToken), strings.Contains(mask, componentToken+"*"), strings.Contains(mask, componentToken+componentToken):
		return Mask{}, bad(`"*" and {component} need something between them`)
	}
	f := Mask{text: mask, prefix: mask[:cmp.Or(strings.IndexAny(mask, "*{")+1, len(mask)+1)-1]}
	var expr string
	expr, f.groups = maskExpression(mask)
	if len(f.groups) > maxTokens {
		return Mask{}, bad(fmt.Sprintf(`more than %d times "*" or {component}`, maxTokens))
	}
	f.re = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A` + expr + `\z`) })
	f.splitDirs()
	return f, nil
}

// maskExpression makes a regular expression from a mask or a part of it. groups
// says for each group whether it is {component}.
func maskExpression(mask string) (expr string, groups []bool) {
	var b strings.Builder
	for mask != "" {
		switch {
		case mask[0] == '*':
			b.WriteString(`([^/]*)`)
			groups = append(groups, false)
			mask = mask[1:]
		case strings.HasPrefix(mask, componentToken):
			b.WriteString(`(.+)`)
			groups = append(groups, true)
			mask = mask[len(componentToken):]
		default:
			end := cmp.Or(strings.IndexAny(mask[1:], "*{")+1, len(mask))
			b.WriteString(regexp.QuoteMeta(mask[:end]))
			mask = mask[end:]
		}
	}
	return b.String(), groups
}

// splitDirs prepares Below: a pattern of package path for each directory before {component}.
func (f *Mask) splitDirs() {
	parts := strings.Split(f.text, "/")
	for i, part := range parts {
		if strings.Contains(part, componentToken) {
			f.deep = true
			return
		}
		if i < len(parts)-1 {
			f.dirs = append(f.dirs, escaped.Replace(part))
		}
	}
}

// String returns the mask as it was written.
func (f Mask) String() string { return f.text }

// HasComponent reports whether the mask has "{component}", and so is for several components.
func (f Mask) HasComponent() bool { return strings.Contains(f.text, componentToken) }

// HasLanguage reports whether the mask reads the language from the path.
func (f Mask) HasLanguage() bool { return strings.Contains(f.text, "*") }

// Path is the path of a language code with a mask without "{component}": each "*" is the code.
func (f Mask) Path(code string) string { return strings.ReplaceAll(f.text, "*", code) }

// Match reports whether a path has the form of the mask, and returns the texts in it. Unsafe
// paths ([CheckPath]) and empty codes do not match. A language regex is for [Mask.Select].
func (f Mask) Match(path string) (Match, bool) {
	if f.re == nil || len(path) > maxPath || !strings.HasPrefix(path, f.prefix) {
		return Match{}, false
	}
	found := f.re().FindStringSubmatch(path)
	if found == nil || CheckPath(path) != nil {
		return Match{}, false
	}
	var m Match
	for i, component := range f.groups {
		value := found[i+1]
		switch {
		case !component && len(value) > len(m.Code):
			m.Code = value
		case component && m.Component == "":
			m.Component = value
		case component && m.Component != value:
			return Match{}, false
		}
	}
	return m, m.Code != "" || !f.HasLanguage()
}

// Refuses returns why a path of the mask's form is not read; "" if it is read or has
// another form. Bytes that a path should not hold are written \xNN in it.
func (f Mask) Refuses(path string) string {
	if f.re == nil || len(path) > MaxWalked || !strings.HasPrefix(path, f.prefix) || !f.re().MatchString(path) {
		return ""
	}
	return unsafeReason(path)
}

// Below reports whether any file below a directory can match; else a walk need not enter it.
func (f Mask) Below(dir string) bool {
	if f.re == nil {
		return false
	}
	parts := strings.Split(dir, "/")
	for i, part := range parts {
		if i == len(f.dirs) {
			return f.deep
		}
		if ok, err := path.Match(f.dirs[i], part); !ok || err != nil {
			return false
		}
	}
	return len(parts) <= len(f.dirs) || f.deep
}

// Rules are a component's rules in addition to its mask.
type Rules struct {
	// LanguageRegex the code must match, see [CompileLanguageRegex]; nil: any.
	LanguageRegex *regexp.Regexp
	// Language is the code of all files if the mask has no "*".
	Language string
}

// CompileLanguageRegex compiles a component's language_regex. As in Weblate, it is
// matched from the start of the code. Empty means [DefaultLanguageRegex].
func CompileLanguageRegex(expr string) (*regexp.Regexp, error) {
	expr = cmp.Or(expr, DefaultLanguageRegex)
	re, err := regexp.Compile(`\A(?:` + expr + `)`)
	if err != nil {
		return nil, fmt.Errorf("language_regex %.200q: %w; see https://pkg.go.dev/regexp/syntax", expr, err)
	}
	return re, nil
}

// sourceCode is the code of templates; it is no language (docs/compatibility.md#languages).
const sourceCode = "source"

// Select is Match with a component's rules: the code must match the language regex
// and must not be "source". With a mask without "*" the code is r.Language.
func (f Mask) Select(path string, r Rules) (Match, bool) {
	m, ok := f.Match(path)
	if !ok {
		return Match{}, false
	}
	if !f.HasLanguage() {
		m.Code = r.Language
		return m, m.Code != ""
	}
	if m.Code == sourceCode || r.LanguageRegex != nil && !r.LanguageRegex.MatchString(m.Code) {
		return Match{}, false
	}
	return m, true
}

// Matcher selects paths. The zero value selects every file.
type Matcher struct {
	// Want reports whether a file is wanted; nil: all are.
	Want func(path string) bool
	// Prune reports that no file below a directory is wanted; nil: all are entered.
	Prune func(dir string) bool
}

// Selects reports whether a file is wanted.
func (m Matcher) Selects(path string) bool { return m.Want == nil || m.Want(path) }

// NewMatcher selects the files that any of the masks matches, and other paths, such as those of
// templates. It also selects files that a mask [Mask.Refuses], so that they can be reported.
func NewMatcher(masks []Mask, paths ...string) Matcher {
	exact, above := make(map[string]bool, len(paths)), map[string]bool{}
	for _, p := range paths {
		exact[p] = true
		for i, c := range p {
			if c == '/' {
				above[p[:i]] = true
			}
		}
	}
	return Matcher{
		Want: func(p string) bool {
			return exact[p] || slices.ContainsFunc(masks, func(m Mask) bool {
				_, ok := m.Match(p)
				return ok || m.Refuses(p) != ""
			})
		},
		Prune: func(dir string) bool {
			return !above[dir] && !slices.ContainsFunc(masks, func(m Mask) bool { return m.Below(dir) })
		},
	}
}

// maxPath bounds the bytes of a path.
const maxPath = 4096

// MaxWalked bounds the bytes of a path in a walk. A path of more than 4096 bytes is
// refused and reported; a path of more than MaxWalked bytes is not even listed.
const MaxWalked = 4 * maxPath

// ErrUnsafePath says that [CheckPath] refuses a path.
var ErrUnsafePath = errors.New("unsafe path")

// CheckPath refuses paths that could mean something else to a later reader: absolute paths,
// parts that are empty, "." or "..", backslashes, control characters, bytes that are not UTF-8,
// more than 4096 bytes. The error wraps ErrUnsafePath and says why.
func CheckPath(p string) error {
	if reason := unsafeReason(p); reason != "" {
		return fmt.Errorf("path %.200q: %w: %s", p, ErrUnsafePath, reason)
	}
	return nil
}

// unsafeReason returns why a path is refused; "" if it is not.
func unsafeReason(p string) string {
	switch {
	case p == "":
		return "it is empty"
	case len(p) > maxPath:
		return "it is longer than 4096 bytes"
	case !utf8.ValidString(p):
		return "it is not UTF-8"
	case strings.HasPrefix(p, "/"):
		return "it is absolute"
	case hidden.MatchString(p):
		return `the bytes shown as \xNN are none that a path should hold`
	case strings.Contains(p, `\`):
		return "it holds a backslash"
	case strings.ContainsFunc(p, unicode.IsControl):
		return "it holds a control character"
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Sprintf("it has a part %q", part)
		}
	}
	return ""
}

// hidden matches a byte that package object wrote as \xNN.
var hidden = regexp.MustCompile(`\\x[0-9a-f]{2}`)
