package export

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/csv"
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

// Columns are the first row of a sheet.
func (*document) Columns() []string { return columns() }

// rows returns the rows of a unit: one per plural form.
func rows(head *Head, u *catalog.Unit) [][]string {
	fuzzy := "False"
	if u.State.Fuzzy() {
		fuzzy = "True"
	}
	var all [][]string
	for _, p := range pairs(head, u) {
		all = append(all, []string{u.Location, p.Source, p.Target, "", fuzzy, u.Context, "", u.Note})
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

// HarmlessCell puts a cell that a spreadsheet would compute between apostrophes, as Weblate
// does, also after a tab or a line end at its beginning, which some programs skip.
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

// writeXLSX writes a workbook with one sheet. A text that is too long for a cell is cut; too
// many rows for a sheet are an error.
func writeXLSX(w io.Writer, head *Head, units Units) error {
	z, d := zip.NewWriter(w), &document{Head: head, Units: units}
	for _, part := range []string{"[Content_Types].xml", "_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/worksheets/sheet1.xml"} {
		f, err := z.Create(part)
		if err == nil {
			err = d.part(f, part)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// Rows are the rows of the next unit in a sheet.
func (d *document) Rows(u *catalog.Unit, err error) ([][]string, error) {
	if err != nil {
		return nil, err
	}
	list := rows(d.Head, u)
	if d.rows += len(list); d.rows >= maxSheetRows {
		return nil, fmt.Errorf("%w: more strings than the %d rows of a sheet", catalog.ErrInvalid, maxSheetRows)
	}
	return list, nil
}

// looksEscaped matches text that a spreadsheet would read as an escaped character.
var looksEscaped = regexp.MustCompile(`_(x[0-9A-Fa-f]{4}_)`)

// cellText writes control characters as _xHHHH_ (ECMA-376, ST_Xstring), cut for a cell.
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
