package message

import (
	"slices"
	"strings"
)

// The keys of trailers that name people.
const (
	CoAuthoredBy = "Co-authored-by"
	SignedOffBy  = "Signed-off-by"
)

// Trailer is a line at the end of a message that names somebody.
type Trailer struct {
	// Key is one of the constants.
	Key string
	// Name and Email are of a person; without either there is no trailer.
	Name, Email string
}

// String returns the line.
func (t Trailer) String() string { return t.Key + ": " + Person(t.Name, t.Email) }

// WithTrailers adds trailers to a message, each once: to its last paragraph if that has
// trailers only, else as a paragraph of its own (git-interpret-trailers(1)).
func WithTrailers(message string, trailers ...Trailer) string {
	message = strings.TrimRight(message, "\n")
	paragraphs := strings.Split(message, "\n\n")
	last := strings.Split(paragraphs[len(paragraphs)-1], "\n")
	joins := len(paragraphs) > 1 && !slices.ContainsFunc(last, func(line string) bool { return !isTrailer(line) })
	var add []string
	for _, t := range trailers {
		line := t.String()
		if cleanName(t.Name) == "" || cleanName(t.Email) == "" || slices.Contains(add, line) || joins && slices.Contains(last, line) {
			continue
		}
		add = append(add, line)
	}
	if len(add) == 0 {
		return message
	}
	separator := "\n\n"
	if joins {
		separator = "\n"
	}
	return message + separator + strings.Join(add, "\n")
}

func isTrailer(line string) bool {
	key, _, ok := strings.Cut(line, ": ")
	return ok && key != "" && strings.IndexFunc(key, func(r rune) bool {
		return r != '-' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) < 0
}

// Person returns "Name <e-mail>" for a commit: neither part ends its line or the
// brackets.
func Person(name, email string) string { return cleanName(name) + " <" + cleanName(email) + ">" }

func cleanName(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r == '<' || r == '>' {
			return -1
		}
		return r
	}, oneLine(s)), " .,:;\"'\\")
}
