package config

import "slices"

// later lists the keys that are read but not acted on in this version.
func later() map[string]string {
	return map[string]string{
		"suggestions": "branches of suggestions are not read",
	}
}

// warnings returns one line for each such key that the file asks something of.
// The default history is none of them: who wrote nothing asked for nothing.
func warnings(c *Config) []string {
	asked := map[string]bool{}
	for _, p := range c.Projects {
		for _, co := range p.Components {
			asked["suggestions"] = asked["suggestions"] || co.Suggestions.Branches != ""
		}
	}
	var list []string
	for key, means := range later() {
		if asked[key] {
			list = append(list, key+" is not acted on in this version: "+means)
		}
	}
	slices.Sort(list)
	return list
}
