package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// kind is the type of a JSON value.
type kind int

const (
	null kind = iota
	text
	literal // a number or a truth value
	object
	array
)

// node is a JSON value whose keys keep their order.
type node struct {
	kind    kind
	value   string // of text and literal
	keys    []string
	members []*node
}

// maxDepth bounds the nesting of values.
const maxDepth = 64

var errDeep = errors.New("values are nested too deeply")

func parse(body []byte) (*node, error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	n, err := read(dec, 0)
	if err != nil {
		return nil, fmt.Errorf("read the JSON: %w", err)
	}
	return n, nil
}

func read(dec *json.Decoder, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case string:
		return &node{kind: text, value: v}, nil
	case json.Delim:
		return nested(dec, v, depth)
	case nil:
		return &node{}, nil
	}
	return &node{kind: literal, value: fmt.Sprint(token)}, nil
}

func nested(dec *json.Decoder, open json.Delim, depth int) (*node, error) {
	n := &node{kind: array}
	if open == '{' {
		n.kind = object
	}
	for dec.More() {
		if n.kind == object {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			n.keys = append(n.keys, fmt.Sprint(key))
		}
		member, err := read(dec, depth+1)
		if err != nil {
			return nil, err
		}
		n.members = append(n.members, member)
	}
	_, err := dec.Token() // the closing bracket
	return n, err
}

// get returns the member at a path of keys; nil if there is no such member.
func (n *node) get(keys ...string) *node {
	for _, key := range keys {
		if n == nil {
			return nil
		}
		n = n.member(key)
	}
	return n
}

func (n *node) member(key string) *node {
	for i, k := range n.keys {
		if k == key {
			return n.members[i]
		}
	}
	return nil
}

// text returns a member that is text or a literal; "" if there is no such member.
func (n *node) text(keys ...string) string {
	if m := n.get(keys...); m != nil && (m.kind == text || m.kind == literal) {
		return m.value
	}
	return ""
}
