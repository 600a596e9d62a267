package sqldb

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// copyRows is the number of rows from which they are copied (COPY), which takes a
// round trip; fewer are inserted by statements that wait for the next one.
const copyRows = 64

// insert writes rows by COPY if they are many and cannot be there already.
func (c *PostgresConnection) insert(ctx context.Context, in *Inserter, args []any) error {
	if in.tail == "" && len(args) >= copyRows*in.cols() {
		return c.copy(ctx, in, args)
	}
	for len(args) > 0 {
		rows := insertSize(len(args) / in.cols())
		if err := c.Do(ctx, "INSERT INTO "+in.sql(rows), args[:rows*in.cols()]); err != nil {
			return err
		}
		args = args[rows*in.cols():]
	}
	return nil
}

// copyHeader begins the binary format of COPY: signature, flags, length of the
// header's extension.
const copyHeader = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// copy writes rows by COPY.
func (c *PostgresConnection) copy(ctx context.Context, in *Inserter, args []any) error {
	columns := strings.Join(in.columns, ", ")
	sd, err := c.prepared(ctx, "SELECT "+columns+" FROM "+in.table, nil, false) // for their types
	if err != nil {
		return c.broken(err)
	}
	if err := c.Flush(ctx); err != nil {
		return err
	}
	data := append([]byte(nil), copyHeader...)
	for row := args; len(row) > 0; row = row[in.cols():] {
		if data, err = appendRow(data, row[:in.cols()], sd.Fields); err != nil {
			return fmt.Errorf("a row of %s: %w", in.table, err)
		}
	}
	data = binary.BigEndian.AppendUint16(data, 0xffff)
	if err := c.lock(); err != nil {
		return err
	}
	defer c.unlock()
	_, err = c.Conn.CopyFrom(ctx, bytes.NewReader(data), "COPY "+in.table+" ("+columns+") FROM STDIN BINARY")
	return c.broken(err)
}

// appendRow appends a row in the binary format of COPY.
func appendRow(data []byte, values []any, fields []pgconn.FieldDescription) (_ []byte, err error) {
	data = binary.BigEndian.AppendUint16(data, uint16(len(values)))
	for i, value := range values {
		at := len(data)
		data = binary.BigEndian.AppendUint32(data, 0xffffffff) // NULL
		if value == nil {
			continue
		}
		if data, err = appendValue(data, value, fields[i].DataTypeOID); err != nil {
			return nil, fmt.Errorf("%s: %w", fields[i].Name, err)
		}
		binary.BigEndian.PutUint32(data[at:], uint32(len(data)-at-4))
	}
	return data, nil
}
