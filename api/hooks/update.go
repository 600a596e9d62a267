package hooks

import (
	"net/http"
	"slices"
)

// updates is how plain calls prove a secret.
var updates = service{name: "update", signed: hubSignature, signatures: []string{hubHeader}}

// update answers /hooks/update/<project>/[<component>/] for any method: it pulls
// every branch of the project or component. A body is read only if it is signed.
func (s *Server) update(r *http.Request, project, component string) answer {
	k := &call{header: r.Header, now: s.now(), service: &updates}
	if k.signsBody() {
		lease := s.lease(r, false)
		defer lease.Release()
		var err error
		if k.body, err = s.readBody(lease, r, false); err != nil {
			return bodyProblem(err)
		}
	}
	branches := s.pulls.Branches()
	found, err := s.named(r, project, component, branches)
	if err != nil {
		s.log.Error("hook: reading the components", "service", "update", "error", err)
		return failure(http.StatusServiceUnavailable, "The components cannot be read.").retry()
	}
	granted, refused := k.authorize(found, branches)
	enabled := slices.ContainsFunc(found, func(m match) bool { return m.Enabled }) // a setting of the project
	a := updated(granted, refused, enabled).then(s.refused(r, "update", refused))
	if !enabled {
		return a
	}
	return a.then(s.start(r.Context(), granted)).then(func() {
		s.log.Info("hook", "service", "update", "project", project, "component", component, "pulled", len(granted))
	})
}

// updated is the answer to a plain call.
func updated(granted, refused []match, enabled bool) answer {
	switch {
	case !slices.ContainsFunc(granted, match.mayTell) && !slices.ContainsFunc(refused, func(m match) bool { return !m.Private }):
		return failure(http.StatusNotFound, "Not found.")
	case !enabled:
		return failure(http.StatusMethodNotAllowed, "Hooks are disabled for this project (enable_hooks).").allow("")
	case !slices.ContainsFunc(granted, match.mayTell):
		return failure(http.StatusForbidden, wrongSecret)
	}
	return success(http.StatusOK, "Update triggered")
}

// named lists the components of a project, or one of them.
func (s *Server) named(r *http.Request, project, component string, branches []Branch) ([]match, error) {
	var list []match
	named := func(b *Branch) bool { return slices.Contains(b.Projects, project) }
	names := func(b *Branch) []string { return b.Projects }
	err := s.read(r.Context(), branches, named, names, func(b *Branch, c Component) {
		if c.Project == project && (component == "" || c.Slug == component) {
			event := map[string]string{"service_long_name": "Update", "repo_url": b.Repo, "full_name": "", "branch": "", "repos": ""}
			list = append(list, match{Component: c, key: b.Key, event: event})
		}
	})
	return list, err
}
