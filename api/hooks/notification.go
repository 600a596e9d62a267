package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxURLs and maxText bound the texts of a payload that are compared: services
	// name up to a dozen addresses.
	maxURLs = 64
	maxText = 2 << 10
)

// notification is what a call says about a push.
type notification struct {
	// service is the title of the service.
	service string
	// repos are the addresses of the repository.
	repos []string
	// repoURL is the address for people.
	repoURL string
	// fullName is owner and name, "" if unknown.
	fullName string
	// branches are the branches pushed, without refs/heads/; empty means any.
	branches []string
	// defaultBranch is "" if unknown.
	defaultBranch string
}

// normalize drops texts that no repository has. The rest is compared and logged.
func (n *notification) normalize() {
	n.repos = usable(n.repos)
	for i := range n.repos {
		n.repos[i] = normalAddress(n.repos[i])
	}
	n.branches = usable(trimRefs(n.branches))
	n.fullName = strings.Trim(first(usable([]string{n.fullName})), "/")
	n.repoURL = first(usable([]string{n.repoURL}))
	n.defaultBranch = first(usable(trimRefs([]string{n.defaultBranch})))
}

func trimRefs(list []string) []string {
	out := make([]string, len(list))
	for i, ref := range list {
		out[i] = strings.TrimPrefix(ref, "refs/heads/")
	}
	return out
}

// usable returns the valid texts of a list, each once.
func usable(list []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range list {
		bad := s == "" || len(s) > maxText || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl)
		if bad || seen[s] || len(out) == maxURLs {
			continue
		}
		seen[s] = true
		out = append(out, s)
	}
	return out
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// errMissingField is returned for a payload without a field that the service
// sends.
var errMissingField = errors.New("the payload lacks what a push has")

// decode reads a payload.
func decode(payload []byte, into any) error {
	if err := json.Unmarshal(payload, into); err != nil {
		return fmt.Errorf("reading the payload: %w", err)
	}
	return nil
}

// bounded is a list of which the first maxURLs entries are read: a body of 25 MiB
// can hold millions of empty objects.
type bounded[T any] []T

// UnmarshalJSON reads the first entries of a list.
func (f *bounded[T]) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	t, err := d.Token()
	if err != nil || t == nil {
		return err
	}
	if t != json.Delim('[') {
		return errMissingField
	}
	for d.More() && len(*f) < maxURLs {
		var one T
		if err := d.Decode(&one); err != nil {
			return err
		}
		*f = append(*f, one)
	}
	return nil
}

// optionalText is a text; values of another type are read as "".
type optionalText string

// UnmarshalJSON reads a text.
func (w *optionalText) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		return nil
	}
	return json.Unmarshal(data, (*string)(w))
}
