package predictions

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/database"
)

// postgresSink writes a table of PostgreSQL. A vector is an array.
type postgresSink struct {
	ctx     context.Context
	columns []column
	types   []postgresType
	out     *database.CopiedTable
}

// postgresType is a type of PostgreSQL.
type postgresType struct {
	name string
	oid  uint32
	size int // bytes of a value; 0: any
}

// postgresTypes are the types for numbers: the smallest that has all values, but for 64 bits without a sign, whose values are checked.
var postgresTypes = map[graph.DType]postgresType{
	graph.Bool: {"boolean", 16, 1},
	graph.Int8: {"smallint", 21, 2}, graph.Int16: {"smallint", 21, 2}, graph.Uint8: {"smallint", 21, 2},
	graph.Int32: {"integer", 23, 4}, graph.Uint16: {"integer", 23, 4},
	graph.Int64: {"bigint", 20, 8}, graph.Uint32: {"bigint", 20, 8}, graph.Uint64: {"bigint", 20, 8},
	graph.Float16: {"real", 700, 4}, graph.BFloat16: {"real", 700, 4}, graph.Float32: {"real", 700, 4}, graph.Float64: {"double precision", 701, 8},
	graph.String: {"text", 25, 0},
}

// postgresTypeOf is the type of a column. Nanoseconds are texts, as a timestamp has microseconds.
func postgresTypeOf(c *column) postgresType {
	switch c.unit {
	case "":
		return postgresTypes[c.dtype]
	case graph.Nanoseconds:
		return postgresTypes[graph.String]
	}
	return postgresType{"timestamp", 1114, 8}
}

// openPostgres begins a table.
func openPostgres(ctx context.Context, to Target, columns []column, overwrite bool) (*postgresSink, error) {
	s := &postgresSink{ctx: ctx, columns: columns}
	var declared []database.CopyColumn
	for i := range columns {
		c := &columns[i]
		typ := postgresTypeOf(c)
		s.types = append(s.types, typ)
		if c.width > 0 {
			typ.name += "[]"
		}
		declared = append(declared, database.CopyColumn{Name: c.name, Type: typ.name})
	}
	var err error
	s.out, err = database.CopyTable(ctx, to.Path, to.Table, declared, overwrite)
	return s, err
}

// encode makes the rows of a block in the binary format of COPY: the number of fields, and each with its length before it.
func (s *postgresSink) encode(_ *worker, b *block) error {
	out := b.bytes[:0]
	be := binary.BigEndian
	for i := range b.rows {
		out = be.AppendUint16(out, uint16(len(s.columns)))
		for k := range s.columns {
			c, x, typ := &s.columns[k], &b.cells[k], s.types[k]
			if x.null != nil && x.null[i] {
				out = be.AppendUint32(out, math.MaxUint32)
				continue
			}
			at := len(out)
			out = append(out, 0, 0, 0, 0)
			var err error
			switch {
			case c.width > 0:
				for _, v := range [...]uint32{1, 0, typ.oid, uint32(c.width), 1} { // dimensions, nulls, type of the values, their number, the first index
					out = be.AppendUint32(out, v)
				}
				for v := range c.width {
					out = be.AppendUint32(out, uint32(typ.size))
					if out, err = appendPostgres(out, c, x, i*c.width+v, typ); err != nil {
						return err
					}
				}
			default:
				if out, err = appendPostgres(out, c, x, i, typ); err != nil {
					return err
				}
			}
			be.PutUint32(out[at:], uint32(len(out)-at-4))
		}
	}
	b.bytes = out
	return nil
}

// unixEpoch is 1970 in the times of PostgreSQL, which begin with 2000, and leastTime the first of them, in microseconds since 1970.
const (
	unixEpoch = -946684800_000000
	leastTime = -210866803200_000000
)

// appendPostgres appends value i of a column in the binary format of its type.
func appendPostgres(out []byte, c *column, x *cells, i int, typ postgresType) ([]byte, error) {
	be := binary.BigEndian
	switch {
	case c.unit == graph.Nanoseconds:
		return appendTime(out, c, graph.View[int64](x.data)[i])
	case c.unit != "":
		v, factor := graph.View[int64](x.data)[i], 1_000_000/c.unit.PerSecond()
		if v > math.MaxInt64/factor || v < leastTime/factor {
			return out, fmt.Errorf("column %q: found the time %d %s, expected one that a timestamp of PostgreSQL holds; write CSV", c.name, v, c.unit)
		}
		return be.AppendUint64(out, uint64(v*factor+unixEpoch)), nil
	case c.dtype == graph.String:
		text := x.string(i)
		if bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
			return out, fmt.Errorf("column %q: found the text %q, expected UTF-8 without zero bytes in PostgreSQL; write Parquet", c.name, strings.ToValidUTF8(string(text[:min(len(text), 80)]), "\ufffd"))
		}
		return append(out, text...), nil
	case c.dtype == graph.Float32:
		return be.AppendUint32(out, graph.View[uint32](x.data)[i]), nil
	case c.dtype == graph.Float64:
		return be.AppendUint64(out, graph.View[uint64](x.data)[i]), nil
	}
	value, err := valueOf(c, x, i)
	if err != nil {
		return out, err
	}
	switch v := value.(type) {
	case bool:
		if v {
			return append(out, 1), nil
		}
		return append(out, 0), nil
	case float64:
		return be.AppendUint32(out, math.Float32bits(float32(v))), nil // of 16 bits
	case int64:
		switch typ.size {
		case 2:
			return be.AppendUint16(out, uint16(v)), nil
		case 4:
			return be.AppendUint32(out, uint32(v)), nil
		}
		return be.AppendUint64(out, uint64(v)), nil
	}
	return out, fmt.Errorf("column %q: found a value of %s, expected a number", c.name, c.dtype) // valueOf has no other kinds
}

// add takes a block.
func (s *postgresSink) add(b *block) error {
	_, err := s.out.Write(b.bytes)
	return err
}

// close commits the table.
func (s *postgresSink) close() error { return s.out.Commit(s.ctx) }
