package config

import "slices"

// later lists the keys that are read but not acted on in this version.
func later() map[string]string {
	return map[string]string{
		"rate_limit":  "requests are not limited",
		"bots":        "programs are not told from people",
		"suggestions": "branches of suggestions are not read",
		"history":     "the first import starts at the head, as with history: none",
	}
}

// warnings returns one line for each such key that the file asks something of.
// The default history is none of them: who wrote nothing asked for nothing.
func warnings(c *Config, places map[string]place) []string {
	asked := map[string]bool{
		"rate_limit": c.RateLimit != RateLimit{},
		"bots":       len(c.Bots) > 0,
	}
	for i, p := range c.Projects {
		for j, co := range p.Components {
			_, written := places[index(index("projects", i)+".components", j)+".history"]
			asked["history"] = asked["history"] || written && co.History.Mode != HistoryNone
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
