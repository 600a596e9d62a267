package main

import (
	"cmp"
	"context"
	_ "embed" // of discover.yaml
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/cmd/repoglot/check"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/cmd/repoglot/server"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/gitsource/repourl"
	"github.com/repoglot/repoglot/poparse"
)

func (p *program) discoverCommand() *cobra.Command {
	cmd := action("discover REPO", "Find the translation files of a repository and print a configuration", arguments(1, "one repository"), func(ctx context.Context, args []string) error {
		p.memory().Limit()
		return p.discover(ctx, args[0])
	})
	p.logFlags(cmd.Flags(), slog.LevelWarn)
	return cmd
}

func (p *program) discover(ctx context.Context, repo string) (err error) {
	log, err := p.logger(slog.LevelWarn)
	if err != nil {
		return err
	}
	c, err := config.FromEnviron(p.environ)
	if err != nil {
		return err
	}
	address, err := absolute(repo)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "repoglot-discover-")
	if err != nil {
		return fmt.Errorf("there is no folder for a clone: %w: give this user write access, or set TMPDIR", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	languages, err := lang.New()
	if err != nil {
		return fmt.Errorf("reading the language table: %w", err)
	}
	mirror, err := gitsource.Open(ctx, filepath.Join(dir, "mirror"), remote.Repository{URL: address}, server.GitOptions(c, log))
	if err != nil {
		return err
	}
	d, head, err := layouts(ctx, mirror, languages, address)
	if err != nil {
		return err
	}
	text, err := configurationOf(address, head, d)
	if err != nil {
		return err
	}
	if _, err := config.Parse("the configuration found", []byte(text), nil); err != nil {
		return fmt.Errorf("%s: what was found makes no configuration, please report this: %w", repourl.Redact(address), err)
	}
	if _, err := fmt.Fprint(p.stdout, text); err != nil {
		return fmt.Errorf("writing to the standard output: %w", err)
	}
	return nil
}

//go:embed discover.yaml
var discoverText string

// configurationOf writes a configuration for the files found, without credentials.
func configurationOf(address string, head object.Head, d filemask.Discovery) (string, error) {
	t, err := template.New("discover").Funcs(template.FuncMap{"word": yamlWord, "quoted": oneWord, "quantity": check.Quantity}).Parse(discoverText)
	if err != nil {
		return "", err
	}
	shown := repourl.Redact(address)
	var b strings.Builder
	err = t.Execute(&b, map[string]any{
		"Address": shown, "Secret": shown != address, "Host": repourl.Host(shown), "Head": head, "Commit": fmt.Sprintf("%.12s", head.Hash),
		"Project": discoveredProject(shown, d.Sets), "Sets": d.Sets, "Left": d.Left,
	})
	return b.String(), err
}

// yamlWord writes a text for YAML, with quotes if it needs them.
func yamlWord(s string) string {
	if text, err := yaml.Marshal(s); err == nil && string(text) == s+"\n" && check.Printable(s) == s {
		return s
	}
	return oneWord(s)
}

// oneWord quotes a text as JSON.
func oneWord(s string) string {
	quoted, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(quoted))
}

// layouts fetches a repository and finds the files at its head. None is an error.
func layouts(ctx context.Context, mirror *gitsource.Mirror, languages *lang.Table, address string) (filemask.Discovery, object.Head, error) {
	head, err := mirror.Fetch(ctx)
	if err != nil {
		return filemask.Discovery{}, head, err
	}
	reader, err := mirror.Reader(ctx)
	if err != nil {
		return filemask.Discovery{}, head, err
	}
	defer reader.Close()
	files, err := reader.Snapshot(ctx, head.Hash, func(p string) bool {
		return strings.HasSuffix(p, ".po") || strings.HasSuffix(p, ".pot")
	}, nil)
	if err != nil {
		return filemask.Discovery{}, head, err
	}
	d := filemask.Discover(files, filemask.DiscoverOptions{
		Known: func(code string) (string, bool) {
			l, ok := languages.Lookup(code)
			return l.Code, ok
		},
		Language: languageOf(func(f object.File) ([]byte, error) { return reader.Blob(ctx, f.Blob, maxHeaderFile) }, languages),
		Default:  nameLanguage(repoName(address), languages),
	})
	if len(d.Sets) == 0 {
		mask, template := "po/*.po", ""
		if i := slices.IndexFunc(files, func(f object.File) bool { return strings.HasSuffix(f.Path, ".pot") }); i >= 0 {
			mask, template = path.Join(path.Dir(files[i].Path), "*.po"), " and new_base: "+files[i].Path
		}
		return d, head, fmt.Errorf("%s: no PO files whose path tells a language were found: write a configuration, such as with filemask: %q%s (https://github.com/repoglot/repoglot/blob/main/docs/configuration.md)", repourl.Redact(address), mask, template)
	}
	return d, head, ctx.Err()
}

// maxHeaders bounds the files that are read for their language.
const maxHeaders = 1000

// languageOf returns a function that reads the language of a file from its header.
func languageOf(read func(object.File) ([]byte, error), languages *lang.Table) func(object.File) string {
	left := maxHeaders
	return func(f object.File) string {
		if left--; left < 0 {
			return ""
		}
		data, err := read(f)
		if err != nil {
			return ""
		}
		po, err := poparse.Parse(f.Path, data)
		if err != nil {
			return ""
		}
		l, _ := languages.Lookup(strings.TrimSpace(po.Field("Language")))
		return l.Code
	}
}

// maxHeaderFile bounds a file that is read for its language.
const maxHeaderFile = 4 << 20

// nameLanguage is the language at the end of a repository's name, such as
// manual-es or python-docs-pt-br; "" if it has none.
func nameLanguage(name string, languages *lang.Table) string {
	for i := 1; i < len(name); i++ {
		if l, ok := languages.Lookup(name[i:]); ok && strings.Contains("-_.", name[i-1:i]) {
			return l.Code
		}
	}
	return ""
}

// maxSlug bounds the bytes of a slug made from a name.
const maxSlug = 80

// discoveredProject is a project of the files found in a repository.
func discoveredProject(address string, found []filemask.FileSet) config.Project {
	project := config.DefaultProject()
	project.Name = repoName(address)
	project.Slug = slug(project.Name)
	taken := map[string]int{}
	for i, name := range componentNames(found) {
		f := &found[i]
		c := config.DefaultComponent()
		c.Repo, c.Filemask, c.NewBase, c.Language = config.Address(address), f.Mask.String(), f.NewBase, f.Language
		if f.LanguageRegex != "" {
			c.LanguageRegex = f.LanguageRegex
		}
		c.Slug = name
		switch {
		case f.Mask.HasComponent() && len(found) == 1:
			c.Slug = "{component}"
		case f.Mask.HasComponent():
			c.Slug = name + "-{component}"
		}
		base := c.Slug
		if taken[base]++; taken[base] > 1 {
			c.Slug = fmt.Sprintf("%s-%d", base, taken[base])
		}
		project.Components = append(project.Components, c)
	}
	return project
}

// componentNames names sets of files by their templates, or by their folders where
// several templates have the same name, as in Django.
func componentNames(found []filemask.FileSet) []string {
	count := map[string]int{}
	for i := range found {
		count[slug(componentName(&found[i]))]++
	}
	names := make([]string, len(found))
	for i := range found {
		names[i] = slug(componentName(&found[i]))
		if parts := distinctive(found[i].Mask.String()); count[names[i]] > 1 && len(parts) > 0 {
			names[i] = slug(strings.Join(parts, "-"))
		}
	}
	return names
}

// repoName is the last part of a repository's address, without .git.
func repoName(address string) string {
	name := strings.TrimRight(repourl.Redact(address), "/")
	name = strings.TrimSuffix(name, "/.git")
	name = name[strings.LastIndexAny(name, `/:\`)+1:]
	return strings.TrimSuffix(name, ".git")
}

// componentName names a set of files by its template, or by the literal parts of its mask.
func componentName(f *filemask.FileSet) string {
	if f.NewBase != "" && !strings.Contains(f.NewBase, "{component}") {
		return strings.TrimSuffix(path.Base(f.NewBase), path.Ext(f.NewBase))
	}
	mask := f.Mask.String()
	return cmp.Or(strings.Join(distinctive(mask), "-"), strings.Join(literals(mask), "-"))
}

// distinctive returns the literal parts of a mask that are not usual names of folders.
func distinctive(mask string) []string {
	return slices.DeleteFunc(literals(mask), func(part string) bool {
		return slices.Contains([]string{"po", "locale", "locales", "translations", "lang", "languages", "i18n"}, part)
	})
}

// literals returns the parts of a mask that are the same for all files.
func literals(mask string) []string {
	var parts []string
	for part := range strings.SplitSeq(strings.TrimSuffix(mask, ".po"), "/") {
		part = strings.Trim(strings.NewReplacer("*", "", "{component}", "", "LC_MESSAGES", "").Replace(part), "-_.")
		if part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

func slug(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case b.Len() >= maxSlug:
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
			b.WriteRune(c)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "translations"
}
