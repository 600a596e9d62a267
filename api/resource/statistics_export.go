package resource

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/api/export"
	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// exportColumns are the columns of the statistics as CSV.
const exportColumns = "name code total translated translated_percent translated_words_percent total_words translated_words " +
	"total_chars translated_chars translated_chars_percent failing failing_percent fuzzy fuzzy_percent url_translate url " +
	"translate_url last_change last_author recent_changes readonly readonly_percent approved approved_percent suggestions comments"

// exportComponentStatistics answers the statistics of a component's
// translations, by id.
func (e *Env) exportComponentStatistics(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	component, all, err := e.importedTranslations(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	rows := make([]wire.TranslationStatistics, len(all))
	for i := range all {
		rows[i] = e.newTranslationStatistics(r.Link, &all[i], component.Project.Slug, component.Slug, sourceOf(all))
	}
	return exportStatistics(r, "stats-"+component.Project.Slug+"-"+component.Slug, rows)
}

// exportProjectStatistics answers the statistics of a project's languages, by
// code.
func (e *Env) exportProjectStatistics(ctx context.Context, snap *store.Snapshot, r *rest.Request) (any, error) {
	project, sums, err := projectSums(ctx, snap, r)
	if err != nil {
		return nil, err
	}
	rows := e.languagesOfProject(r.Link, sums, project.Slug)
	slices.SortFunc(rows, func(a, b wire.ProjectLanguageStatistics) int { return cmp.Compare(a.Code, b.Code) })
	return exportStatistics(r, "stats-"+project.Slug, rows)
}

// exportStatistics writes rows as an indented array, or as CSV for download.
func exportStatistics(r *rest.Request, name string, rows any) (any, error) {
	format, _ := r.Params.Get("format")
	if format != "" && format != "api" && format != "json" && format != "csv" {
		return nil, rest.ErrNotFound
	}
	body, err := wire.JSON(rows, 4)
	if err != nil || format != "csv" {
		return &rest.Document{ContentType: rest.TypeJSON, Body: body}, err
	}
	var values []map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&values); err != nil {
		return nil, fmt.Errorf("read statistics: %w", err)
	}
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	columns := strings.Fields(exportColumns)
	if err := w.Write(columns); err != nil {
		return nil, err
	}
	for _, value := range values {
		row := make([]string, len(columns))
		for i, column := range columns {
			if v := value[column]; v != nil {
				row[i] = export.HarmlessCell(fmt.Sprint(v))
			}
		}
		if err := w.Write(row); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return &rest.Document{ContentType: rest.TypeCSV, Filename: name + ".csv", Body: buf.Bytes()}, w.Error()
}
