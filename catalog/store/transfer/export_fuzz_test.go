package transfer

import (
	"bytes"
	"testing"
)

// FuzzExport: any file is read or refused, without a panic.
func FuzzExport(f *testing.F) {
	f.Add([]byte(`{"repoglot":"database 1","schema":1,"generation":1}` + "\n" + `{"table":"a","columns":["b","c"],"types":["number","bytes"]}` + "\n" + `[1,"AA=="]` + "\n" + `{"rows":1}`))
	f.Add([]byte(`{"repoglot":"database 1"}[]{"rows":0}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		x := newExportReader(bytes.NewReader(data))
		if _, err := x.header(); err != nil {
			return
		}
		rows := int64(0)
		n, err := x.each(func(*exportTable) error { return nil }, func(row []any) error { rows++; return nil })
		if err == nil && n != rows {
			t.Errorf("%d rows, %d seen", n, rows)
		}
	})
}
