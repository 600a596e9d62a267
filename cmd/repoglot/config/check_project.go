package config

import (
	"net/url"
	"regexp"
	"strings"

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
		p, at := &list[i], index("projects", i)
		if checkSlug(r, at, p.Slug, false) && seen[p.Slug] {
			r.on(at+".slug", "%s.slug %s is used by another project above; choose another", at, sample(p.Slug))
		}
		seen[p.Slug] = true
		if p.Name == "" {
			p.Name = p.Slug
		}
		checkSecretEnv(r, at, p.WebhookSecretEnv)
		slugs := map[string]bool{}
		for j := range p.Components {
			c, at := &p.Components[j], index(at+".components", j)
			if checkSlug(r, at, c.Slug, true) && slugs[c.Slug] {
				r.on(at+".slug", "%s.slug %s is used by another component of the project above; choose another", at, sample(c.Slug))
			}
			slugs[c.Slug] = true
			checkComponent(r, at, c)
			checkQuery(r, at, c, queries)
			checkPushBranch(r, at, p.Slug, c, pushed)
		}
	}
	checkRequests(r, list)
}

// checkQuery refuses two addresses that differ in their queries only: a query may be a
// secret, so it is not part of a repository's name, and the components of one would be
// read from the other. queries has those seen, by address.
func checkQuery(r *report, at string, c *Component, queries map[string]string) {
	u, err := url.Parse(c.Repo.Raw())
	if err != nil || u.Scheme == "" || u.Scheme == "file" {
		return
	}
	name := c.Repo.String()
	if other, known := queries[name]; known && other != u.RawQuery {
		r.on(at+".repo", "%s.repo %s differs from the repository of another component in its query only, which repoglot does not tell apart; use another address", at, sample(name))
	}
	queries[name] = u.RawQuery
}

// Slug reports whether a text may be the slug of a project.
func Slug(text string) bool { return slugRule.MatchString(text) && len(text) <= maxSlug }

// checkSlug reports whether a slug is set and valid.
func checkSlug(r *report, at, slug string, component bool) bool {
	plain := slug
	if component {
		plain = strings.Replace(slug, placeholder, "x", 1)
	}
	switch {
	case slug == "":
		if _, set := r.positions[at+".slug"]; set {
			r.on(at+".slug", "%s.slug is empty; write a name for URLs, like my-app", at)
		}
		return false
	case !slugRule.MatchString(plain):
		r.on(at+".slug", "%s.slug %s may hold letters, digits, - and _ only; write it like my-app", at, sample(slug))
		return false
	case len(slug) > maxSlug:
		r.on(at+".slug", "%s.slug is longer than %d letters; shorten it", at, maxSlug)
		return false
	}
	return true
}

func checkComponent(r *report, at string, c *Component) {
	bad := func(key, format string, args ...any) {
		r.on(at+"."+key, at+"."+key+" "+format, args...)
	}
	if c.Name == "" {
		c.Name = c.Slug
		if c.Discovers() {
			c.Name = placeholder
		}
	} else if strings.Contains(c.Name, placeholder) && !c.Discovers() {
		bad("name", "holds %s but slug does not; write it into slug and filemask too", placeholder)
	}
	checkRepo(r, at, c)
	if why := branchRule(c.Branch); why != "" {
		bad("branch", "%s %s; write the name of a branch, like main", sample(c.Branch), why)
	}
	checkMask(r, at, c)
	if err := filemask.CheckPath(c.NewBase); c.NewBase != "" && (err != nil || strings.Contains(c.NewBase, "*")) {
		bad("new_base", "%s is no path of a file; write a path within the repository, like po/app.pot", sample(c.NewBase))
	}
	if c.SourceLanguage == "" {
		c.SourceLanguage = "en"
	}
	if !languageRule.MatchString(c.SourceLanguage) {
		bad("source_language", "%s is no language code; write it like en or pt_BR", sample(c.SourceLanguage))
	}
	if c.LanguageRegex != filemask.DefaultLanguageRegex { // compiling it 10,000 times takes 50 ms
		if _, err := filemask.CompileLanguageRegex(c.LanguageRegex); err != nil {
			r.on(at+".language_regex", "%s: %v", at, err)
		}
	}
	if c.VCS != "git" {
		bad("vcs", "%s: only git is read; remove the key", sample(c.VCS))
	}
	if c.FileFormat != "po" {
		bad("file_format", "%s: only po is read; remove the key, or the component", sample(c.FileFormat))
	}
	if c.Template != "" {
		bad("template", "must stay empty, since monolingual files are not read; a POT belongs into new_base")
	}
	for key, n := range map[string]int{"priority": c.Priority, "suggestion_autoaccept": c.SuggestionAutoaccept, "commit_pending_age": c.CommitPendingAge, "flush_max": c.FlushMax} {
		if n < 0 {
			bad(key, "is negative; write 0 or more")
		}
	}
	if _, err := remote.ParseBranchPattern(c.Suggestions.Branches); err != nil {
		bad("suggestions.branches", "%v", err)
	}
	if c.Suggestions.Limit < 1 || c.Suggestions.Limit > maxSuggestionBranches {
		bad("suggestions.limit", "must be 1 to %d; write how many branches are to be looked at", maxSuggestionBranches)
	}
	checkSecretEnv(r, at, c.WebhookSecretEnv)
	checkPush(r, at, c)
}

// maxSuggestionBranches bounds suggestions.limit: each branch is fetched.
const maxSuggestionBranches = 1000

func checkSecretEnv(r *report, at, name string) {
	if name != "" && !envNameRule(name) {
		r.on(at+".webhook_secret_env", "%s.webhook_secret_env must be the name of an environment variable, not a secret; write it like HOOK_SECRET", at)
	}
}

// checkRepo refuses addresses that git would not read as a repository.
func checkRepo(r *report, at string, c *Component) {
	raw, key := c.Repo.Raw(), at+".repo"
	switch m := schemeRule.FindStringSubmatch(raw); {
	case raw == "":
		if _, set := r.positions[key]; set {
			r.on(key, "%s is empty; write the address of a git repository or a path", key)
		}
	case strings.ContainsAny(raw, "\t\n\r"):
		r.on(key, "%s holds a tab or line break; write it in one line", key)
	case strings.HasPrefix(raw, "-"):
		r.on(key, "%s %s begins with a dash; write ./ before it", key, sample(c.Repo.String()))
	case strings.HasPrefix(raw, "weblate://"):
		r.on(key, "%s %s names another component; write the repository itself: its mirror is shared anyway", key, sample(c.Repo.String()))
	case m != nil && strings.HasSuffix(m[0], "::"):
		r.on(key, "%s asks for the helper %s; write an address of https, ssh, git or file, or a path", key, sample(m[1]))
	case strings.Contains(raw, "://"):
		scheme, rest, _ := strings.Cut(raw, "://")
		switch {
		case repourl.Transport(scheme) == "":
			r.on(key, "%s: the scheme %s is not read; write an address of https, ssh, git or file, or a path", key, sample(scheme))
		case strings.Trim(rest, "/") == "":
			r.on(key, "%s names no repository; write its whole address", key)
		}
	}
}

// checkMask checks filemask together with slug and language.
func checkMask(r *report, at string, c *Component) {
	bad := func(key, format string, args ...any) {
		r.on(at+"."+key, at+"."+key+" "+format, args...)
	}
	mask := c.Filemask
	if mask == "" {
		if _, set := r.positions[at+".filemask"]; set {
			bad("filemask", "is empty; write a path with * for the language, like po/*.po")
		}
		return
	}
	parsed, err := filemask.Parse(mask)
	if err != nil {
		r.on(at+".filemask", "%s: %v", at, err)
		return
	}
	switch star := parsed.HasLanguage(); {
	case star && c.Language != "":
		bad("language", "is for a filemask without *; remove it, or the * from filemask")
	case !star && c.Language == "":
		bad("filemask", "%s holds no * for the language; write one, or name the files' language with the key language", sample(mask))
	case c.Language != "" && !languageRule.MatchString(c.Language):
		bad("language", "%s is no language code; write it like en or pt_BR", sample(c.Language))
	}
	switch found := parsed.HasComponent(); {
	case found && c.Slug != "" && !c.Discovers():
		bad("slug", "%s holds no %s but filemask does; write it into both", sample(c.Slug), placeholder)
	case !found && c.Discovers():
		bad("filemask", "%s holds no %s but slug does; write it into both", sample(mask), placeholder)
	}
}

// branchRule returns the reason why a text cannot be a branch, as when it is pulled; "" if
// it can, or there is none.
func branchRule(b string) string {
	switch {
	case b == "" || object.ValidBranch(b):
		return ""
	case strings.ContainsAny(b, " ~^:?*[\\\t\n\r"):
		return "holds a character that no branch has"
	}
	return "is no branch"
}
