package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/cmd/repoglot/config"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

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

// componentName names a set of files by its template, or by the literal parts of
// its mask.
func componentName(f *filemask.FileSet) string {
	if f.NewBase != "" && !strings.Contains(f.NewBase, "{component}") {
		return strings.TrimSuffix(path.Base(f.NewBase), path.Ext(f.NewBase))
	}
	return maskName(f.Mask.String())
}

// maskName makes a name from a mask.
func maskName(mask string) string {
	if parts := distinctive(mask); len(parts) > 0 {
		return strings.Join(parts, "-")
	}
	return strings.Join(literals(mask), "-")
}

// distinctive returns the literal parts of a mask that are not usual names of
// folders.
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

// slug makes a slug from any text.
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
