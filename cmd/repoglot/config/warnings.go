package config

import (
	"slices"
	"strings"
)

// later lists the keys that are read but not acted on in this version.
func later() map[string]string {
	return map[string]string{
		"rate_limit":         "requests are not limited",
		"bots":               "programs are not told from people",
		"suggestions":        "branches of suggestions are not read",
		"webhook_secret_env": "webhooks are not answered",
		"history":            "the first import starts at the head, as with history: none",
	}
}

// warnings returns one line for each such key that the file sets.
func warnings(c *Config, places map[string]place) []string {
	set := map[string]bool{}
	for path := range places {
		set[path[strings.LastIndexByte(path, '.')+1:]] = true
	}
	set["history"] = false
	for i, p := range c.Projects {
		for j, co := range p.Components {
			_, written := places[index(index("projects", i)+".components", j)+".history"]
			set["history"] = set["history"] || written && co.History.Mode != HistoryNone
		}
	}
	var list []string
	for key, means := range later() {
		if set[key] {
			list = append(list, key+" is not acted on in this version: "+means)
		}
	}
	slices.Sort(list)
	return list
}
