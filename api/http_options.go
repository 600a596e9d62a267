package api

import (
	"github.com/repoglot/repoglot/api/resource"
	"github.com/repoglot/repoglot/api/wire"
)

// optionsOf describes a route. The media types are Weblate's, and as there they
// do not depend on whether the object exists.
func optionsOf(rt *resource.Route) wire.Options {
	return wire.Options{
		Name:        rt.Name,
		Description: rt.About,
		Renders:     []string{"application/json", "text/html"},
		Parses:      []string{"application/json", "application/x-www-form-urlencoded", "multipart/form-data"},
	}
}
