package config

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource/filemask"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// maxSlug is the length of the longest slug, as in Weblate.
const maxSlug = 100

var (
	slugRule     = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	languageRule = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_@.+-]{0,49}$`)
	schemeRule   = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]*)::?`)
)

// checkProjects checks projects and their components and fills in names.
func checkProjects(r *report, list []Project) {
	seen, queries, pushed := map[string]bool{}, map[string]string{}, map[[2]string]pushTarget{}
	for i := range list {
		project, p := &list[i], place{r, index("projects", i)}
		if checkSlug(p, project.Slug, false) && seen[project.Slug] {
			p.bad("slug", "%s is used by another project above; choose another", sample(project.Slug))
		}
		seen[project.Slug] = true
		project.Name = cmp.Or(project.Name, project.Slug)
		slugs := map[string]bool{}
		for j := range project.Components {
			c, p := &project.Components[j], place{r, index(p.path+".components", j)}
			if checkSlug(p, c.Slug, true) && slugs[c.Slug] {
				p.bad("slug", "%s is used by another component of the project above; choose another", sample(c.Slug))
			}
			slugs[c.Slug] = true
			checkComponent(p, c)
			checkQuery(p, "repo", c.Repo, queries)
			checkQuery(p, "template_repo", c.TemplateRepo, queries)
			checkPushBranch(p, project.Slug, c, pushed)
		}
	}
	checkRequests(r, list)
	checkTemplates(r, list)
}

// checkTemplates refuses public components with a template that only private ones read.
func checkTemplates(r *report, list []Project) {
	read := map[string]bool{} // by repository: by a public component
	public := func(project *Project, c *Component) bool {
		return !c.Private(&catalog.Project{Settings: project.ProjectSettings})
	}
	for project, c := range components(list) {
		read[c.Repo.String()] = read[c.Repo.String()] || public(project, c)
	}
	eachPlace(r, list, func(p place, project *Project, c *Component) {
		from := cmp.Or(c.TemplateRepo.String(), c.Repo.String())
		switch shown, known := read[from]; {
		case c.TemplateRepo == "" && c.TemplateBranch == "":
		case c.NewBase == "":
			p.bad("new_base", "is empty, but template_repo or template_branch say where it is; write its path, like po/app.pot")
		case from == c.Repo.String() && c.TemplateBranch == c.Branch:
			p.bad("new_base", "is of the branch of the translations; remove template_repo and template_branch")
		case known && !shown && public(project, c):
			p.bad("template_repo", "%s is read by private components only, and this public one would show its strings; write access: private", sample(from))
		}
	})
}

// eachPlace calls fn with all components, and where they are in the file.
func eachPlace(r *report, list []Project, fn func(p place, project *Project, c *Component)) {
	for i := range list {
		for j := range list[i].Components {
			fn(place{r, index(index("projects", i)+".components", j)}, &list[i], &list[i].Components[j])
		}
	}
}

// checkQuery refuses two addresses that differ in their queries only: a query may be a
// secret, so it is not part of a repository's name, and the components of one would be
// read from the other. queries has those seen, by address.
func checkQuery(p place, key string, repo Address, queries map[string]string) {
	u, err := url.Parse(repo.Raw())
	if err != nil || u.Scheme == "" || u.Scheme == "file" {
		return
	}
	name := repo.String()
	if other, known := queries[name]; known && other != u.RawQuery {
		p.bad(key, "%s differs from the repository of another component in its query only, which repoglot does not tell apart; use another address", sample(name))
	}
	queries[name] = u.RawQuery
}

// Slug reports whether a text may be the slug of a project.
func Slug(text string) bool { return slugRule.MatchString(text) && len(text) <= maxSlug }

// checkSlug reports whether a slug is set and valid.
func checkSlug(p place, slug string, component bool) bool {
	plain := slug
	if component {
		plain = strings.Replace(slug, placeholder, "x", 1)
	}
	switch {
	case slug == "":
		if p.set("slug") {
			p.bad("slug", "is empty; write a name for URLs, like my-app")
		}
		return false
	case !slugRule.MatchString(plain):
		p.bad("slug", "%s may hold letters, digits, - and _ only; write it like my-app", sample(slug))
		return false
	case len(slug) > maxSlug:
		p.bad("slug", "is longer than %d letters; shorten it", maxSlug)
		return false
	}
	return true
}

func checkComponent(p place, c *Component) {
	if c.Name == "" {
		c.Name = c.Slug
		if c.Discovers() {
			c.Name = placeholder
		}
	} else if strings.Contains(c.Name, placeholder) && !c.Discovers() {
		p.bad("name", "holds %s but slug does not; write it into slug and filemask too", placeholder)
	}
	checkRepo(p, "repo", c.Repo)
	checkRepo(p, "push", c.Push)
	checkRepo(p, "template_repo", c.TemplateRepo)
	checkBranch(p, "template_branch", c.TemplateBranch, "main")
	checkBranch(p, "branch", c.Branch, "main")
	checkMask(p, c)
	if err := filemask.CheckPath(c.NewBase); c.NewBase != "" && (err != nil || strings.Contains(c.NewBase, "*")) {
		p.bad("new_base", "%s is no path of a file; write a path within the repository, like po/app.pot", sample(c.NewBase))
	}
	if c.SourceLanguage = cmp.Or(c.SourceLanguage, "en"); !languageRule.MatchString(c.SourceLanguage) {
		p.bad("source_language", "%s is no language code; write it like en or pt_BR", sample(c.SourceLanguage))
	}
	if c.LanguageRegex != filemask.DefaultLanguageRegex { // compiling it 10,000 times takes 50 ms
		if _, err := filemask.CompileLanguageRegex(c.LanguageRegex); err != nil {
			p.on(p.path+".language_regex", "%s: %v", p.path, err)
		}
	}
	if c.VCS != "git" {
		p.bad("vcs", "%s: only git is read; remove the key", sample(c.VCS))
	}
	if c.FileFormat != "po" {
		p.bad("file_format", "%s: only po is read; remove the key, or the component", sample(c.FileFormat))
	}
	if c.Template != "" {
		p.bad("template", "must stay empty, since monolingual files are not read; a POT belongs into new_base")
	}
	if _, err := remote.ParseBranchPattern(c.Suggestions.Branches); err != nil {
		p.bad("suggestions.branches", "%v", err)
	}
	checkPush(p, c)
}

// checkRepo refuses addresses that git would not read as a repository, and an empty repo.
func checkRepo(p place, key string, repo Address) {
	raw := repo.Raw()
	switch m := schemeRule.FindStringSubmatch(raw); {
	case raw == "":
		if key == "repo" && p.set(key) {
			p.bad(key, "is empty; write the address of a git repository or a path")
		}
	case strings.ContainsAny(raw, "\t\n\r"):
		p.bad(key, "holds a tab or line break; write it in one line")
	case strings.HasPrefix(raw, "-"):
		p.bad(key, "%s begins with a dash; write ./ before it", sample(repo.String()))
	case strings.HasPrefix(raw, "weblate://"):
		p.bad(key, "%s names another component; write the repository itself: its mirror is shared anyway", sample(repo.String()))
	case m != nil && strings.HasSuffix(m[0], "::"):
		p.bad(key, "asks for the helper %s; write an address of https, ssh, git or file, or a path", sample(m[1]))
	case strings.Contains(raw, "://"):
		scheme, rest, _ := strings.Cut(raw, "://")
		switch {
		case repourl.Transport(scheme) == "":
			p.bad(key, "has the scheme %s, which is not read; write an address of https, ssh, git or file, or a path", sample(scheme))
		case strings.Trim(rest, "/") == "":
			p.bad(key, "names no repository; write its whole address")
		}
	}
}

// checkMask checks filemask together with slug and language.
func checkMask(p place, c *Component) {
	mask := c.Filemask
	if mask == "" {
		if p.set("filemask") {
			p.bad("filemask", "is empty; write a path with * for the language, like po/*.po")
		}
		return
	}
	parsed, err := filemask.Parse(mask)
	if err != nil {
		p.on(p.path+".filemask", "%s: %v", p.path, err)
		return
	}
	switch star := parsed.HasLanguage(); {
	case star && c.Language != "":
		p.bad("language", "is for a filemask without *; remove it, or the * from filemask")
	case !star && c.Language == "":
		p.bad("filemask", "%s holds no * for the language; write one, or name the files' language with the key language", sample(mask))
	case c.Language != "" && !languageRule.MatchString(c.Language):
		p.bad("language", "%s is no language code; write it like en or pt_BR", sample(c.Language))
	}
	switch found := parsed.HasComponent(); {
	case found && c.Slug != "" && !c.Discovers():
		p.bad("slug", "%s holds no %s but filemask does; write it into both", sample(c.Slug), placeholder)
	case !found && c.Discovers():
		p.bad("filemask", "%s holds no %s but slug does; write it into both", sample(mask), placeholder)
	}
}

// checkBranch refuses a text that cannot be a branch, as when it is pulled.
func checkBranch(p place, key, branch, example string) {
	why := "is no branch"
	if strings.ContainsAny(branch, " ~^:?*[\\\t\n\r") {
		why = "holds a character that no branch has"
	}
	if branch != "" && !object.ValidBranch(branch) {
		p.bad(key, "%s %s; write the name of a branch, like %s", sample(branch), why, example)
	}
}
