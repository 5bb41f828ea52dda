package tables

import (
	"fmt"
	"math"
	"strings"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/blank"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/features/widening"
)

// column is a column of a table.
type column struct {
	field parquet.Field
	of    func(b *block) []uint64 // the rows of the store that its rows are
	// from is the column of the store; nil for the numbers of the rows themselves.
	from *graph.Column
	wide *widening.Column // a feature that the store holds in pieces; nil for others
	// marks are the bools that say which rows were empty cells; nil if there are none.
	marks *graph.Column
	bytes int64  // of a row, about
	note  string // what Parquet has in another form
}

func ownRows(b *block) []uint64    { return b.rows }
func sourceRows(b *block) []uint64 { return b.src }
func targetRows(b *block) []uint64 { return b.dst }

// names are names that a table has, in lower case: SQL tells no case of letters.
type names map[string]bool

func newNames(columns []*widening.Column) names {
	n := names{}
	for _, c := range columns {
		n[strings.ToLower(c.Name)] = true
	}
	return n
}

// free is a name, with "_" at its end as often as it takes to differ from all others.
func (n names) free(name string) string {
	for n[name] {
		name += "_"
	}
	n[name] = true
	return name
}

// key adds a column of numbers of nodes or edges, or of the ids of nodes.
func (t *Table) key(name string, ids *graph.Column, of func(b *block) []uint64) {
	c := column{field: parquet.Field{Name: name, Type: parquet.Int64}, of: of, from: ids, bytes: 8}
	if ids != nil {
		c.field.Type, c.bytes = parquetTypes[ids.DType], averageBytes(ids)
	}
	t.Keys, t.columns = append(t.Keys, name), append(t.columns, c)
}

var parquetTypes = map[graph.DType]parquet.Type{
	graph.Bool: parquet.Bool,
	graph.Int8: parquet.Int8, graph.Int16: parquet.Int16, graph.Int32: parquet.Int32, graph.Int64: parquet.Int64,
	graph.Uint8: parquet.Uint8, graph.Uint16: parquet.Uint16, graph.Uint32: parquet.Uint32, graph.Uint64: parquet.Uint64,
	graph.Float16: parquet.Float32, graph.BFloat16: parquet.Float32, // few programs read half floats
	graph.Float32: parquet.Float32, graph.Float64: parquet.Float64, graph.String: parquet.Bytes,
}

// averageBytes is about the size of a row.
func averageBytes(c *graph.Column) int64 { return 8 + c.Bytes()/int64(max(c.Rows, 1)) }

// storeColumn is a column of the store as one of its table. all are the columns of the type.
func storeColumn(c *widening.Column, all []*widening.Column) (column, error) {
	x := column{field: parquet.Field{Name: c.Name, Type: parquetTypes[c.DType], Lists: len(c.Shape)}, of: ownRows, from: c.Column}
	if x.bytes = averageBytes(c.Column); c.Wide() {
		x.wide, x.bytes = c, int64(c.RowBytes())
	}
	single := len(c.Shape) == 0
	switch {
	case c.Categories != nil:
		x.field.Type, x.field.Nullable = parquet.Bytes, single
		x.bytes += averageBytes(c.Categories)
		return x, c.Categories.CheckOffsets()
	case c.Unit != "" && single:
		x.field.Unit, x.field.Nullable = string(c.Unit), true
		if c.Unit != graph.Seconds {
			break
		}
		if x.field.Unit = string(graph.Milliseconds); beyondMilliseconds(graph.View[int64](c.Values)) {
			x.field.Unit, x.note = "", "seconds as integers, as Parquet has no seconds and milliseconds of some are above int64"
		}
	case c.Unit != "":
		x.note = fmt.Sprintf("lists of times as integers, in %s; %d stands for a missing one", c.Unit, graph.NoTime)
	case c.DType == graph.BFloat16 || c.DType == graph.Float16:
		x.note = c.DType.String() + " as float32"
	}
	if single && !c.Wide() && c.Unit == "" {
		for _, m := range all {
			if m.Name == c.Name+features.MarkSuffix && blank.Marks(m.Column) && !m.Wide() {
				x.marks, x.field.Nullable = m.Column, true
			}
		}
	}
	return x, nil
}

// beyondMilliseconds says whether a time is no int64 in milliseconds.
func beyondMilliseconds(seconds []int64) bool {
	for _, v := range seconds {
		if v != graph.NoTime && (v > math.MaxInt64/1000 || v < math.MinInt64/1000) {
			return true
		}
	}
	return false
}

// widened converts values to those of Parquet: integers of at least 32 bits, and floats of 32.
func (w *worker) widened(d graph.DType, values []byte) []byte {
	switch d {
	case graph.Int8:
		return converted(w, graph.View[int8](values), func(v int8) int32 { return int32(v) })
	case graph.Int16:
		return converted(w, graph.View[int16](values), func(v int16) int32 { return int32(v) })
	case graph.Uint8:
		return converted(w, values, func(v uint8) int32 { return int32(v) })
	case graph.Uint16:
		return converted(w, graph.View[uint16](values), func(v uint16) int32 { return int32(v) })
	case graph.Float16:
		return converted(w, graph.View[uint16](values), example.Float16)
	case graph.BFloat16:
		return converted(w, graph.View[uint16](values), example.BFloat16)
	}
	return values
}

func converted[T, U graph.Numbers](w *worker, values []T, convert func(T) U) []byte {
	w.values = grown(w.values, 4*len(values))
	to := graph.View[U](w.values)
	for i, v := range values {
		to[i] = convert(v)
	}
	return w.values
}
