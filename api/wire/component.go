package wire

import (
	"cmp"
	_ "embed" // spdx.txt
	"regexp"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/gitsource/repourl"
)

// ComponentPlace is what is in a component's object besides its own.
type ComponentPlace struct {
	Project  string // its slug
	Language Object // of the sources
	Within   Object // the project; nil in the list of a project
	Task     *string
	// WithoutExport says that repositories cannot be cloned from here.
	WithoutExport bool
}

// NewComponent makes the object of a component. The category, of newer Weblates, is always
// null: wlc 2 asks for each component again that lacks it, wherever one appears.
func NewComponent(l Links, from *catalog.Component, at *ComponentPlace) Object {
	p, set, export := ComponentPath(at.Project, from.Slug), &from.Settings, ""
	if !at.WithoutExport {
		export = l.Web(Path("git", at.Project, from.Slug))
	}
	o := Object{"name", NameOrSlug(set.Name, from.Slug), "slug", from.Slug, "id", from.ID, "source_language", at.Language}
	if at.Within != nil {
		o = append(o, "project", at.Within)
	}
	addons := []string{} // one if a discovery made the component
	if set.Discovery.Found() {
		addons = append(addons, l.addon(from.ID))
	}
	return append(
		o, "vcs", set.VCS, "repo", repourl.Public(from.Repo), "git_export", export, "branch", branchOf(from), "push_branch", set.PushBranch,
		"filemask", set.Filemask, "template", set.Template, "edit_template", set.EditTemplate, "intermediate", set.Intermediate,
		"new_base", set.NewBase, "file_format", set.FileFormat, "license", set.License, "license_url", licenseURL(set.License),
		"agreement", set.Agreement, "web_url", l.Web(Path("projects", at.Project, from.Slug)), "url", l.API(p),
		"repository_url", l.API(p+"repository/"), "translations_url", l.API(p+"translations/"), "statistics_url", l.API(p+"statistics/"),
		"lock_url", l.API(p+"lock/"), "links_url", l.API(p+"links/"), "changes_list_url", l.API(p+"changes/"), "task_url", at.Task,
		"new_lang", set.NewLang, "language_code_style", set.LanguageCodeStyle, "push", repourl.Public(set.Push),
		"check_flags", set.CheckFlags, "priority", set.Priority, "enforced_checks", append([]string{}, set.EnforcedChecks...),
		"restricted", set.Restricted, "repoweb", set.Repoweb, "report_source_bugs", set.ReportSourceBugs, "merge_style", set.MergeStyle,
		"commit_message", crlf(set.CommitMessage), "add_message", crlf(set.AddMessage), "delete_message", crlf(set.DeleteMessage),
		"merge_message", crlf(set.MergeMessage), "addon_message", crlf(set.AddonMessage), "pull_message", crlf(set.PullMessage),
		"allow_translation_propagation", set.AllowTranslationPropagation, "manage_units", set.ManageUnits,
		"enable_suggestions", set.EnableSuggestions, "suggestion_voting", set.SuggestionVoting, "push_on_commit", set.PushOnCommit,
		"auto_lock_error", set.AutoLockError, "is_glossary", set.IsGlossary, "suggestion_autoaccept", set.SuggestionAutoaccept,
		"commit_pending_age", set.CommitPendingAge, "language_regex", set.LanguageRegex, "variant_regex", set.VariantRegex,
		"addons", addons, "glossary_color", set.GlossaryColor, "category", nil, "locked", from.Locked,
	)
}

// branchOf is the branch in use; before the first pull, the configured one.
func branchOf(c *catalog.Component) string { return cmp.Or(c.Tracking, c.Branch) }

// crlf gives message templates the line breaks that Weblate gives them
// (docs/compatibility.md#message-templates).
func crlf(s string) string {
	if !strings.Contains(s, "\n") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// NewIncomings makes the answer with the requests of others that no longer merge.
func NewIncomings(l *catalog.Incomings) Object {
	results := make([]Object, len(l.List))
	for i := range l.List {
		r := &l.List[i]
		results[i] = Object{
			"number", r.Number, "title", r.Title, "web_url", r.URL, "head", r.Head, "into", r.Into, "strings", r.Strings, "conflicts", r.Conflicts,
			"problem", r.Problem, "detail", r.Failed, "editable", r.Editable, "mergeable", r.Mergeable(), "wished", r.Wished != nil,
		}
	}
	return Object{"results", results, "problem", l.Problem, "detail", l.Failed}
}

// spdx has the licence identifiers of SPDX, deprecated ones too, one per line in byte order.
//
//go:embed spdx.txt
var spdx string

// licenseURL returns the SPDX page of a licence; null for "", "proprietary" and other names.
func licenseURL(id string) *string {
	if id == "" || !strings.HasPrefix(spdx, id+"\n") && !strings.Contains(spdx, "\n"+id+"\n") {
		return nil
	}
	return OrNull("https://spdx.org/licenses/" + id + ".html")
}

// addonDiscovery is the add-on that finds components (docs/compatibility.md#addons).
const addonDiscovery = "weblate.discovery.discovery"

// NewAddon makes the add-on of a component that a discovery made. A component has at most one,
// so the add-on has the component's id. Its configuration has the names of Weblate's form;
// copy_addons and remove are false, since a component whose files are gone stays; filemask and
// slug, the patterns as written in the configuration, are ours.
func NewAddon(l Links, c *catalog.Component, project string) Object {
	d := &c.Settings.Discovery
	return Object{
		"component", l.API(ComponentPath(project, c.Slug)), "name", addonDiscovery, "id", c.ID,
		"configuration",
		Object{
			"match", matchOf(d.Filemask), "file_format", c.Settings.FileFormat, "name_template", templateOf(d.Name),
			"base_file_template", "", "new_base_template", templateOf(d.NewBase), "language_regex", c.Settings.LanguageRegex,
			"copy_addons", false, "remove", false, "filemask", d.Filemask, "slug", d.Slug,
		},
		"url", l.addon(c.ID),
	}
}

const componentMark = "{component}"

// matchOf writes a filemask as a regular expression; the first * is the language.
func matchOf(filemask string) string {
	s := regexp.QuoteMeta(filemask)
	s = strings.Replace(s, `\*`, `(?P<language>[^/]*)`, 1)
	s = strings.ReplaceAll(s, `\*`, `[^/]*`)
	mark := regexp.QuoteMeta(componentMark)
	s = strings.Replace(s, mark, `(?P<component>.+)`, 1)
	return "^" + strings.ReplaceAll(s, mark, `(?P=component)`) + "$"
}

// templateOf writes a pattern in the syntax of Weblate's templates.
func templateOf(pattern string) string {
	return strings.NewReplacer(componentMark, "{{ component }}", "{component_name}", "{{ component|basename }}").Replace(pattern)
}

// NeedsMerge reports whether the remote has commits whose strings are not served: before the
// first import, and while a component waits to be read again, as of the last pull.
func NeedsMerge(c *catalog.Component) bool { return !c.Imported || c.Head == "" }

// NewRepository makes the state of the repository of a component. commit is nil if
// none is known; path is the resource that the repository belongs to, and failure what the
// client may see of one. What is served is what was fetched last.
func NewRepository(l Links, c *catalog.Component, commit *catalog.Commit, path, failure string, needsCommit, needsPush bool) Object {
	fetched := newCommit(commit)
	return append(
		NewProjectRepository(l, path, needsCommit, NeedsMerge(c), needsPush),
		"remote_commit", fetched, "weblate_commit", fetched, "status", statusOf(c), "merge_failure", OrNull(failure),
	)
}

// NewProjectRepository makes the state of a project's repositories
// (docs/compatibility.md#repository-status).
func NewProjectRepository(l Links, path string, needsCommit, needsMerge, needsPush bool) Object {
	return Object{"needs_commit", needsCommit, "needs_merge", needsMerge, "needs_push", needsPush, "url", l.API(path + "repository/")}
}

// statusOf is worded like git status in a repository without changes of its own.
func statusOf(c *catalog.Component) string {
	branch := cmp.Or(branchOf(c), "HEAD")
	state := "Your branch is up to date with 'origin/" + branch + "'."
	switch {
	case c.Problem.Failed():
		state = "The last pull from 'origin/" + branch + "' failed."
	case c.PushProblem.Failed():
		state = "The last push of edits failed."
	case NeedsMerge(c):
		state = "No commits of 'origin/" + branch + "' are imported yet."
	}
	return "On branch " + branch + "\n" + state + "\n\nnothing to commit, working tree clean\n"
}

// newCommit makes the object of a commit, null for nil. E-mail addresses are always empty, so
// author and commit are names only.
func newCommit(c *catalog.Commit) any {
	if c == nil {
		return nil
	}
	return Object{
		"revision", c.Hash, "shortrevision", c.Hash[:min(7, len(c.Hash))],
		"author", c.Author, "author_name", c.Author, "author_email", "", "authordate", TimeOrNull(c.AuthorTime, UnitTime),
		"commit", c.Committer, "commit_name", c.Committer, "commit_email", "", "commitdate", TimeOrNull(c.CommitTime, UnitTime),
		"message", c.Message, "summary", c.Summary(),
	}
}
