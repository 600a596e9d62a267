package export

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/repoglot/repoglot/catalog"
)

// columns are the columns of CSV and XLSX, the same as Weblate's.
func columns() []string {
	return []string{"location", "source", "target", "id", "fuzzy", "context", "translator_comments", "developer_comments"}
}

// rows returns the rows of a unit: one per plural form.
func rows(head *Head, u *catalog.Unit) [][]string {
	fuzzy := "False"
	if u.State.Fuzzy() {
		fuzzy = "True"
	}
	var all [][]string
	for _, p := range pairs(head, u) {
		all = append(all, []string{u.Location, p[0], p[1], "", fuzzy, u.Context, "", u.Note})
	}
	return all
}

// writeCSV writes CSV (RFC 4180). No cell is a formula in a spreadsheet.
func writeCSV(w io.Writer, head *Head, units Units) error {
	out := bufio.NewWriter(w)
	if err := writeLine(out, columns()); err != nil {
		return err
	}
	for u, err := range units {
		if err != nil {
			return err
		}
		for _, row := range rows(head, u) {
			for i := range row {
				row[i] = HarmlessCell(row[i])
			}
			if err := writeLine(out, row); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// writeLine ends a line with CR LF and keeps the line ends within cells, as
// Weblate does; a csv.Writer with UseCRLF would change those too.
func writeLine(out *bufio.Writer, row []string) error {
	var line bytes.Buffer
	w := csv.NewWriter(&line)
	if err := w.Write(row); err != nil {
		return err
	}
	w.Flush()
	out.Write(bytes.TrimSuffix(line.Bytes(), []byte("\n")))
	_, err := out.WriteString("\r\n")
	return err
}

// HarmlessCell puts a cell that a spreadsheet would compute between apostrophes, as
// Weblate does. Some programs skip a tab or a line end at the beginning, so such
// cells are treated alike.
func HarmlessCell(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@|%\t\r\n", rune(cell[0])) && strings.ContainsAny(cell, "=+-@|%") {
		return "'" + strings.ReplaceAll(cell, "|", `\|`) + "'"
	}
	return cell
}

// The limits of a sheet (ECMA-376; what spreadsheets open).
const (
	maxSheetRows = 1 << 20
	maxCell      = 32767 // UTF-16 units
)

// writeXLSX writes a workbook with one sheet and the columns of CSV. All cells are
// text, so that no cell is a formula. A text that is too long for a cell is cut;
// too many rows for a sheet are an error.
func writeXLSX(w io.Writer, head *Head, units Units) error {
	z := zip.NewWriter(w)
	const types = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`
	const relation = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"/></Relationships>`
	const workbook = `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">` +
		`<sheets><sheet name="Strings" sheetId="1" r:id="rId1"/></sheets></workbook>`
	for _, part := range [][2]string{
		{"[Content_Types].xml", types},
		{"_rels/.rels", fmt.Sprintf(relation, "officeDocument", "xl/workbook.xml")},
		{"xl/workbook.xml", workbook},
		{"xl/_rels/workbook.xml.rels", fmt.Sprintf(relation, "worksheet", "worksheets/sheet1.xml")},
	} {
		f, err := z.Create(part[0])
		if err != nil {
			return err
		}
		if _, err := io.WriteString(f, xml.Header+part[1]); err != nil {
			return err
		}
	}
	sheet, err := z.Create("xl/worksheets/sheet1.xml")
	if err != nil {
		return err
	}
	if err := writeSheet(sheet, head, units); err != nil {
		return err
	}
	return z.Close()
}

func writeSheet(w io.Writer, head *Head, units Units) error {
	out := bufio.NewWriter(w)
	out.WriteString(xml.Header + `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`)
	writeRow(out, columns())
	n := 1
	for u, err := range units {
		if err != nil {
			return err
		}
		for _, row := range rows(head, u) {
			if n++; n > maxSheetRows {
				return fmt.Errorf("write XLSX: %w: more strings than the %d rows of a sheet", catalog.ErrInvalid, maxSheetRows)
			}
			writeRow(out, row)
		}
	}
	out.WriteString(`</sheetData></worksheet>`)
	return out.Flush()
}

func writeRow(out *bufio.Writer, row []string) {
	out.WriteString("<row>")
	for _, cell := range row {
		out.WriteString(`<c t="inlineStr"><is><t xml:space="preserve">` + escaped(cellText(cell)) + `</t></is></c>`)
	}
	out.WriteString("</row>")
}

// looksEscaped matches text that a spreadsheet would read as an escaped character.
var looksEscaped = regexp.MustCompile(`_(x[0-9A-Fa-f]{4}_)`)

// cellText escapes control characters as _xHHHH_ (ECMA-376, ST_Xstring) and cuts
// the text to the length of a cell.
func cellText(s string) string {
	s = looksEscaped.ReplaceAllString(s, "_x005F_$1")
	var b strings.Builder
	length := 0
	for _, c := range s {
		length++
		if c > 0xffff {
			length++
		}
		if length > maxCell {
			break
		}
		if c < ' ' && c != '\n' && c != '\t' {
			fmt.Fprintf(&b, "_x%04X_", c)
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}
