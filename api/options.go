package api

// metadata is the answer to OPTIONS (facts §6, last paragraph).
type metadata struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Renders     []string `json:"renders"`
	Parses      []string `json:"parses"`
}

// optionsOf describes a route. The lists of media types are those that were
// recorded; like there they do not depend on whether the object exists.
func optionsOf(rt *route) metadata {
	return metadata{
		Name:        rt.name,
		Description: rt.description,
		Renders:     []string{"application/json", "text/html"},
		Parses:      []string{"application/json", "application/x-www-form-urlencoded", "multipart/form-data"},
	}
}
