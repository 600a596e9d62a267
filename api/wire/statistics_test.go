package wire

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// TestEveryCountIsServed: each count of statistics changes them in the API.
func TestEveryCountIsServed(t *testing.T) {
	t.Parallel()
	served := func(s *catalog.Stats) string {
		text, err := json.Marshal(NewStatistics(s, time.Time{}, 0))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	none := served(&catalog.Stats{})
	for i := range reflect.TypeFor[catalog.Stats]().NumField() {
		var s catalog.Stats
		field, name := reflect.ValueOf(&s).Elem().Field(i), reflect.TypeFor[catalog.Stats]().Field(i).Name
		if field.Kind() == reflect.Struct {
			field = field.Field(0)
		}
		if field.SetInt(7); served(&s) == none {
			t.Errorf("statistics do not have %s", name)
		}
	}
}
