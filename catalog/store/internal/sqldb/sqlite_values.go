package sqldb

import (
	"database/sql"
	"database/sql/driver"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// assignAll copies the values of a row.
func assignAll(dest []any, values []driver.Value) error {
	if len(dest) != len(values) {
		return fmt.Errorf("%d columns for %d destinations", len(values), len(dest))
	}
	for i := range dest {
		if err := assign(dest[i], values[i]); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return nil
}

// assign copies a value of the driver to a destination of a scan, like
// database/sql.
func assign(dest any, value driver.Value) error {
	switch dest := dest.(type) {
	case *int64:
		if n, ok := value.(int64); ok {
			*dest = n
			return nil
		}
	case *string:
		if text, ok := value.(string); ok {
			*dest = text
			return nil
		}
	case *[]byte:
		data, ok := bytesOf(value)
		*dest = data
		if ok {
			return nil
		}
	case *sql.RawBytes:
		data, ok := bytesOf(value)
		*dest = data
		if ok {
			return nil
		}
	case *any:
		*dest = value
		return nil
	case sql.Scanner: // NULL, too
		return dest.Scan(value)
	case *time.Time:
		n, ok := value.(int64)
		*dest = FromMicros(sql.NullInt64{Int64: n, Valid: ok})
		if ok || value == nil {
			return nil
		}
	default:
		switch value := value.(type) {
		case int64:
			return assignNumber(dest, value)
		case string:
			if v := reflect.ValueOf(dest); v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.String {
				v.Elem().SetString(value)
				return nil
			}
		}
	}
	return fmt.Errorf("cannot scan a %T into a %T", value, dest)
}

// bytesOf is a text or what the driver has copied of a blob; nil is NULL. A number, which
// only a damaged database has there, is its digits: whoever reads the blob says what is
// wrong with it.
func bytesOf(value driver.Value) ([]byte, bool) {
	switch value := value.(type) {
	case nil:
		return nil, true
	case string:
		return []byte(value), true
	case int64:
		return strconv.AppendInt(nil, value, 10), true
	case []byte:
		if value == nil {
			value = []byte{}
		}
		return value, true
	}
	return nil, false
}

// assignNumber copies a number to a destination that is a pointer to another kind of
// integer, or to a bool. Those of a unit's row do without reflection; 64 bits of a mask are
// stored as a number of either sign.
func assignNumber(dest any, n int64) error {
	switch dest := dest.(type) {
	case *int:
		*dest = int(n)
		return nil
	case *bool:
		*dest = n != 0
		return nil
	case *uint64:
		*dest = uint64(n)
		return nil
	}
	if dest := reflect.ValueOf(dest); dest.Kind() == reflect.Pointer {
		switch to := dest.Elem(); to.Kind() {
		case reflect.Bool:
			to.SetBool(n != 0)
			return nil
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			if to.OverflowInt(n) {
				return fmt.Errorf("%d is too large for a %s", n, to.Type())
			}
			to.SetInt(n)
			return nil
		}
	}
	return fmt.Errorf("cannot scan a number into a %T", dest)
}
