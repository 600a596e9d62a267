package config

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// maxFile bounds a configuration file: ten thousand components need an eighth or more of it.
const maxFile = 8 << 20

// maxLine bounds a line of it, and so the depth of indentation.
const maxLine = 8 << 10

// Load reads the configuration file at path. environ has the form of os.Environ,
// with the overrides REPOGLOT_… and the variables that the file names. The error is
// an [Errors] with every mistake. Unless pushes is set, as for commands that neither push nor
// sign, a secret of a push that cannot be used, such as one whose variable is not set, is a warning.
func Load(path string, environ []string, pushes bool) (*Config, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return parse(path, data, environ, pushes)
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fail(path, "there is no such file; name the configuration with --config FILE")
	case err != nil:
		return nil, fail(path, "cannot be read: %v", errors.Unwrap(err))
	case info.IsDir():
		return nil, fail(path, "is a folder; name the configuration file in it")
	case info.Size() > maxFile:
		return nil, fail(path, "is larger than %s; is this the configuration?", Size(maxFile))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fail(path, "cannot be read: %v; check its owner and mode", errors.Unwrap(err))
	}
	return data, nil
}

func fail(path, format string, args ...any) error {
	return Errors{{File: path, Msg: oneLine(fmt.Sprintf(format, args...))}}
}

// Parse is Load for the bytes of a file. It reads no files; path is for messages
// and for paths relative to the file's folder.
func Parse(path string, data []byte, environ []string) (*Config, error) {
	if len(data) > maxFile {
		return nil, fail(path, "is larger than %s; is this the configuration?", Size(maxFile))
	}
	return parse(path, data, environ, true)
}

// parse parses, checks and completes the configuration of a file; pushes is that of Load.
func parse(path string, data []byte, environ []string, pushes bool) (*Config, error) {
	body, err := parseYAML(path, data)
	if err != nil {
		return nil, err
	}
	d := decoder{report: report{file: path, positions: map[string]position{}, variables: map[string]bool{}}, anchors: map[string]ast.Node{}}
	c := Default()
	c.file, c.source = path, data
	d.decode("", body, reflect.ValueOf(c).Elem())
	return c.complete(&d.report, environ, filepath.Dir(path), pushes)
}

// complete overrides, checks and completes what was decoded; paths begin at folder.
func (c *Config) complete(r *report, environ []string, folder string, pushes bool) (*Config, error) {
	env := &environment{values: Environ(environ), overridden: map[string]bool{}, pushes: pushes}
	env.override(c, r)
	check(c, r, env)
	if len(r.errs) > 0 {
		slices.SortStableFunc(r.errs, func(a, b *Error) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		return nil, r.errs
	}
	c.warnings = env.secrets(c)
	switch err := c.checkSecrets(); {
	case err != nil && pushes:
		return nil, fail(r.file, "%v", err)
	case err != nil:
		c.warnings = append(c.warnings, err.Error())
	}
	c.warnings = slices.Concat(c.warnings, env.unknown(c, r), c.checkWarnings())
	if err := c.resolvePaths(folder, env); err != nil {
		return nil, fail(r.file, "%v", err)
	}
	return c, nil
}

// FromEnviron returns the configuration without a file: the defaults and the overrides of
// environ, which has the form of os.Environ. Relative paths begin at the current folder.
func FromEnviron(environ []string) (*Config, error) {
	return Default().complete(&report{file: "environment"}, environ, ".", true)
}

// Add adds a project to a configuration without a file, checked and completed like others.
func (c *Config) Add(p Project) error {
	r := &report{file: "repository"}
	list := []Project{p}
	checkProjects(r, list)
	if len(r.errs) > 0 {
		return r.errs
	}
	c.Projects = append(c.Projects, list...)
	return nil
}

// parseYAML returns the tree of the one document of a file. Text that is not YAML
// gives an Errors with one entry, even if the library panics.
func parseYAML(path string, data []byte) (body ast.Node, err error) {
	defer func() {
		if v := recover(); v != nil {
			body, err = nil, fail(path, "is no YAML that can be read")
		}
	}()
	if line := tooDeep(data); line > 0 {
		return nil, Errors{{File: path, Line: line, Column: 1, Msg: "is too long a line, or too deeply nested; is this the configuration?"}}
	}
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, Errors{syntaxError(path, err)}
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.DirectiveType {
			bodies = append(bodies, doc.Body)
		}
	}
	switch len(bodies) {
	case 0:
		return nil, fail(path, "holds no configuration; see docs/configuration.md for a first one")
	case 1:
		return bodies[0], nil
	default:
		at := nodePosition(bodies[1])
		return nil, Errors{{File: path, Line: at.line, Column: at.column, Msg: "a second document begins above; remove the line ---"}}
	}
}

// tooDeep returns the first line longer than maxLine or with more than maxDepth open brackets,
// or 0. The library's parser is recursive, and a stack overflow cannot be caught.
func tooDeep(data []byte) int {
	line, start, open := 1, 0, 0
	for i, c := range data {
		switch c {
		case '\n':
			line, start = line+1, i+1
		case '[', '{':
			open++
		case ']', '}':
			open = max(0, open-1)
		}
		if open > maxDepth || i-start > maxLine {
			return line
		}
	}
	return 0
}

func syntaxError(path string, err error) *Error {
	e := &Error{File: path, Line: 1, Column: 1, Msg: "is no YAML"}
	if at, ok := errors.AsType[yaml.Error](err); ok {
		e.Msg = oneLine(strings.TrimSpace(at.GetMessage()))
		if strings.Contains(at.GetMessage(), "'\t'") {
			e.Msg = "a tab is no indentation in YAML; write blanks"
		}
		if t := at.GetToken(); t != nil && t.Position != nil {
			e.Line, e.Column = t.Position.Line, t.Position.Column
		}
	}
	e.Msg += "; mend the YAML here or just above"
	return e
}

// resolvePaths makes paths absolute: relative paths of the file begin at its
// folder, those of the environment at the current folder.
func (c *Config) resolvePaths(folder string, env *environment) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return fmt.Errorf("finding the folder of the file: %w", err)
	}
	dataFolder := folder
	if env.overridden["data_dir"] {
		dataFolder = "."
	}
	if c.DataDir, err = c.DataDir.in(dataFolder, env); err != nil {
		return err
	}
	for i := range c.Credentials {
		if key := &c.Credentials[i].SSHKey; *key != "" {
			if *key, err = key.in(folder, env); err != nil {
				return err
			}
		}
	}
	for _, co := range c.Components() {
		for _, repo := range []*Address{&co.Repo, &co.Push, &co.TemplateRepo} {
			path, local := repourl.IsLocal(repo.Raw())
			if !local || path != repo.Raw() || path == "" || repo == &co.Push && co.PushMode == "" { // file:// addresses are absolute
				continue
			}
			abs, err := Path(*repo).in(folder, env)
			if err != nil {
				return err
			}
			*repo = Address(abs)
		}
	}
	return nil
}

// in returns p as an absolute path, relative to a folder.
func (p Path) in(folder string, env *environment) (Path, error) {
	s := string(p)
	if rest, ok := strings.CutPrefix(s, "~/"); ok && env.values["HOME"] != "" {
		s = filepath.Join(env.values["HOME"], rest)
	}
	if !filepath.IsAbs(s) {
		s = filepath.Join(folder, s)
	}
	s, err := filepath.Abs(s)
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", p, err)
	}
	return Path(s), nil
}

// lookEvery is the time between two looks at the file. What two of them find is whole:
// editors write in several steps, or replace a file by renaming.
const lookEvery = 500 * time.Millisecond

// Watch calls changed with every new configuration in the file that c was read from, and
// failed with the error of every broken one, one call at a time, until ctx is done. A file
// with the same bytes as at the last call is not reported again.
func (c *Config) Watch(ctx context.Context, environ []string, changed func(*Config), failed func(error)) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	told, seen := c.source, c.source
	var stamp os.FileInfo // of the file that was read last
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		info, err := os.Stat(c.file)
		if err == nil && stamp != nil && os.SameFile(info, stamp) && info.Size() == stamp.Size() && info.ModTime().Equal(stamp.ModTime()) && bytes.Equal(seen, told) {
			continue
		}
		stamp = info
		data, err := readFile(c.file)
		if err != nil {
			data = []byte(err.Error()) // it stands for the contents
		}
		whole := bytes.Equal(data, seen)
		if seen = data; !whole || bytes.Equal(data, told) {
			continue
		}
		told = data
		var now *Config
		if err == nil {
			now, err = Parse(c.file, data, environ)
		}
		if err != nil {
			failed(err)
		} else {
			changed(now)
		}
	}
}

// envPrefix begins the names of variables that override a key.
const envPrefix = "REPOGLOT_"

// environment is where values are from.
type environment struct {
	values     map[string]string // Environ
	overridden map[string]bool   // keys of the file, by name
	pushes     bool              // secrets are needed
}

// Environ is the result of os.Environ by name; of equal names the last one wins.
func Environ(environ []string) map[string]string {
	values := map[string]string{}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			values[name] = value
		}
	}
	return values
}

// override applies REPOGLOT_LISTEN, REPOGLOT_BASE_URL, … to the scalar keys of the
// file's top level. A variable that is set but empty overrides nothing.
func (env *environment) override(c *Config, r *report) {
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		key := v.Type().Field(i).Tag.Get("yaml")
		name := EnvName(key)
		value := env.values[name]
		if key == "" || value == "" || !overridable(v.Field(i)) {
			continue
		}
		env.overridden[key] = true
		delete(r.positions, key)
		if err := wordParser(v.Field(i))(value); err != nil {
			r.errs = append(r.errs, &Error{File: name, Msg: oneLine(fmt.Sprintf("%s %v", sample(value), err))})
		} else if why := refused(v.Field(i), v.Type().Field(i).Tag); why != "" {
			r.errs = append(r.errs, &Error{File: name, Msg: why})
		}
	}
}

// EnvName returns the environment variable that overrides a scalar key of the file's top level.
func EnvName(key string) string { return envPrefix + strings.ToUpper(key) }

// overridable reports whether an environment variable can override a field: one
// that is written as one word, except true and false.
func overridable(v reflect.Value) bool { return v.Kind() != reflect.Bool && wordParser(v) != nil }

// unknown returns a warning for each variable with the prefix of an override that
// overrides no key and that the file does not name.
func (env *environment) unknown(c *Config, r *report) []string {
	named := map[string]bool{}
	for key, f := range r.keysOf(reflect.TypeFor[Config]()).fields {
		if overridable(reflect.ValueOf(c).Elem().FieldByIndex(f.Index)) {
			named[EnvName(key)] = true
		}
	}
	var list []string
	for name := range env.values {
		if strings.HasPrefix(name, envPrefix) && !named[name] && !r.variables[name] {
			list = append(list, "the environment variable "+name+" overrides no key of the configuration and is ignored")
		}
	}
	slices.Sort(list)
	return list
}

// secrets reads the secrets of components and returns a warning for each variable
// that is not set: such a component accepts no calls at all.
func (env *environment) secrets(c *Config) []string {
	missing := map[string]bool{}
	for p, co := range c.Components() {
		co.SigningKey, co.ForgeToken = Secret(env.values[co.SigningKeyEnv]), Secret(env.values[co.ForgeTokenEnv])
		if name := cmp.Or(co.WebhookSecretEnv, p.WebhookSecretEnv); name != "" {
			co.WebhookSecured, co.WebhookSecret = true, Secret(env.values[name])
			missing[name] = co.WebhookSecret == ""
		}
	}
	var list []string
	for name, is := range missing {
		if is {
			list = append(list, "webhook_secret_env names "+name+", which is not set: webhooks are refused until it is")
		}
	}
	slices.Sort(list)
	return list
}
