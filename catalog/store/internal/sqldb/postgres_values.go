package sqldb

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
)

// The types of PostgreSQL that the schema and its queries use (pg_type.oid).
const (
	oidBool    = 16
	oidBytes   = 17
	oidName    = 19
	oidInt64   = 20
	oidInt16   = 21
	oidInt32   = 23
	oidText    = 25
	oidVarchar = 1043
	OidNumeric = 1700
)

// oidsOf are the types of arguments; 0, for NULL, leaves the choice to PostgreSQL.
func oidsOf(args []any) []uint32 {
	oids := make([]uint32, len(args))
	for i, arg := range args {
		switch arg.(type) {
		case nil:
		case string:
			oids[i] = oidText
		case []byte:
			oids[i] = oidBytes
		default:
			oids[i] = oidInt64
		}
	}
	return oids
}

// pgArgs encodes arguments. Its buffers are used again.
type pgArgs struct {
	buf    []byte
	values [][]byte
}

func (a *pgArgs) encode(args []any, oids []uint32) ([][]byte, error) {
	if len(args) != len(oids) {
		return nil, fmt.Errorf("%d arguments for %d parameters", len(args), len(oids))
	}
	if a.buf == nil {
		a.buf = make([]byte, 0, 1024) // a nil value would be NULL
	}
	a.buf, a.values = a.buf[:0], a.values[:0]
	for i, arg := range args {
		if arg = pointedTo(arg); arg == nil {
			a.values = append(a.values, nil)
			continue
		}
		start := len(a.buf)
		var err error
		if a.buf, err = appendValue(a.buf, arg, oids[i]); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
		a.values = append(a.values, a.buf[start:len(a.buf):len(a.buf)])
	}
	return a.values, nil
}

// pointedTo is what a pointer points to; nil for nil.
func pointedTo(arg any) any {
	switch p := arg.(type) {
	case nil, int64, string, []byte, int:
		return p
	case *int64:
		if p == nil {
			return nil
		}
		return *p
	}
	return arg
}

// appendValue appends the binary form of a value that is not nil.
func appendValue(buf []byte, value any, oid uint32) ([]byte, error) {
	switch oid {
	case oidText, oidVarchar, oidName:
		if text, ok := value.(string); ok {
			return append(buf, Storable(text)...), nil
		}
	case oidBytes:
		if data, ok := value.([]byte); ok {
			return append(buf, data...), nil
		}
	case oidBool:
		if is, ok := value.(bool); ok {
			return append(buf, byte(Smallint(is))), nil
		}
	case oidInt64, oidInt32, oidInt16:
		n, ok := integer(value)
		if !ok {
			break
		}
		switch {
		case oid == oidInt64:
			return binary.BigEndian.AppendUint64(buf, uint64(n)), nil
		case oid == oidInt32 && n == int64(int32(n)):
			return binary.BigEndian.AppendUint32(buf, uint32(n)), nil
		case oid == oidInt16 && n == int64(int16(n)):
			return binary.BigEndian.AppendUint16(buf, uint16(n)), nil
		}
		return nil, fmt.Errorf("%d is too large", n)
	}
	return nil, fmt.Errorf("a %T for a parameter of type %d", value, oid)
}

func integer(value any) (int64, bool) {
	switch n := value.(type) {
	case int64:
		return n, true
	case int:
		return int64(n), true
	}
	if v := reflect.ValueOf(value); v.CanInt() {
		return v.Int(), true
	} else if v.Kind() == reflect.Bool {
		return Smallint(v.Bool()), true
	}
	return 0, false
}

// nul stands for NUL, which PostgreSQL cannot store: a code point that is never
// assigned to a character, and that sorts like no other. Where a text has the code point
// itself, or that of literal, literal comes before it.
const nul, literal = "\U0010FFFE", "\U0010FFFF"

var (
	toStore   = strings.NewReplacer("\x00", nul, nul, literal+nul, literal, literal+literal)
	fromStore = strings.NewReplacer(literal+nul, nul, literal+literal, literal, nul, "\x00")
)

// Storable is a text as PostgreSQL can store it: UTF-8, with nul for NUL. Only paths
// and names of git may be no UTF-8; U+FFFD takes the place of what is not.
func Storable(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if strings.IndexByte(text, 0) >= 0 || strings.IndexByte(text, nul[0]) >= 0 {
		text = toStore.Replace(text)
	}
	return text
}

// Stored is the text that storable was given.
func Stored(data []byte) string {
	if bytes.IndexByte(data, nul[0]) < 0 {
		return string(data)
	}
	return fromStore.Replace(string(data))
}

// pgRow scans the current row of a result.
type pgRow struct{ rows *pgconn.ResultReader }

func (r *pgRow) scan(dest ...any) error {
	values, fields := r.rows.Values(), r.rows.FieldDescriptions()
	if len(dest) != len(values) {
		return fmt.Errorf("%d columns for %d destinations", len(values), len(dest))
	}
	for i, value := range values {
		if err := assignValue(dest[i], fields[i].DataTypeOID, value); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return nil
}

// assignValue copies a value of a result, like assign.
func assignValue(dest any, oid uint32, data []byte) (err error) {
	if data == nil {
		return assignNull(dest)
	}
	switch dest := dest.(type) {
	case *string:
		if isText(oid) {
			*dest = Stored(data)
			return nil
		}
	case *[]byte:
		*dest = append(make([]byte, 0, len(data)), data...)
		return nil
	case *sql.RawBytes: // until the next row
		*dest = data
		return nil
	case *sql.NullString:
		dest.String, dest.Valid = Stored(data), true
		return nil
	case *any:
		*dest, err = anyValue(oid, data)
		return err
	}
	if v := reflect.ValueOf(dest); isText(oid) && v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.String {
		v.Elem().SetString(Stored(data))
		return nil
	}
	n, err := Number(oid, data)
	if err != nil {
		return err
	}
	switch dest := dest.(type) {
	case *int64:
		*dest = n
		return nil
	case *sql.NullInt64:
		*dest = sql.NullInt64{Int64: n, Valid: true}
		return nil
	case *time.Time:
		*dest = time.UnixMicro(n).UTC()
		return nil
	}
	return assignNumber(dest, n)
}

func assignNull(dest any) error {
	switch dest := dest.(type) {
	case *[]byte:
		*dest = nil
	case *sql.RawBytes:
		*dest = nil
	case *any:
		*dest = nil
	case *sql.NullInt64:
		*dest = sql.NullInt64{}
	case *sql.NullString:
		*dest = sql.NullString{}
	case *time.Time:
		*dest = time.Time{}
	default:
		return fmt.Errorf("cannot scan NULL into a %T", dest)
	}
	return nil
}

func isText(oid uint32) bool { return oid == oidText || oid == oidVarchar || oid == oidName }

func anyValue(oid uint32, data []byte) (any, error) {
	switch {
	case isText(oid):
		return Stored(data), nil
	case oid == oidBytes:
		return append(make([]byte, 0, len(data)), data...), nil
	}
	return Number(oid, data)
}

// Number decodes an integer. Sums of BIGINT are numeric.
func Number(oid uint32, data []byte) (int64, error) {
	switch {
	case oid == oidInt64 && len(data) == 8:
		return int64(binary.BigEndian.Uint64(data)), nil
	case oid == oidInt32 && len(data) == 4:
		return int64(int32(binary.BigEndian.Uint32(data))), nil
	case oid == oidInt16 && len(data) == 2:
		return int64(int16(binary.BigEndian.Uint16(data))), nil
	case oid == oidBool && len(data) == 1:
		return int64(data[0]), nil
	case oid == OidNumeric && len(data) >= 8:
		return numeric(data)
	}
	return 0, fmt.Errorf("a value of type %d is no number", oid)
}

// numeric decodes an integer of type numeric: the number of digits to the base of
// 10,000, the weight of the first, the sign, the scale, the digits.
func numeric(data []byte) (int64, error) {
	digits, weight, sign := int(binary.BigEndian.Uint16(data)), int(int16(binary.BigEndian.Uint16(data[2:]))), binary.BigEndian.Uint16(data[4:])
	if len(data) != 8+2*digits || sign != 0 && sign != 0x4000 || digits > weight+1 {
		return 0, fmt.Errorf("the numeric %x is no integer", data)
	}
	n := int64(0)
	for i := range weight + 1 {
		digit := int64(0)
		if i < digits {
			digit = int64(binary.BigEndian.Uint16(data[8+2*i:]))
		}
		if n > (math.MaxInt64-digit)/10_000 {
			return 0, fmt.Errorf("the numeric %x is too large", data)
		}
		n = n*10_000 + digit
	}
	if sign != 0 {
		n = -n
	}
	return n, nil
}
