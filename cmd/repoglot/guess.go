package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/poparse"
)

// maxSlug is how much of a name becomes a slug.
const maxSlug = 80

// guessSettings are the settings of serve REPO: defaults, environment, flags,
// and a data directory of the repository's own.
func (p *program) guessSettings(repo string) (*config.Config, error) {
	c, err := config.FromEnviron(p.environ)
	if err != nil {
		return nil, err
	}
	if p.flags.dataDir == "" && p.env()[config.EnvName("data_dir")] == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, usageError{fmt.Errorf("there is no cache folder (%w): name a folder with --data-dir", err)}
		}
		address, err := absolute(repo)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256([]byte(gitsource.RedactURL(address)))
		c.DataDir = config.Path(filepath.Join(cache, "repoglot", slug(repoName(address))+"-"+hex.EncodeToString(sum[:4])))
	}
	return c, p.override(c)
}

// absolute is a repository's address, a path made absolute.
func absolute(repo string) (string, error) {
	if local, ok := gitsource.IsLocal(repo); !ok || local != repo {
		return repo, nil
	}
	abs, err := filepath.Abs(repo)
	if err != nil {
		return "", usageError{fmt.Errorf("finding %s: %w", repo, err)}
	}
	return abs, nil
}

// guess looks for translation files in a repository and adds them to a
// configuration, as one project.
func (e *engine) guess(ctx context.Context, c *config.Config, repo string) error {
	address, err := absolute(repo)
	if err != nil {
		return err
	}
	remote := gitsource.Remote{URL: address, Credential: credential(c.Credentials, address)}
	mirror, err := e.syncer.Mirror(ctx, ingest.Branch{Key: ingest.BranchKey(address, ""), Remote: remote})
	if err != nil {
		return err
	}
	head, err := mirror.Fetch(ctx)
	if err != nil {
		return err
	}
	reader, err := mirror.Reader(ctx)
	if err != nil {
		return err
	}
	defer reader.Close()
	d, err := layouts(ctx, reader, head.Hash, e.languages, address)
	if err != nil {
		return err
	}
	project := guessedProject(address, d.Found)
	for i := range project.Components {
		project.Components[i].History = config.History{Mode: config.HistoryNone}
	}
	return c.Add(project)
}

// layouts finds the translation files at a commit; none is an error.
func layouts(ctx context.Context, reader *gitsource.Reader, head gitsource.Hash, languages *lang.Table, address string) (gitsource.Discovery, error) {
	files, err := reader.Snapshot(ctx, head, func(p string) bool {
		return strings.HasSuffix(p, ".po") || strings.HasSuffix(p, ".pot")
	}, nil)
	if err != nil {
		return gitsource.Discovery{}, err
	}
	d := gitsource.DiscoverLayouts(files, gitsource.DiscoverOptions{
		Known: func(code string) (string, bool) {
			l, ok := languages.Lookup(code)
			return l.Code, ok
		},
		Language: languageOf(ctx, reader, languages),
		Default:  nameLanguage(repoName(address), languages),
	})
	if len(d.Found) == 0 {
		return d, fmt.Errorf("%s: no PO files whose path tells a language were found: write a configuration with a filemask", gitsource.RedactURL(address))
	}
	return d, ctx.Err()
}

// maxHeaders bounds how many files are read for their language.
const maxHeaders = 1000

// languageOf tells the language of a file by its header.
func languageOf(ctx context.Context, reader *gitsource.Reader, languages *lang.Table) func(gitsource.File) string {
	left := maxHeaders
	return func(f gitsource.File) string {
		if left--; left < 0 {
			return ""
		}
		data, err := reader.Blob(ctx, f.Blob, maxHeaderFile)
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

// nameLanguage is the language that a repository's name ends with, such as
// manual-es or python-docs-pt-br, "" if none.
func nameLanguage(name string, languages *lang.Table) string {
	for i := range len(name) {
		if i > 0 && (name[i-1] == '-' || name[i-1] == '_' || name[i-1] == '.') {
			if l, ok := languages.Lookup(name[i:]); ok {
				return l.Code
			}
		}
	}
	return ""
}

// guessedProject is the project that stands for a repository's files.
func guessedProject(address string, found []gitsource.Found) config.Project {
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

// componentNames names sets of files: by their templates, and where several
// would be called the same (django) by where they lie.
func componentNames(found []gitsource.Found) []string {
	count := map[string]int{}
	for i := range found {
		count[slug(componentName(&found[i]))]++
	}
	names := make([]string, len(found))
	for i := range found {
		names[i] = slug(componentName(&found[i]))
		if parts := telling(found[i].Mask.String()); count[names[i]] > 1 && len(parts) > 0 {
			names[i] = slug(strings.Join(parts, "-"))
		}
	}
	return names
}

// repoName is the last part of a repository's address, without .git.
func repoName(address string) string {
	name := strings.TrimRight(gitsource.RedactURL(address), "/")
	name = strings.TrimSuffix(name, "/.git")
	name = name[strings.LastIndexAny(name, `/:\`)+1:]
	return strings.TrimSuffix(name, ".git")
}

// componentName is what a found set of files is called: the template's name,
// or the literal parts of the mask.
func componentName(f *gitsource.Found) string {
	if f.NewBase != "" && !strings.Contains(f.NewBase, "{component}") {
		return strings.TrimSuffix(path.Base(f.NewBase), path.Ext(f.NewBase))
	}
	return maskName(f.Mask.String())
}

// maskName makes a name of a mask.
func maskName(mask string) string {
	if parts := telling(mask); len(parts) > 0 {
		return strings.Join(parts, "-")
	}
	return strings.Join(literals(mask), "-")
}

// telling are the literal parts of a mask that say what is there.
func telling(mask string) []string {
	return slices.DeleteFunc(literals(mask), func(part string) bool {
		return slices.Contains([]string{"po", "locale", "locales", "translations", "lang", "languages", "i18n"}, part)
	})
}

// literals are the parts of a mask that are the same for all files.
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

// slug makes a slug out of any text.
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

// errNothing is what sync says when nothing was asked for.
var errNothing = errors.New("the configuration names no component")
