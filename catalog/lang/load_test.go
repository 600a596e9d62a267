package lang

import (
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// typeRow is one row of plural-types.csv.
type typeRow struct {
	formula string
	kind    int
}

// readTypes reads plural-types.csv without the code under test.
func readTypes(t *testing.T) []typeRow {
	t.Helper()
	rows, err := readCSV(dataFiles, "plural-types.csv", 3)
	must(t, err)
	var types []typeRow
	for _, row := range rows {
		kind, err := strconv.Atoi(row[2])
		must(t, err)
		types = append(types, typeRow{row[1], kind})
	}
	return types
}

// The error of each broken file must name it, so that a bad update of the data is found
// at once.
func TestLoadBrokenData(t *testing.T) {
	good := map[string]string{
		"languages.csv":         "code,name,nplurals,formula\naa,Afar,2,n != 1\nbb,Bfar,1,0\n",
		"aliases.csv":           "source,target\n#,Comment\naar,aa\n",
		"rtl.csv":               "code,\naa,\n",
		"default_countries.csv": "code\naa_bb\n",
		"plural-types.csv":      "nplurals,formula,type\n2,n != 1,1\n1,0,0\n",
		"recorded-names.csv":    "code,name\naa,Other\n",
		"population.csv":        "code,population\naa,2305971\n",
	}
	loadWith := func(name, text string) error {
		files := fstest.MapFS{}
		for n, content := range good {
			files["data/"+n] = &fstest.MapFile{Data: []byte(content)}
		}
		switch {
		case name != "" && text == "":
			delete(files, "data/"+name)
		case name != "":
			files["data/"+name] = &fstest.MapFile{Data: []byte(text)}
		}
		_, err := load(files)
		return err
	}
	if err := loadWith("", ""); err != nil {
		t.Fatalf("good data: %v", err)
	}
	for name := range good {
		if err := loadWith(name, ""); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
		if err := loadWith(name, "header\n"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("empty %s: %v", name, err)
		}
	}
	tests := []struct{ name, file, text, want string }{
		{"short row", "languages.csv", "h\naa,Afar,2\n", "3 columns"},
		{"bad number", "languages.csv", "h\naa,Afar,two,0\n", `"two"`},
		{"bad population", "population.csv", "h,p\naa,many\n", `"many"`},
		{"no forms", "languages.csv", "h\naa,Afar,0,0\n", `"0"`},
		{"same code", "languages.csv", "h\naa_b,A,1,0\naa-B,B,1,0\n", "differ only in case"},
		{"same name", "languages.csv", "h\nbb,A,1,0\ncc,a,1,0\n", "same name"},
		{"quote", "languages.csv", "h\n\"aa,A,1,0\n", "languages.csv"},
		{"alias of nothing", "aliases.csv", "h\naar,zz\n", `"zz"`},
		{"alias of two", "aliases.csv", "h\nx-y,aa\nx_y,bb\n", `both "aa" and "bb"`},
		{"bad type", "plural-types.csv", "h\n1,0,x\n", `"x"`},
		{"bad formula", "plural-types.csv", "h\n1,n=,1\n", "plural expression"},
		{"two types", "plural-types.csv", "h\n1,n>1,1\n2,n > 1,2\n", "types 1 and 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := loadWith(tt.file, tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}
