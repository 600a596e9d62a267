package config

import (
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/catalog/checks"
)

// checkWarnings lists unknown check_flags and enforced_checks. They are not errors,
// since a later version may know them.
func (c *Config) checkWarnings() []string {
	var list []string
	for i := range c.Projects {
		p := &c.Projects[i]
		for j := range p.Components {
			co := &p.Components[j]
			problems := checks.FlagErrors(co.CheckFlags, true)
			for _, problem := range problems {
				list = append(list, fmt.Sprintf("component %s/%s: check_flags: %s", p.Slug, co.Slug, problem))
			}
			for _, name := range co.EnforcedChecks {
				if checks.FlagErrors("ignore-"+strings.ReplaceAll(name, "_", "-"), false) != nil {
					list = append(list, fmt.Sprintf("component %s/%s: enforced_checks: there is no check %s", p.Slug, co.Slug, name))
				}
			}
		}
	}
	return list
}
