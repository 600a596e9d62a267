package sqldb

import (
	"bytes"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// oidsOf are the types of arguments; 0, for NULL, leaves the choice to PostgreSQL.
func oidsOf(args []any) []uint32 {
	oids := make([]uint32, len(args))
	for i, arg := range args {
		switch arg.(type) {
		case nil:
		case string:
			oids[i] = pgtype.TextOID
		case []byte:
			oids[i] = pgtype.ByteaOID
		default:
			oids[i] = pgtype.Int8OID
		}
	}
	return oids
}

// pgArgs encodes arguments. Its buffers are used again.
type pgArgs struct {
	pgx.ExtendedQueryBuilder
	values []any
	size   int // of the encoded values
}

func (a *pgArgs) encode(types *pgtype.Map, args []any, sd *pgconn.StatementDescription) error {
	a.values, a.size = a.values[:0], 0
	for _, arg := range args {
		a.values = append(a.values, pgValue(arg))
	}
	err := a.Build(types, sd, a.values)
	clear(a.values) // do not keep texts alive
	for _, value := range a.ParamValues {
		a.size += len(value)
	}
	return err
}

// pgValue is a value as the schema has it: flags are numbers.
func pgValue(value any) any {
	switch v := value.(type) {
	case string:
		return Storable(v)
	case bool:
		return Smallint(v)
	case []byte:
		if v == nil { // NULL is nil itself
			return []byte{}
		}
	}
	return value
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
type pgRow struct {
	rows   *pgconn.ResultReader
	types  *pgtype.Map
	values []driver.Value
}

func (r *pgRow) scan(dest ...any) (err error) {
	r.values = r.values[:0]
	for i, data := range r.rows.Values() {
		value, err := Decoded(r.types, r.rows.FieldDescriptions()[i].DataTypeOID, data)
		if err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
		r.values = append(r.values, value)
	}
	return assignAll(dest, r.values)
}

// Decoded is a value of a result as the driver of SQLite has it. Sums of BIGINT are
// numeric.
func Decoded(types *pgtype.Map, oid uint32, data []byte) (driver.Value, error) {
	if data == nil {
		return nil, nil
	}
	switch oid {
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.NameOID:
		return Stored(data), nil
	case pgtype.ByteaOID:
		return append(make([]byte, 0, len(data)), data...), nil
	case pgtype.BoolOID:
		return int64(data[0]), nil
	case pgtype.Int8OID: // most are, or flags
		return int64(binary.BigEndian.Uint64(data)), nil
	case pgtype.Int2OID:
		return int64(int16(binary.BigEndian.Uint16(data))), nil
	}
	var n int64
	err := types.Scan(oid, pgtype.BinaryFormatCode, data, &n)
	return n, err
}
