package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// resolve follows aliases and drops anchors and tags; nil for a reported alias without target.
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

// text returns the text of a scalar in any of YAML's styles, as it is written.
func text(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		if n.Value == nil {
			return "", true
		}
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// kind describes a node, for messages.
func kind(node ast.Node) string {
	if s, ok := text(node); ok {
		return "the text " + sample(s)
	}
	if _, ok := node.(ast.MapNode); ok {
		return "a mapping"
	}
	return "a list"
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

// keys are the fields of a struct by their keys.
type keys struct {
	fields   map[string]reflect.StructField
	required []string
}

// refused says why a field cannot have its value by its tags: oneof has the values that it may
// have, range the least and perhaps the greatest one, env an example of the name of an
// environment variable. It is "" if it can.
func refused(v reflect.Value, tag reflect.StructTag) string {
	if values := strings.Fields(tag.Get("oneof")); len(values) > 0 && v.String() != "" && !slices.Contains(values, v.String()) {
		return fmt.Sprintf("must be one of %s, but is %s", strings.Join(values, ", "), sample(v.String()))
	}
	if example := tag.Get("env"); example != "" && v.String() != "" && !envRule.MatchString(v.String()) {
		return "must be the name of an environment variable, not a secret; write it like " + example
	}
	bounds := strings.Fields(tag.Get("range"))
	for i, text := range bounds {
		bound := reflect.New(v.Type()).Elem()
		_ = wordParser(bound)(text)
		if i == 0 && v.Int() < bound.Int() || i == 1 && v.Int() > bound.Int() {
			if len(bounds) == 1 {
				return "must be " + text + " or more"
			}
			return "must be from " + strings.Join(bounds, " to ")
		}
	}
	return ""
}

// keysOf reads the tags of a struct, once.
func (r *report) keysOf(t reflect.Type) *keys {
	if k := r.keys[t]; k != nil {
		return k
	}
	k := &keys{fields: make(map[string]reflect.StructField, t.NumField())}
	for _, f := range reflect.VisibleFields(t) {
		key := f.Tag.Get("yaml")
		if key == "" || key == "-" {
			continue
		}
		k.fields[key] = f
		if f.Tag.Get("required") != "" {
			k.required = append(k.required, key)
		}
	}
	if r.keys == nil {
		r.keys = map[reflect.Type]*keys{}
	}
	r.keys[t] = k
	return k
}

// Nearest returns the word that another one may be a misspelling of: the one with the fewest
// letters to change, add or drop, at most two, the first by name; "" if there is none.
func Nearest(word string, words []string) string {
	best, least := "", 3
	for _, known := range words {
		if n := distance(strings.ToLower(word), known); n < least || n == least && known < best {
			best, least = known, n
		}
	}
	return best
}

// distance is the number of letters to change, add or drop between two words; 99 for long ones.
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
