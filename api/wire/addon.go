package wire

import (
	"regexp"
	"strings"

	"github.com/repoglot/repoglot/catalog"
)

// addonDiscovery is the add-on that finds components
// (docs/compatibility.md#addons).
const addonDiscovery = "weblate.discovery.discovery"

// Addon is an add-on.
type Addon struct {
	Component     string              `json:"component"`
	Name          string              `json:"name"`
	ID            int64               `json:"id"`
	Configuration discoveryDefinition `json:"configuration"`
	URL           string              `json:"url"`
}

// discoveryDefinition is the configuration of a discovery, with the names of
// Weblate's form.
type discoveryDefinition struct {
	// Match is the filemask as a regular expression with the groups component
	// and language.
	Match            string `json:"match"`
	FileFormat       string `json:"file_format"`
	NameTemplate     string `json:"name_template"`
	BaseFileTemplate string `json:"base_file_template"`
	NewBaseTemplate  string `json:"new_base_template"`
	LanguageRegex    string `json:"language_regex"`
	// CopyAddons and Remove are false: a component whose files are gone stays.
	CopyAddons bool `json:"copy_addons"`
	Remove     bool `json:"remove"`
	// Filemask and Slug are ours: the patterns as written in the configuration.
	Filemask string `json:"filemask"`
	Slug     string `json:"slug"`
}

// addonURLs lists the add-ons of a component: one if a discovery made it.
func addonURLs(l Links, c *catalog.Component) []string {
	if !c.Settings.Discovery.Found() {
		return []string{}
	}
	return []string{l.addon(c.ID)}
}

// NewAddon makes the add-on of a component that a discovery made. A component
// has at most one, so the add-on has the component's id.
func NewAddon(l Links, c *catalog.Component, project string) Addon {
	d := &c.Settings.Discovery
	return Addon{
		Component: l.API(ComponentPath(project, c.Slug)), Name: addonDiscovery, ID: c.ID, URL: l.addon(c.ID),
		Configuration: discoveryDefinition{
			Match: matchOf(d.Filemask), FileFormat: c.Settings.FileFormat, NameTemplate: templateOf(d.Name),
			NewBaseTemplate: templateOf(d.NewBase), LanguageRegex: c.Settings.LanguageRegex,
			Filemask: d.Filemask, Slug: d.Slug,
		},
	}
}

const componentMark = "{component}"

// matchOf writes a filemask as a regular expression. The first * is the
// language; no * matches a slash.
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
	return strings.ReplaceAll(pattern, componentMark, "{{ component }}")
}
