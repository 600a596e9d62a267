package derive

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/repoglot/repoglot/gitsource/object"
)

// encode returns the commit as git stores it.
func (c *Commit) encode(tree object.Hash) ([]byte, error) {
	head := fmt.Sprintf("tree %s\nparent %s\nauthor %s\ncommitter %s\n", tree, c.Parent, person(c.Author), person(c.Committer))
	message := strings.ToValidUTF8(strings.ReplaceAll(c.Message, "\x00", ""), "\uFFFD")
	message = "\n" + strings.Trim(message, "\n") + "\n"
	if message == "\n\n" {
		return nil, errors.New("the message is empty")
	}
	if c.Signer == nil {
		return []byte(head + message), nil
	}
	signature, err := c.Signer.Sign([]byte(head+message), c.Committer.When)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	var b bytes.Buffer
	b.WriteString(head + "gpgsig")
	for line := range strings.SplitSeq(strings.TrimRight(signature, "\n"), "\n") {
		b.WriteString(" " + line + "\n")
	}
	b.WriteString(message)
	return b.Bytes(), nil
}

// person writes a name and a time as git does: without characters that end the name,
// the address or the line. Without a name the address stands for it.
func person(s object.Signature) string {
	name, email := cleanPart(s.Name), cleanPart(s.Email)
	if name == "" {
		name = email
	}
	if name == "" {
		name = "unknown"
	}
	return fmt.Sprintf("%s <%s> %d %s", name, email, max(0, s.When.Unix()), s.When.Format("-0700"))
}

// cleanPart does what git does to names and addresses (ident.c, strbuf_addstr_without_crud).
func cleanPart(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '<' || r == '>' || r == 0:
			return -1
		case r < ' ' || r == 0x7F:
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Trim(s, " .,:;\"'\\")
}
