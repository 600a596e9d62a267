package catalog_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// room is how large a package is: files and lines without tests, and files in the largest
// circle of files that name each other's package-level names, methods included.
type room struct{ files, lines, circle int }

// TestRoomsAreSmall: no package has more than 60 files or 9,000 lines, and none more than 40
// files in a circle. Those that are larger may not grow: a change that makes one clearly
// smaller lowers its numbers here.
func TestRoomsAreSmall(t *testing.T) {
	most := room{files: 60, lines: 9_000, circle: 40}
	larger := map[string]room{}
	for pkg := range readImports(t) {
		limit, known := larger[pkg]
		if !known {
			limit = most
		}
		is := measureRoom(t, filepath.Join("..", filepath.FromSlash(pkg)))
		if is.files > limit.files || is.lines > limit.lines || is.circle > limit.circle {
			t.Errorf("%s has %d files, %d lines, and %d files in a circle; at most %d, %d, %d: move a noun of it to a package of its own (docs/contributing.md#size)",
				pkg, is.files, is.lines, is.circle, limit.files, limit.lines, limit.circle)
		}
		if known && (is.files < limit.files || is.lines < limit.lines-200 || is.circle < limit.circle) {
			t.Errorf("%s is smaller: write %+v into the list of larger packages, or remove it if that is within %+v", pkg, is, most)
		}
		delete(larger, pkg)
	}
	for pkg := range larger {
		t.Errorf("%s is no package: remove it from the list", pkg)
	}
}

// measureRoom reads the files of a package.
func measureRoom(t *testing.T, dir string) (r room) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	trees := make([]*ast.File, len(files))
	names, members := declared{}, declared{}
	for i, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r.lines += strings.Count(string(text), "\n")
		if trees[i], err = parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil {
			t.Fatal(err)
		}
		names.add(i, trees[i], members)
	}
	r.files = len(files)
	uses := make([][]int, len(files))
	for i, tree := range trees {
		uses[i] = usedBy(i, tree, names, members)
	}
	r.circle = largestCircle(uses)
	return r
}

// declared has the files that declare a name.
type declared map[string][]int

// add notes what a file declares: package-level names, and in members its methods and the
// fields of its types.
func (d declared) add(file int, tree *ast.File, members declared) {
	for _, decl := range tree.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv != nil {
				members[decl.Name.Name] = append(members[decl.Name.Name], file)
				continue
			}
			d[decl.Name.Name] = append(d[decl.Name.Name], file)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					d[spec.Name.Name] = append(d[spec.Name.Name], file)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						d[name.Name] = append(d[name.Name], file)
					}
				}
			}
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok {
			for _, field := range s.Fields.List {
				for _, name := range field.Names {
					members[name.Name] = append(members[name.Name], -1)
				}
			}
		}
		return true
	})
}

// usedBy returns the other files whose names a file uses. A selector counts if only one file
// declares a method of that name and no type has a field of it.
func usedBy(file int, tree *ast.File, names, members declared) (uses []int) {
	imported := map[string]bool{}
	for _, spec := range tree.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		imported[path[strings.LastIndex(path, "/")+1:]] = true
	}
	for _, ident := range tree.Unresolved {
		uses = append(uses, names[ident.Name]...)
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && x.Obj == nil && imported[x.Name] {
			return true
		}
		if in := members[s.Sel.Name]; len(in) > 0 && !slices.Contains(in, -1) && len(slices.Compact(slices.Clone(in))) == 1 {
			uses = append(uses, in[0])
		}
		return true
	})
	slices.Sort(uses)
	return slices.DeleteFunc(slices.Compact(uses), func(other int) bool { return other == file })
}

// largestCircle returns the number of files of the largest set in which each reaches each
// other one.
func largestCircle(uses [][]int) (most int) {
	reach := make([][]bool, len(uses))
	for i := range uses {
		reach[i] = make([]bool, len(uses))
		for next := []int{i}; len(next) > 0; {
			at := next[0]
			next = next[1:]
			for _, other := range uses[at] {
				if !reach[i][other] {
					reach[i][other] = true
					next = append(next, other)
				}
			}
		}
	}
	for i := range uses {
		n := 0
		for j := range uses {
			if reach[i][j] && reach[j][i] {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}
