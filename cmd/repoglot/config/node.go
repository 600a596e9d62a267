package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// resolve follows aliases and removes anchors and tags. It returns nil after
// reporting an alias without a target.
func (d *decoder) resolve(node ast.Node) ast.Node {
	for range maxDepth {
		switch n := node.(type) {
		case *ast.AnchorNode:
			d.anchors[keyText(n.Name)] = n.Value
			node = n.Value
		case *ast.AliasNode:
			to, ok := d.anchors[keyText(n.Value)]
			if !ok {
				d.at(nodePosition(n), "*%s names no anchor above it; add &%[1]s there", keyText(n.Value))
				return nil
			}
			node = to
		case *ast.TagNode:
			d.at(nodePosition(n), "tags such as %s are not read; remove it", sample(n.Start.Value))
			return nil
		case nil:
			return nil
		default:
			return node
		}
	}
	d.at(nodePosition(node), "an alias leads back to itself; remove it")
	return nil
}

func nodePosition(node ast.Node) position {
	if m, ok := node.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		node = m.Values[0].Key // the mapping's own token is the first colon
	}
	if m, ok := node.(*ast.MappingValueNode); ok {
		node = m.Key
	}
	if node == nil || reflect.ValueOf(node).IsNil() {
		return position{1, 1}
	}
	t := node.GetToken()
	if t == nil || t.Position == nil {
		return position{1, 1}
	}
	return position{t.Position.Line, t.Position.Column}
}

// text returns the text of a string in any of YAML's styles.
func text(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		if n.Value == nil {
			return "", true
		}
		return n.Value.Value, true
	default:
		return "", false
	}
}

// literal returns a number as it is written; "" for other nodes.
func literal(node ast.Node) string {
	switch node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return node.GetToken().Value
	default:
		return ""
	}
}

// kind describes a node, for messages.
func kind(node ast.Node) string {
	switch n := node.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		s, _ := text(n)
		return "the text " + sample(s)
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "the number " + n.GetToken().Value
	case *ast.BoolNode:
		return n.GetToken().Value
	case ast.MapNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	default:
		return "something else"
	}
}

// keyText returns the text of a key, anchor or alias name.
func keyText(node ast.Node) string {
	if node == nil || reflect.ValueOf(node).IsNil() {
		return ""
	}
	if s, ok := text(node); ok {
		return s
	}
	if t := node.GetToken(); t != nil {
		return t.Value
	}
	return ""
}

// keys are what the tags of a struct's fields say.
type keys struct {
	fields   map[string][]int // their indexes, by key
	required []string
	allowed  map[string][]string // the values of keys that have one of few
}

// notAllowed says why a key that has one of few values cannot have this one; "" if it can.
func notAllowed(value string, allowed []string) string {
	if value == "" || len(allowed) == 0 || slices.Contains(allowed, value) {
		return ""
	}
	return fmt.Sprintf("must be one of %s, but is %s", strings.Join(allowed, ", "), sample(value))
}

// keysOf reads the tags of a struct, once.
func (r *report) keysOf(t reflect.Type) *keys {
	if k := r.keys[t]; k != nil {
		return k
	}
	k := &keys{fields: make(map[string][]int, t.NumField()), allowed: map[string][]string{}}
	for _, f := range reflect.VisibleFields(t) {
		key := f.Tag.Get("yaml")
		if key == "" || key == "-" {
			continue
		}
		k.fields[key] = f.Index
		if f.Tag.Get("required") != "" {
			k.required = append(k.required, key)
		}
		k.allowed[key] = strings.Fields(f.Tag.Get("oneof"))
	}
	if r.keys == nil {
		r.keys = map[reflect.Type]*keys{}
	}
	r.keys[t] = k
	return k
}

// Nearest returns the word that another one may be a misspelling of: the one with
// the fewest letters to change, add or drop, at most two; the first by name of
// several. It is "" if there is none.
func Nearest(word string, words []string) string {
	best, least := "", 3
	for _, known := range words {
		if n := distance(strings.ToLower(word), known); n < least || n == least && known < best {
			best, least = known, n
		}
	}
	return best
}

// distance is the number of letters to change, add or drop between two words;
// 99 for long ones.
func distance(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return 99
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
