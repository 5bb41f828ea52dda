package iceberg

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/isotime"
	"github.com/graphmill/graphmill/internal/lake"
)

// everywhere is the scope of deletions by key in a table without partitions.
const everywhere = ""

// deleteKeys adds the rows that files of keys delete.
func (r *reader) deleteKeys(rows, deletions []*entry, out []*roaring64.Bitmap) error {
	// Files of the same columns and the same scope are one set of keys.
	type group struct {
		ids   []int
		scope string
		files []*entry
	}
	groups := map[string]*group{}
	for _, d := range deletions {
		if len(d.File.Keys) == 0 {
			return lake.Badf("found the file of keys %s without equality_ids, expected them; the manifest is damaged", d.File.Path)
		}
		ids := slices.Sorted(slices.Values(d.File.Keys))
		scope := d.key()
		if d.spec.global() {
			scope = everywhere
		}
		name := fmt.Sprint(ids, scope)
		if groups[name] == nil {
			groups[name] = &group{ids: ids, scope: scope}
		}
		groups[name].files = append(groups[name].files, d)
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		g := groups[name]
		if err := r.deleteSet(rows, g.ids, g.scope, g.files, out); err != nil {
			return err
		}
	}
	return nil
}

// deleteSet adds the rows that files of the same columns and scope delete.
func (r *reader) deleteSet(rows []*entry, ids []int, scope string, files []*entry, out []*roaring64.Bitmap) error {
	columns, err := r.keyColumns(ids)
	if err != nil {
		return err
	}
	last := int64(math.MinInt64)
	sequences := map[string]int64{} // the highest number of a deletion, by key
	for _, d := range files {
		r.log = append(r.log, d.path)
		last = max(last, d.sequence)
		err := eachKey(r, d, columns, false, func(_ uint64, key []byte) {
			if s, ok := sequences[string(key)]; !ok || s < d.sequence {
				sequences[string(key)] = d.sequence
			}
		})
		if err != nil {
			return err
		}
	}
	for i, e := range rows {
		if e.sequence >= last || scope != everywhere && e.key() != scope {
			continue
		}
		err := eachKey(r, e, columns, true, func(row uint64, key []byte) {
			s, ok := sequences[string(key)]
			if !ok || e.sequence >= s {
				return
			}
			if out[i] == nil {
				out[i] = roaring64.New()
			}
			out[i].Add(row)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keyColumn is a column of keys.
type keyColumn struct{ lake.Column }

// keyColumns finds columns in the newest schema that has them: a column that was dropped still deletes.
func (r *reader) keyColumns(ids []int) ([]keyColumn, error) {
	names, err := r.metadata.nameMapping()
	if err != nil {
		return nil, err
	}
	var columns []keyColumn
	for _, id := range ids {
		f := r.metadata.field(id)
		if f == nil {
			return nil, lake.Badf("found deletions by the field %d within a column, expected whole columns; rewrite the table (in Spark: CALL system.rewrite_data_files with delete-file-threshold 1)", id)
		}
		c, err := f.column()
		if err != nil {
			return nil, err
		}
		c.Aliases = names[id]
		digits, _, decimal, err := decimalType(f.typeName())
		switch {
		case err != nil:
			return nil, err
		case c.Reason != "" || c.Lists > 0:
			return nil, lake.Badf("found deletions by the column %q, which is %s, expected one of numbers, times or strings; rewrite the table (in Spark: CALL system.rewrite_data_files with delete-file-threshold 1)", f.Name, describe(&c))
		case decimal && digits > exactDigits:
			return nil, lake.Badf("found deletions by the column %q of decimals of %d digits, expected at most %d; rewrite the table (in Spark: CALL system.rewrite_data_files with delete-file-threshold 1)", f.Name, digits, exactDigits)
		}
		columns = append(columns, keyColumn{c})
	}
	return columns, nil
}

// exactDigits is the most digits of decimals that are all different as float64.
const exactDigits = 15

func describe(c *lake.Column) string {
	if c.Reason != "" {
		return c.Reason
	}
	return "a list"
}

// field returns a column by its id, of the newest schema that has it.
func (m *metadata) field(id int) *schemaField {
	var found *schemaField
	newest := -1
	for i := range m.Schemas {
		s := &m.Schemas[i]
		rank := s.ID
		if s.ID == m.CurrentSchema {
			rank = math.MaxInt
		}
		for j := range s.Fields {
			if s.Fields[j].ID == id && rank > newest {
				found, newest = &s.Fields[j], rank
			}
		}
	}
	return found
}

// eachKey calls fn for the key of each row of a file. The key is valid until fn returns. A file with rows may lack a column.
func eachKey(r *reader, e *entry, columns []keyColumn, mayLack bool, fn func(row uint64, key []byte)) error {
	var kinds []parquet.Column
	at := make([]int, len(columns)) // the number among the columns that are read; -1: the file lacks it
	common := make([][]byte, len(columns))
	choose := func(p *parquet.File) (numbers []int, err error) {
		for i := range columns {
			c := &columns[i]
			n := columnOf(p, c.ID, c.Aliases...)
			if n < 0 && !mayLack {
				return nil, lake.Badf("found no column %q (field %d), expected the keys of deleted rows; copy the file again", c.Name, c.ID)
			}
			if n < 0 {
				if at[i] = -1; len(p.Columns) > 0 && !hasIDs(p) && c.Aliases == nil {
					return nil, lake.Badf("found columns without field ids, expected them; give the table the property schema.name-mapping.default")
				}
				if common[i], err = e.commonKey(c); err != nil {
					return nil, err
				}
				continue
			}
			if x := &p.Columns[n]; x.Reason != "" || x.Lists > 0 {
				return nil, lake.Badf("column %q: found a list or what cannot be read, expected single values; the file is damaged", x.Name)
			}
			if !c.fits(&p.Columns[n]) {
				return nil, lake.Badf("column %q: found values of another type than the table has, expected those of the table; the file is damaged", p.Columns[n].Name)
			}
			at[i] = len(numbers)
			numbers, kinds = append(numbers, n), append(kinds, p.Columns[n])
		}
		return numbers, nil
	}
	var key []byte
	return eachBatch(r.fsys, e.path, choose, func(first uint64, n int, values []parquet.Rows) error {
		for row := range n {
			key = key[:0]
			for i := range columns {
				var err error
				if a := at[i]; a < 0 {
					key = append(key, common[i]...)
				} else if key, err = appendKey(key, &columns[i], &kinds[a], &values[a], row); err != nil {
					return lake.Badf("row %d: column %q: %w", first+uint64(row), columns[i].Name, err)
				}
			}
			fn(first+uint64(row), key)
		}
		return nil
	})
}

func hasIDs(p *parquet.File) bool {
	return slices.ContainsFunc(p.Columns, func(c parquet.Column) bool { return c.ID != 0 })
}

// fits says whether values of a column of a file can be values of the column.
func (c *keyColumn) fits(kind *parquet.Column) bool {
	switch kind.Type {
	case parquet.Bytes:
		return c.DType == graph.String
	case parquet.Bool:
		return c.DType == graph.Bool
	case parquet.Int8, parquet.Int16, parquet.Int32, parquet.Int64:
		return c.DType.IsInt()
	case parquet.Float32, parquet.Float64:
		return c.DType.IsFloat()
	}
	return kind.Null
}

// The first byte of a value of a key.
const (
	keyNull   = 0
	keyNumber = 1 // and 8 bytes
	keyBytes  = 2 // and the length, and bytes
)

// appendKey appends the value of a row in the form of the column of the table, so that equal values are equal bytes whatever their type in
// the file is.
func appendKey(key []byte, c *keyColumn, kind *parquet.Column, values *parquet.Rows, row int) ([]byte, error) {
	if isNull(values, row) || kind.Null {
		return append(key, keyNull), nil
	}
	le := binary.LittleEndian
	d := values.Data
	switch kind.Type {
	case parquet.Bytes:
		return appendBytes(key, bytesAt(values, row)), nil
	case parquet.Bool:
		return appendNumber(key, uint64(d[row])), nil
	case parquet.Int8, parquet.Int16, parquet.Int32:
		return c.appendInt(key, int64(int32(le.Uint32(d[4*row:]))), kind.Unit)
	case parquet.Int64:
		return c.appendInt(key, int64At(values, row), kind.Unit)
	case parquet.Float32:
		return appendFloat(key, float64(math.Float32frombits(le.Uint32(d[4*row:])))), nil
	case parquet.Float64:
		return appendFloat(key, math.Float64frombits(le.Uint64(d[8*row:]))), nil
	}
	return nil, fmt.Errorf("found values of another type than the table has, expected those of the table")
}

func appendNumber(key []byte, v uint64) []byte {
	return binary.LittleEndian.AppendUint64(append(key, keyNumber), v)
}

func appendBytes(key, v []byte) []byte {
	return append(binary.AppendUvarint(append(key, keyBytes), uint64(len(v))), v...)
}

// appendFloat appends a number, of which all that are none are equal, as in Java.
func appendFloat(key []byte, v float64) []byte {
	if v != v {
		v = math.NaN()
	}
	return appendNumber(key, math.Float64bits(v))
}

var perSecond = map[string]int64{"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}

// appendInt appends an integer, or a time in a unit.
func (c *keyColumn) appendInt(key []byte, v int64, unit string) ([]byte, error) {
	if from, to := perSecond[unit], c.Unit.PerSecond(); c.Unit != "" && from != 0 && from != to {
		switch {
		case from < to:
			factor := to / from
			if v > math.MaxInt64/factor || v < math.MinInt64/factor {
				return nil, fmt.Errorf("found the time %d %s, expected one that 64 bits hold in %s", v, unit, c.Unit)
			}
			v *= factor
		case v%(from/to) != 0:
			return nil, fmt.Errorf("found the time %d %s, expected a whole number of %s, as the table has", v, unit, c.Unit)
		default:
			v /= from / to
		}
	}
	return appendNumber(key, uint64(v)), nil
}

// commonKey is the value of a column that all rows of a file have that lacks the column.
func (e *entry) commonKey(c *keyColumn) ([]byte, error) {
	text := c.Default
	for i, f := range e.spec.Fields {
		if f.Transform == "identity" && f.Source == c.ID {
			text = e.partition[i]
		}
	}
	if text == nil {
		return []byte{keyNull}, nil
	}
	bad := lake.Badf("found the value %q of column %q for all rows, expected one of its type; the metadata is damaged", *text, c.Name)
	switch {
	case c.Unit != "":
		t, ok := isotime.Parse([]byte(*text))
		v, exact, fits := t.In(c.Unit.PerSecond())
		if !ok || !exact || !fits {
			return nil, bad
		}
		return appendNumber(nil, uint64(v)), nil
	case c.DType.IsInt():
		v, err := strconv.ParseInt(*text, 10, 64)
		if err != nil {
			return nil, bad
		}
		return appendNumber(nil, uint64(v)), nil
	case c.DType.IsFloat():
		v, err := strconv.ParseFloat(*text, 64)
		if err != nil {
			return nil, bad
		}
		return appendFloat(nil, v), nil
	}
	switch {
	case c.DType != graph.Bool:
		return appendBytes(nil, []byte(*text)), nil
	case *text == "true":
		return appendNumber(nil, 1), nil
	case *text == "false":
		return appendNumber(nil, 0), nil
	}
	return nil, bad
}
