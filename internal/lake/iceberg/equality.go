package iceberg

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/isotime"
	"github.com/graphmill/graphmill/internal/lake"
)

// everywhere is the scope of deletions by key in a table without partitions.
const everywhere = ""

// keyDeletions are the deletions by key of a snapshot.
type keyDeletions struct {
	r    *reader
	rows []*entry
	sets []*keySet
}

// keySet is the files of keys of the same columns and the same scope.
type keySet struct {
	columns []keyColumn
	scope   string
	files   []*entry
}

// keyDeletions sorts files of keys into sets; nil: there are none.
func (r *reader) keyDeletions(rows, deletions []*entry) (*keyDeletions, error) {
	sets := map[string]*keySet{}
	for _, d := range deletions {
		r.log = append(r.log, d.path)
		if len(d.File.Keys) == 0 {
			return nil, lake.Badf("found the file of keys %s without equality_ids, expected them; the manifest is damaged", d.File.Path)
		}
		ids := slices.Sorted(slices.Values(d.File.Keys))
		scope := d.key()
		if d.spec.global() {
			scope = everywhere
		}
		name := fmt.Sprint(ids, scope)
		if sets[name] == nil {
			columns, err := r.keyColumns(ids)
			if err != nil {
				return nil, err
			}
			sets[name] = &keySet{columns: columns, scope: scope}
		}
		sets[name].files = append(sets[name].files, d)
	}
	if len(sets) == 0 {
		return nil, nil
	}
	k := &keyDeletions{r: r, rows: rows}
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		k.sets = append(k.sets, sets[name])
	}
	return k, nil
}

// resolve finds the rows that the keys delete, for each file with rows; nil: none.
func (k *keyDeletions) resolve(ctx context.Context, threads int) ([]*roaring64.Bitmap, error) {
	out := make([]*roaring64.Bitmap, len(k.rows))
	for _, s := range k.sets {
		if err := k.resolveSet(ctx, threads, s, out); err != nil {
			if errors.Is(err, lake.ErrFormat) && !strings.HasPrefix(err.Error(), k.r.metadata.dir) {
				err = fmt.Errorf("%s: %w", k.r.metadata.path, err)
			}
			return nil, err
		}
	}
	return out, nil
}

// groupsAtOnce is the least number of row groups of a file that one thread takes, and maxSpans the most parts that a file is read in: each part reads
// the footer again, which describes all groups.
const (
	groupsAtOnce = 4
	maxSpans     = 64
)

// spansOf divides the row groups of a file among threads.
func spansOf(groups int) (spans []groupSpan) {
	step := max(groupsAtOnce, (groups+maxSpans-1)/maxSpans)
	for first := 0; first < groups; first += step {
		spans = append(spans, groupSpan{first, first + step})
	}
	return spans
}

// resolveSet adds the rows that the keys of a set delete.
func (k *keyDeletions) resolveSet(ctx context.Context, threads int, s *keySet, out []*roaring64.Bitmap) error {
	sequences, err := k.sequences(ctx, threads, s)
	if err != nil {
		return err
	}
	last := int64(math.MinInt64)
	for _, d := range s.files {
		last = max(last, d.sequence)
	}
	var files []int
	for i, e := range k.rows {
		if e.sequence < last && (s.scope == everywhere || e.key() == s.scope) {
			files = append(files, i)
		}
	}
	groups := make([]int, len(files))
	err = eachUnit(ctx, len(files), threads, func(_ context.Context, n int) (err error) {
		groups[n], err = groupsOf(k.r.fsys, k.rows[files[n]].path)
		return err
	})
	if err != nil {
		return err
	}
	type unit struct {
		file int
		span groupSpan
	}
	var units []unit
	for n, i := range files {
		for _, span := range spansOf(groups[n]) {
			units = append(units, unit{i, span})
		}
	}
	var mu sync.Mutex
	return eachUnit(ctx, len(units), threads, func(ctx context.Context, n int) error {
		u := units[n]
		e := k.rows[u.file]
		found := roaring64.New()
		err := eachKey(ctx, k.r, e, u.span, s.columns, true, func(row uint64, key []byte) {
			if s, ok := sequences[string(key)]; ok && e.sequence < s {
				found.Add(row)
			}
		})
		if err != nil || found.IsEmpty() {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		if out[u.file] == nil {
			out[u.file] = found
		} else {
			out[u.file].Or(found)
		}
		return nil
	})
}

// sequences are the keys of a set, with the highest number of a deletion.
func (k *keyDeletions) sequences(ctx context.Context, threads int, s *keySet) (map[string]int64, error) {
	all := map[string]int64{}
	var mu sync.Mutex
	err := eachUnit(ctx, len(s.files), threads, func(ctx context.Context, n int) error {
		d := s.files[n]
		return eachKeys(ctx, k.r, d, s.columns, func(keys [][]byte) {
			mu.Lock()
			defer mu.Unlock()
			for _, key := range keys {
				if at, ok := all[string(key)]; !ok || at < d.sequence {
					all[string(key)] = d.sequence
				}
			}
		})
	})
	return all, err
}

// keysAtOnce is the keys of a file that are put into a set at a time.
const keysAtOnce = 1024

// eachKeys calls fn for the keys of a file of keys, several at a time. They are valid until fn returns.
func eachKeys(ctx context.Context, r *reader, d *entry, columns []keyColumn, fn func(keys [][]byte)) error {
	var buffer []byte
	var ends []int
	var keys [][]byte
	flush := func() {
		keys = keys[:0]
		start := 0
		for _, end := range ends {
			keys = append(keys, buffer[start:end])
			start = end
		}
		fn(keys)
		buffer, ends = buffer[:0], ends[:0]
	}
	err := eachKey(ctx, r, d, allGroups, columns, false, func(_ uint64, key []byte) {
		buffer = append(buffer, key...)
		if ends = append(ends, len(buffer)); len(ends) == keysAtOnce {
			flush()
		}
	})
	if err == nil {
		flush()
	}
	return err
}

// eachUnit calls fn for the units 0..n-1 from several goroutines. An error stops the other units. Of several it returns the error of the first unit that has
// one.
func eachUnit(ctx context.Context, n, threads int, fn func(ctx context.Context, unit int) error) error {
	errs := make([]error, n)
	g, inner := guard.WithContext(ctx)
	g.SetLimit(max(threads, 1))
	for i := range n {
		g.Go(func() error {
			if inner.Err() != nil {
				return context.Cause(inner)
			}
			errs[i] = fn(inner, i)
			return errs[i]
		})
	}
	err := g.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, e := range errs {
		if e != nil && !errors.Is(e, context.Canceled) {
			return e
		}
	}
	return err
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

// eachKey calls fn for the key of each row of row groups of a file. The key is valid until fn returns. A file with rows may lack a column.
func eachKey(ctx context.Context, r *reader, e *entry, span groupSpan, columns []keyColumn, mayLack bool, fn func(row uint64, key []byte)) error {
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
	return eachBatch(r.fsys, e.path, span, choose, func(first uint64, n int, values []parquet.Rows) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
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
