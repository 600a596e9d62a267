package export

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"io"
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
