package config

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/repoglot/repoglot/catalog"
)

// maxNodes bounds the values of one file, counting aliases each time they are used,
// so that nested aliases cannot grow without end: 10,000 components with 20 values
// each.
const maxNodes = 200_000

// maxDepth bounds open brackets and aliases of aliases. The types of Config bound
// the recursion of decode.
const maxDepth = 64

// decoder fills structs from a YAML tree. Unlike the library's decoder it reports
// every mistake, not only the first.
type decoder struct {
	report
	anchors map[string]ast.Node
	nodes   int
}

// decode fills dst from node. path names the value in messages.
func (d *decoder) decode(path string, node ast.Node, dst reflect.Value) {
	if d.nodes++; d.nodes > maxNodes {
		if d.nodes == maxNodes+1 {
			d.at(nodePosition(node), "the file holds more than %d values; use fewer aliases", maxNodes)
		}
		return
	}
	node = d.resolve(node)
	if node == nil || node.Type() == ast.NullType {
		return // a key without a value keeps its default
	}
	at := nodePosition(node)
	if _, known := d.positions[path]; !known {
		d.positions[path] = at
	}
	if parse := wordParser(dst); parse != nil {
		d.word(path, node, parse)
		return
	}
	if history, ok := dst.Addr().Interface().(*catalog.History); ok {
		d.history(path, node, history)
		return
	}
	switch dst.Kind() {
	case reflect.Struct:
		if s, _ := text(node); s == "anyone" && dst.Type() == reflect.TypeFor[Allow]() {
			return
		}
		d.mapping(path, node, dst)
	case reflect.Map:
		d.lists(path, node, dst)
	case reflect.Slice:
		d.sequence(path, node, dst)
	case reflect.String:
		if s, ok := text(node); !ok {
			d.at(at, "%s must be text, but is %s; put it in quotes", path, kind(node))
		} else if d.printable(at, path, s) {
			dst.SetString(s)
		}
	case reflect.Bool:
		if n, ok := node.(*ast.BoolNode); !ok {
			d.at(at, "%s must be true or false, but is %s", path, kind(node))
		} else {
			dst.SetBool(n.Value)
		}
	case reflect.Int:
		n, err := strconv.ParseInt(literal(node), 10, 32)
		if node.Type() != ast.IntegerType || err != nil {
			d.at(at, "%s must be a whole number below %d, but is %s", path, 1<<31, kind(node))
		} else {
			dst.SetInt(n)
		}
	default:
		panic("config: no rule for a field of type " + dst.Type().String())
	}
}

// mapping fills a struct: unknown, repeated and missing keys are mistakes.
func (d *decoder) mapping(path string, node ast.Node, dst reflect.Value) {
	m, ok := node.(ast.MapNode)
	if !ok {
		d.at(nodePosition(node), "%s must be a mapping of keys to values, but is %s", cmp.Or(path, "the file"), kind(node))
		return
	}
	known := d.keysOf(dst.Type())
	seen, meant := map[string]bool{}, map[string]bool{}
	for _, value := range d.entries(path, m, known, seen, meant, false, dst) {
		list := []ast.Node{value}
		if s, ok := d.resolve(value).(*ast.SequenceNode); ok {
			list = s.Values
		}
		for _, n := range list {
			switch resolved := d.resolve(n).(type) {
			case nil:
			case ast.MapNode:
				d.entries(path, resolved, known, seen, meant, true, dst)
			default:
				d.at(nodePosition(n), "<< must name a mapping, but names %s", kind(resolved))
			}
		}
	}
	for _, key := range known.required {
		if !seen[key] && !meant[key] {
			d.on(path, "%s has no %s; add the key %q", cmp.Or(path, "the file"), key, key)
		}
	}
}

// entries decodes the keys of a mapping, and returns what "<<: *anchor" and "<<: [*a, *b]"
// merge into it. merged says that it is such a one: keys that were seen win.
func (d *decoder) entries(path string, m ast.MapNode, known *keys, seen, meant map[string]bool, merged bool, dst reflect.Value) (merges []ast.Node) {
	for it := m.MapRange(); it.Next(); {
		key, at := keyText(it.Key()), nodePosition(it.Key())
		index, ok := known.fields[key]
		switch {
		case it.Key().IsMergeKey() && merged:
			d.at(at, "<< within a merged mapping is not read; name both mappings: <<: [*a, *b]")
		case it.Key().IsMergeKey():
			merges = append(merges, it.Value())
		case !ok:
			best, hint := Nearest(key, slices.Collect(maps.Keys(known.fields))), "remove it, or see docs/configuration.md for the keys of "+cmp.Or(path, "the file")
			if meant[best] = true; best != "" {
				hint = "did you mean " + sample(best) + "?"
			}
			d.at(at, "unknown key %s; %s", sample(key), hint)
		case seen[key] && !merged:
			d.at(at, "key %q is here twice; remove one of the two", key)
		case !seen[key]:
			seen[key] = true
			to, value := strings.TrimPrefix(path+"."+key, "."), it.Value()
			// Mistakes of an absent or empty value, and of one with several, are reported at the key.
			switch r := d.resolve(value); {
			case r == nil || r.Type() == ast.NullType || r.Type() == ast.MappingType || r.Type() == ast.SequenceType:
				d.positions[to] = at
			default:
				d.positions[to] = nodePosition(value)
			}
			field := dst.FieldByIndex(index)
			d.decode(to, value, field)
			if why := notAllowed(field.String(), known.allowed[key]); why != "" {
				d.on(to, "%s %s", to, why)
			}
		}
	}
	return merges
}

func (d *decoder) sequence(path string, node ast.Node, dst reflect.Value) {
	s, ok := node.(*ast.SequenceNode)
	if !ok {
		d.at(nodePosition(node), "%s must be a list, but is %s; write it like [a, b]", path, kind(node))
		return
	}
	for i, n := range s.Values {
		if d.nodes > maxNodes {
			return
		}
		item := reflect.New(dst.Type().Elem()).Elem()
		switch v := item.Addr().Interface().(type) {
		case *Project:
			*v = DefaultProject()
		case *Component:
			*v = DefaultComponent()
		}
		p := index(path, i)
		if r := d.resolve(n); r == nil || r.Type() == ast.NullType {
			d.at(nodePosition(n), "%s is empty; remove the dash or write something after it", p)
			continue
		}
		d.positions[p] = nodePosition(n)
		d.decode(p, n, item)
		dst.Set(reflect.Append(dst, item))
	}
}

// lists fills a map of lists by any key.
func (d *decoder) lists(path string, node ast.Node, dst reflect.Value) {
	m, ok := node.(ast.MapNode)
	if !ok {
		d.at(nodePosition(node), "%s must be a mapping of keys to lists, but is %s", path, kind(node))
		return
	}
	dst.Set(reflect.MakeMap(dst.Type()))
	for it := m.MapRange(); it.Next(); {
		key, list := keyText(it.Key()), reflect.New(dst.Type().Elem()).Elem()
		if dst.MapIndex(reflect.ValueOf(key)).IsValid() || it.Key().IsMergeKey() {
			d.at(nodePosition(it.Key()), "key %q is here twice, or merges; write each key once", key)
		}
		d.positions[path+"."+key] = nodePosition(it.Key())
		d.decode(path+"."+key, it.Value(), list)
		dst.SetMapIndex(reflect.ValueOf(key), list)
	}
}

// word parses the text of a scalar.
func (d *decoder) word(path string, node ast.Node, parse func(string) error) {
	at := nodePosition(node)
	s, ok := text(node)
	if !ok {
		s = literal(node)
	}
	if s == "" && !ok {
		d.at(at, "%s must be one word, but is %s", path, kind(node))
		return
	}
	if !d.printable(at, path, s) {
		return
	}
	if err := parse(s); err != nil {
		d.at(at, "%s: %s %v", path, sample(s), err)
	}
}

// printable reports control characters except tab and line breaks.
func (d *decoder) printable(at position, path, s string) bool {
	if i := strings.IndexFunc(s, func(c rune) bool { return c < ' ' && !strings.ContainsRune("\t\n\r", c) || c == 0x7f }); i >= 0 {
		d.at(at, "%s holds the control character %#x; remove it", path, s[i])
		return false
	}
	return true
}

// history decodes `full`, `none`, `{since: DAY}` and `{commits: N}`.
func (d *decoder) history(path string, node ast.Node, dst *catalog.History) {
	const remedy = "write full, none, {since: 2024-01-31} or {commits: 200}"
	if s, ok := text(node); ok {
		if s != "full" && s != "none" {
			d.at(nodePosition(node), "%s: %s is no history; %s", path, sample(s), remedy)
			return
		}
		*dst = catalog.History{Full: s == "full"}
		return
	}
	m, ok := node.(ast.MapNode)
	if !ok {
		d.at(nodePosition(node), "%s is %s; %s", path, kind(node), remedy)
		return
	}
	it := m.MapRange()
	if !it.Next() {
		d.at(nodePosition(node), "%s is empty; %s", path, remedy)
		return
	}
	key, at, value := keyText(it.Key()), nodePosition(it.Key()), d.resolve(it.Value())
	switch {
	case it.Next():
		d.at(nodePosition(node), "%s has more than one key; %s", path, remedy)
	case key == "since":
		s, _ := text(value)
		day, err := time.Parse(time.DateOnly, s)
		if err != nil {
			d.at(nodePosition(value), "%s.since must be a day; write it like 2024-01-31", path)
			return
		}
		*dst = catalog.History{Full: true, Since: day}
	case key == "commits":
		n, err := strconv.ParseInt(literal(value), 10, 32)
		if err != nil || n < 1 {
			d.at(nodePosition(value), "%s.commits must be a number above 0", path)
			return
		}
		*dst = catalog.History{Full: true, Commits: int(n)}
	default:
		d.at(at, "unknown key %s; %s", sample(key), remedy)
	}
}
