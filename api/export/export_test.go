package export_test

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/export"
	"github.com/repoglot/repoglot/catalog"
)

func head() *export.Head {
	return &export.Head{
		Project: "p", Component: "c", Language: "cs", ProjectName: "P <&>", LanguageName: "Czech", SourceLanguage: "en",
		PluralNumber: 3, PluralFormula: "(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2", URL: "https://l10n.example.org/projects/p/c/cs/", Filename: "po/cs.po",
	}
}

func hostile() []catalog.Unit {
	sep := catalog.FormSeparator
	return []catalog.Unit{
		{ID: 1, Source: "=cmd|' /C calc'!A0", Target: "@SUM(1)", State: 20, Context: "-ctx", Note: "*/ ]]> <b>\n%x"},
		{ID: 2, Source: "a\x01b _x0041_ & <c/>", Target: "č\x02\r\n\"x\"", State: 20, Location: "a.c:1, b.c"},
		{ID: 3, Source: "%d f" + sep + "%d fs", Target: "1" + sep + "2", State: 10, PreviousSource: "x" + sep + "y"},
		{ID: 4, Source: "none", State: 0, Flags: "c-format"},
		{ID: 5, Source: strings.Repeat("l", 40000), Target: "t", State: 100},
	}
}

func sequence(units []catalog.Unit, err error) export.Units {
	return func(yield func(*catalog.Unit, error) bool) {
		for i := range units {
			if !yield(&units[i], nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func written(t *testing.T, name string) []byte {
	t.Helper()
	f, ok := export.Lookup(name)
	if !ok {
		t.Fatalf("no format %s", name)
	}
	var a, b bytes.Buffer
	for _, w := range []*bytes.Buffer{&a, &b} {
		if err := f.Write(w, head(), sequence(hostile(), nil)); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("%s: the same strings give different bytes", name)
	}
	return a.Bytes()
}

// TestErrors: an error of the sequence is an error of the file.
func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, f := range export.Formats() {
		name := f.Name
		if err := f.Write(io.Discard, head(), sequence(hostile()[:2], broken)); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := export.Lookup("json"); ok {
		t.Error("PO files are not exported as json")
	}
}

func TestPO(t *testing.T) {
	for _, want := range []string{
		"#. */ ]]> <b>\n#. %x\nmsgctxt \"-ctx\"", "msgid \"a\x01b _x0041_ & <c/>\"\nmsgstr \"\"\n\"č\x02" + `\r\n"` + "\n" + `"\"x\""`,
		"#, fuzzy\n#| msgid \"x\"\n#| msgid_plural \"y\"\nmsgid \"%d f\"\nmsgid_plural \"%d fs\"\nmsgstr[0] \"1\"\nmsgstr[1] \"2\"\nmsgstr[2] \"\"",
		"#, c-format\nmsgid \"none\"\nmsgstr \"\"",
	} {
		if po := string(written(t, "po")); !strings.Contains(po, want) {
			t.Errorf("no %s in\n%.2000s", want, po)
		}
	}
}

func TestCSV(t *testing.T) {
	rows, err := csv.NewReader(bytes.NewReader(written(t, "csv"))).ReadAll()
	if err != nil || len(rows) != 1+1+1+3+1+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if r := rows[1]; r[1] != `'=cmd\|' /C calc'!A0'` || r[2] != "'@SUM(1)'" || r[5] != "'-ctx'" || r[4] != "False" {
		t.Errorf("%q", r)
	}
	if r := rows[4]; r[1] != "'%d fs'" || r[2] != "2" || r[4] != "True" {
		t.Errorf("%q", r)
	}
}

// TestXML: the files are well formed and have all strings.
func TestXML(t *testing.T) {
	for name, want := range map[string]int{"xliff": 7, "xliff11": 7, "tmx": 2 * 3} {
		data := written(t, name)
		count := 0
		d := xml.NewDecoder(bytes.NewReader(data))
		var text strings.Builder
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			switch v := token.(type) {
			case xml.StartElement:
				if v.Name.Local == "trans-unit" || v.Name.Local == "tuv" {
					count++
				}
			case xml.CharData:
				text.Write(v)
			}
		}
		if count != want || !strings.Contains(text.String(), "a\uFFFDb _x0041_ & <c/>") {
			t.Errorf("%s: %d elements in %.1500s", name, count, data)
		}
	}
}

func TestXLSX(t *testing.T) {
	data := written(t, "xlsx")
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := z.Open("xl/worksheets/sheet1.xml")
	if err != nil {
		t.Fatal(err)
	}
	var sheet struct {
		Rows []struct {
			Cells []struct {
				Type string `xml:"t,attr"`
				Text string `xml:"is>t"`
			} `xml:"c"`
		} `xml:"sheetData>row"`
	}
	if err := xml.NewDecoder(f).Decode(&sheet); err != nil {
		t.Fatal(err)
	}
	if len(sheet.Rows) != 8 {
		t.Fatalf("%d rows", len(sheet.Rows))
	}
	for _, row := range sheet.Rows {
		for _, c := range row.Cells {
			if c.Type != "inlineStr" {
				t.Errorf("a cell of type %s", c.Type)
			}
		}
	}
	if got := sheet.Rows[2].Cells[1].Text; got != "a_x0001_b _x005F_x0041_ & <c/>" {
		t.Errorf("%q", got)
	}
	if got := len(sheet.Rows[7].Cells[1].Text); got != 32767 {
		t.Errorf("a cell of %d characters", got)
	}
}

// TestFormatsAreDescribed: the description of the API and the manual name every format.
func TestFormatsAreDescribed(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"../resource/openapi.yaml", "../../docs/api.md", "../../docs/compatibility.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range export.Formats() {
			if !regexp.MustCompile("[`{=, \\[]" + f.Name + "[`},\\]]").Match(text) {
				t.Errorf("%s does not name %s", page, f.Name)
			}
		}
	}
}
