package table

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
)

// stack is a table that joins several columns of a table into one.
type stack struct {
	Table
	field  Field
	fields []string
}

// Stack makes a table of one column of numbers: a row has the values of the fields, in order. The column can
// be asked for in the shape of the field, or in another shape with as many values.
func Stack(t Table, field Field, fields []string) Table { return &stack{t, field, fields} }

// Fields implements Table.
func (t *stack) Fields() []Field { return []Field{t.field} }

// Where implements Table. It names the row.
func (t *stack) Where(row uint64, _ string) string { return t.Table.Where(row, "") }

// Scan implements Table. Its memory is what the underlying table takes, and the values of a chunk once more for each
// worker.
func (t *stack) Scan(ctx context.Context, columns []Column, threads int, fn func(worker int, c *Chunk) error) (uint64, error) {
	return scanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *stack) plain(ctx context.Context, columns []Column, threads int, fn func(worker int, c *Chunk) error) (uint64, error) {
	var asked []Column
	for _, c := range columns {
		values := 1
		for _, d := range c.Shape {
			values *= max(d, 0)
		}
		if c.Name != t.field.Name || values != len(t.fields) || c.DType == graph.String {
			return 0, badf("%s: found a request for %[4]q of shape %[5]v, expected the column %[2]s of %[3]d values", t.Files()[0], t.field.Name, len(t.fields), c.Name, c.Shape)
		}
		for _, name := range t.fields {
			asked = append(asked, Column{Name: name, DType: c.DType, Empty: c.Empty, Fill: oneOf(c.Fill), Given: c.Given, mark: c.mark, Underflows: c.Underflows})
		}
	}
	threads = max(threads, 1)
	type worker struct {
		chunk Chunk
		data  []words
		empty [][]uint32
	}
	workers := make([]worker, threads)
	for i := range workers {
		workers[i].chunk.Columns, workers[i].data, workers[i].empty = make([]Vector, len(columns)), make([]words, len(columns)), make([][]uint32, len(columns))
	}
	return t.Table.Scan(ctx, asked, threads, func(id int, c *Chunk) error {
		w := &workers[id]
		w.chunk.First, w.chunk.Rows, w.chunk.Bytes, w.chunk.Absent = c.First, c.Rows, c.Bytes, c.Absent
		for i := range columns {
			from := c.Columns[i*len(t.fields):][:len(t.fields)]
			if len(from) == 1 {
				w.chunk.Columns[i] = from[0]
				continue
			}
			w.empty[i] = anyEmpty(w.empty[i][:0], from)
			w.data[i].n = 0
			interleave(w.data[i].add(c.Rows*len(from)*columns[i].DType.Size()), from, columns[i].DType.Size())
			w.chunk.Columns[i] = Vector{Data: w.data[i].bytes()[:w.data[i].n:w.data[i].n], empty: w.empty[i]}
		}
		return fn(id, &w.chunk)
	})
}

// oneOf is the value that a text repeats, or the text.
func oneOf(fill string) string {
	if words := strings.Fields(fill); len(words) > 1 && !slices.ContainsFunc(words, func(s string) bool { return s != words[0] }) {
		return words[0]
	}
	return fill
}

// anyEmpty appends the rows that are empty in any of the vectors.
func anyEmpty(out []uint32, from []Vector) []uint32 {
	for _, v := range from {
		out = append(out, v.empty...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// interleave joins values of the given number of bytes, one from each vector in turn. All start at 8-byte boundaries.
func interleave(out []byte, from []Vector, size int) {
	switch size {
	case 4:
		weave[uint32](out, from)
		return
	case 8:
		weave[uint64](out, from)
		return
	}
	stride := size * len(from)
	for k, v := range from {
		for i, at := 0, k*size; at < len(out); i, at = i+size, at+stride {
			copy(out[at:at+size], v.Data[i:])
		}
	}
}

func weave[T graph.Numbers](out []byte, from []Vector) {
	to, n := graph.View[T](out), len(from)
	for k, v := range from {
		at := k
		for _, x := range graph.View[T](v.Data)[:len(to)/n] {
			to[at] = x
			at += n
		}
	}
}

// Width returns the number of values in the lists of a column, whose shape is [-1], if it is the same in all rows of the
// first chunk. Otherwise, and for lists without values, it returns 0.
func Width(ctx context.Context, t Table, f Field) (width int, err error) {
	_, err = t.Scan(ctx, []Column{{Name: f.Name, DType: f.DType, Shape: f.Shape}}, 1, func(_ int, c *Chunk) error {
		lengths := c.Columns[0].Lengths[0]
		if !slices.ContainsFunc(lengths, func(n uint32) bool { return n != lengths[0] }) {
			width = int(lengths[0])
		}
		return errFound
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return width, err
}

// Shaped returns the number of values of the lists in the first row of a column, per dimension. It is the shape of
// each row if all rows are alike. For a table without rows it returns nil.
func Shaped(ctx context.Context, t Table, f Field) (shape []int, err error) {
	_, err = t.Scan(ctx, []Column{{Name: f.Name, DType: f.DType, Shape: slices.Repeat([]int{-1}, len(f.Shape))}}, 1, func(_ int, c *Chunk) error {
		for _, lengths := range c.Columns[0].Lengths {
			if len(lengths) == 0 || lengths[0] == 0 {
				shape = append(shape, 0)
				break
			}
			shape = append(shape, int(lengths[0]))
		}
		return errFound
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return shape, err
}
