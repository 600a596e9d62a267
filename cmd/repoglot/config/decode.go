package config

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/repoglot/repoglot/catalog"
)

// maxNodes bounds the values of one file, counting aliases each time they are used, so that
// nested aliases cannot grow without end: 10,000 components with 20 values each.
const maxNodes = 200_000

// maxDepth bounds open brackets and aliases of aliases; types of Config bound decode.
const maxDepth = 64

// decoder fills structs from a YAML tree. Unlike the library's it reports every mistake.
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
	if _, known := d.positions[path]; !known {
		d.positions[path] = nodePosition(node)
	}
	if parse := wordParser(dst); parse != nil {
		d.word(path, node, parse)
		return
	}
	switch dst.Kind() {
	case reflect.Struct:
		s, _ := text(node)
		switch of := dst.Addr().Interface().(type) {
		case *catalog.History:
			d.history(path, node, s, of)
			return
		case *Allow:
			if s == "anyone" {
				return
			}
		}
		d.mapping(path, node, dst)
	case reflect.Map:
		d.lists(path, node, dst)
	case reflect.Slice:
		d.sequence(path, node, dst)
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
		f, ok := known.fields[key]
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
			field := dst.FieldByIndex(f.Index)
			d.decode(to, value, field)
			if why := refused(field, f.Tag); why != "" {
				d.on(to, "%s %s", to, why)
			}
			if f.Tag.Get("env") != "" {
				d.variables[field.String()] = true
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

// word parses the text of a scalar, as it is written: YAML's own types of words do not count.
func (d *decoder) word(path string, node ast.Node, parse func(string) error) {
	s, ok := text(node)
	i := strings.IndexFunc(s, func(c rune) bool { return c < ' ' && !strings.ContainsRune("\t\n\r", c) || c == 0x7f })
	switch at := nodePosition(node); {
	case !ok:
		d.at(at, "%s must be one word, but is %s", path, kind(node))
	case i >= 0:
		d.at(at, "%s holds the control character %#x; remove it", path, s[i])
	default:
		if err := parse(s); err != nil {
			d.at(at, "%s: %s %v", path, sample(s), err)
		}
	}
}

// history decodes `full`, `none`, `{since: DAY}` and `{commits: N}`.
func (d *decoder) history(path string, node ast.Node, word string, dst *catalog.History) {
	var bounds struct {
		Since   day `yaml:"since"`
		Commits int `yaml:"commits" range:"1"`
	}
	if *dst = (catalog.History{Full: word != "none"}); word == "full" || word == "none" {
		return
	}
	before := len(d.errs)
	if _, ok := node.(ast.MapNode); ok {
		d.mapping(path, node, reflect.ValueOf(&bounds).Elem())
	}
	if dst.Since, dst.Commits = bounds.Since.Time, bounds.Commits; len(d.errs) == before && dst.Since.IsZero() == (dst.Commits == 0) {
		d.at(nodePosition(node), "%s must be full, none, {since: 2024-01-31} or {commits: 200}", path)
	}
}
