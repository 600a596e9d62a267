package resource

import (
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/rest"
)

// TestStatisticsWithoutFormulas: an author's name is no formula in a spreadsheet.
func TestStatisticsWithoutFormulas(t *testing.T) {
	t.Parallel()
	r := &rest.Request{Params: rest.ParseQuery("format=csv")}
	got, err := exportStatistics(r, "stats", []map[string]any{{"last_author": "=HYPERLINK(1)"}})
	if err != nil {
		t.Fatal(err)
	}
	if body := string(got.(*rest.Document).Body); !strings.Contains(body, "'=HYPERLINK(1)'") {
		t.Errorf("the author is a formula:\n%s", body)
	}
}
