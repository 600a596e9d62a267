package hooks

import "net/http"

// service is a code hosting service. Those that send a ref are in push.go.
type service struct {
	// name is its name in the path.
	name string
	// title is its name for people.
	title string
	// read makes a notification from a payload. It returns nil for an event that
	// is not a push, and an error for a payload without the fields that the
	// service sends (docs/compatibility.md#webhooks).
	read func(h http.Header, payload []byte) (*notification, error)
	// signed reports whether a call proves, by the service's own method, that its
	// caller knows a secret; nil: the service has no such method.
	signed func(k *call, secret string) bool
	// signsPayload says that signatures are of the JSON, also when a form has it.
	signsPayload bool
	// signatures are the headers with signatures of the body; a call without them
	// proves what it proves by its other headers alone.
	signatures []string
}

// services is the table of all services. It is never changed.
var services = []service{github, gitlab, gitea, forgejo, bitbucket, azure, pagure, gitee}

// Services returns the names of all services as they are in paths.
func Services() []string {
	names := make([]string, len(services))
	for i := range services {
		names[i] = services[i].name
	}
	return names
}

// serviceNamed returns the service with a name; nil for an unknown name.
func serviceNamed(name string) *service {
	for i := range services {
		if services[i].name == name {
			return &services[i]
		}
	}
	return nil
}

// notification reads the payload of a call; nil for an event that is not a push.
func (s *service) notification(h http.Header, payload []byte) (*notification, error) {
	n, err := s.read(h, payload)
	if n != nil {
		n.service = s.title
		n.normalize()
	}
	return n, err
}
