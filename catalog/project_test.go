package catalog_test

import (
	"testing"

	"github.com/repoglot/repoglot/catalog"
)

// TestPrivate: a component's own access wins over its project's.
func TestPrivate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		project, access catalog.Access
		want            bool
	}{
		{catalog.AccessPublic, "", false},
		{catalog.AccessPrivate, "", true},
		{catalog.AccessPrivate, catalog.AccessPublic, false},
		{catalog.AccessPublic, catalog.AccessPrivate, true},
	} {
		p := catalog.Project{Settings: catalog.ProjectSettings{Access: tt.project}}
		c := catalog.ComponentSettings{Access: tt.access}
		if got := c.Private(&p); got != tt.want {
			t.Errorf("a component %q of a project %q: %v", tt.access, tt.project, got)
		}
	}
}
