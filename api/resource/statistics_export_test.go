package resource

import (
	"context"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/api/rest"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog/store"
)

// TestStatisticsWithoutFormulas: an author's name is no formula in a spreadsheet.
func TestStatisticsWithoutFormulas(t *testing.T) {
	t.Parallel()
	r := &rest.Request{Params: rest.ParseQuery("format=csv")}
	found := func(context.Context, *store.Snapshot, *rest.Request) (struct{}, error) { return struct{}{}, nil }
	got, err := exported(found, func(context.Context, *store.Snapshot, *rest.Request, *struct{}) ([]wire.Object, error) {
		return []wire.Object{{"last_author", "=HYPERLINK(1)"}}, nil
	})(t.Context(), nil, r)
	if err != nil {
		t.Fatal(err)
	}
	if body := string(got.(*rest.Document).Body); !strings.Contains(body, "'=HYPERLINK(1)'") {
		t.Errorf("the author is a formula:\n%s", body)
	}
}
