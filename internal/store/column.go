package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
)

// arrayNames are the files in the folder of a type or of the context that are no columns.
var arrayNames = []string{
	"indptr", "far", "other_indptr", "other_far", "other_edge_id", "ids", "id_buckets", "id_slots",
	"graph_ptr", "component_ptr", "node_id", "edge_id", "src", "dst", "num_sampled_nodes", "num_sampled_edges",
	"seed_ptr", "seed_local", "negative_local", "example_form",
	"nodes", "starts", "dropped_nodes", "dropped_starts", "dropped",
}

// ColumnDir is the folder of the files of a column: the folder of its type, or one below it where another file would have the
// same name.
func ColumnDir(dir, name string) string {
	stem, _, offsets := strings.Cut(name, ".")
	if slices.Contains(arrayNames, name) || offsets && (stem == "ids" || strings.HasSuffix(name, ".row_offsets") || strings.HasSuffix(name, ".string_offsets") || strings.HasSuffix(name, ".categories")) {
		return dir + "/columns"
	}
	return dir
}

// Meaning is what a column says beside its dtype and values: "the unit of" times, "the texts of" categories, "" for others.
// Formats that hold only numbers lose it, and announce that they do.
func Meaning(c *graph.Column) string {
	switch {
	case c.Categories != nil:
		return "the texts of"
	case c.Unit != "":
		return "the unit of"
	}
	return ""
}

// ColumnWriter appends the rows of a column. It holds a few buffers of 64 KiB.
type ColumnWriter struct {
	meta    ColumnMeta
	values  *Array
	offsets []*Array // one per variable dimension
	ends    []uint64 // the last offset of each
	strings *Array   // offsets
	nbytes  uint64
	scratch []byte
}

// Column begins a column with its files in dir ("nodes/paper"). Dimensions of the shape are positive, or -1 where they
// are variable.
func (w *Writer) Column(dir, name string, dtype graph.DType, shape []int) (*ColumnWriter, error) {
	return w.newColumn(dir, name, dtype, shape, nil)
}

// newColumn begins a column, of a known extent where rows is not nil.
func (w *Writer) newColumn(dir, name string, dtype graph.DType, shape []int, rows *Extent) (*ColumnWriter, error) {
	array := func(file string, dtype graph.DType, values func() uint64, row ...int) (*Array, error) {
		if rows == nil {
			return w.Array(file, dtype, row...)
		}
		return w.Sized(file, values(), dtype, row...)
	}
	base := dir + "/" + FileName(name)
	c := &ColumnWriter{meta: ColumnMeta{File: base + ".npy", DType: dtype.String(), Shape: append([]int{}, shape...)}}
	row := c.meta.Shape // the dimensions after the last variable one
	for i, d := range shape {
		switch {
		case d == -1:
			file := base + ".row_offsets.npy"
			if n := len(c.offsets); n > 0 {
				file = fmt.Sprintf("%s.%d.row_offsets.npy", base, n+1)
			}
			k := len(c.offsets)
			a, err := firstOffset(array(file, graph.Uint64, func() uint64 { return 1 + rows.length(k) }))
			if err != nil {
				return nil, errors.Join(err, c.close())
			}
			c.meta.RowOffsets, c.offsets, c.ends = append(c.meta.RowOffsets, file), append(c.offsets, a), append(c.ends, 0)
			row = c.meta.Shape[i+1:]
		case d <= 0:
			return nil, errors.Join(fmt.Errorf("column %q: found shape %v, expected positive dimensions, or -1 for variable ones", name, shape), c.close())
		}
	}
	var err error
	if dtype == graph.String {
		c.meta.StringOffsets = base + ".string_offsets.npy"
		if c.strings, err = firstOffset(array(c.meta.StringOffsets, graph.Uint64, func() uint64 { return 1 + rows.Strings })); err != nil {
			return nil, errors.Join(err, c.close())
		}
		dtype, row = graph.Uint8, nil
	}
	width := uint64(dtype.Size())
	for _, d := range row {
		width *= uint64(d)
	}
	if c.values, err = array(c.meta.File, dtype, func() uint64 { return rows.Bytes / max(width, 1) }, row...); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// firstOffset writes the first offset, 0, to an array that has begun.
func firstOffset(a *Array, err error) (*Array, error) {
	if err != nil {
		return nil, err
	}
	if _, err := a.Write(make([]byte, 8)); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// Categories writes the texts of a column of categories, whose files are in dir, and returns their entry in graph.json.
func (w *Writer) Categories(dir, name string, texts []string) (*ColumnMeta, error) {
	c, err := w.Column(dir, name+".categories", graph.String, nil)
	if err != nil {
		return nil, err
	}
	var data []byte
	var ends []uint32
	for i, s := range texts {
		data = append(data, s...)
		if ends = append(ends, uint32(len(data))); len(data) < 1<<16 && i < len(texts)-1 {
			continue
		}
		if err := c.Append(data, ends); err != nil {
			return nil, errors.Join(err, c.close())
		}
		data, ends = data[:0], ends[:0]
	}
	meta, err := c.Close()
	return &meta, err
}

// Mean completes the entry of a column, whose files are in dir, with the unit and the categories of another column.
func (w *Writer) Mean(dir string, m *ColumnMeta, c *graph.Column) error {
	m.Unit = string(c.Unit)
	if c.Categories == nil {
		return nil
	}
	texts := make([]string, c.Categories.Rows)
	for i := range texts {
		texts[i] = string(c.Categories.Text(i))
	}
	var err error
	m.Categories, err = w.Categories(dir, c.Name, texts)
	return err
}

// Append adds rows. For numbers, data holds the values and ends is nil. For strings, ends are the ends of the values in
// data. lengths has a list for each variable dimension, the outermost first: the number of elements in each row of the
// column or, for inner dimensions, in each element of the dimension before. No rows are added where all lists are
// empty.
func (c *ColumnWriter) Append(data []byte, ends []uint32, lengths ...[]uint32) error {
	if len(lengths) == 0 && len(data) == 0 && len(ends) == 0 {
		return nil
	}
	if len(lengths) != len(c.offsets) {
		return fmt.Errorf("column %s: found lengths of %d dimensions, expected %d", c.meta.File, len(lengths), len(c.offsets))
	}
	for k, a := range c.offsets {
		b := c.scratch[:0]
		for _, n := range lengths[k] {
			c.ends[k] += uint64(n)
			b = binary.LittleEndian.AppendUint64(b, c.ends[k])
		}
		c.scratch = b
		if _, err := a.Write(b); err != nil {
			return err
		}
	}
	if c.strings != nil {
		b := c.scratch[:0]
		for _, e := range ends {
			b = binary.LittleEndian.AppendUint64(b, c.nbytes+uint64(e))
		}
		c.scratch = b
		c.nbytes += uint64(len(data))
		if _, err := c.strings.Write(b); err != nil {
			return err
		}
	}
	_, err := c.values.Write(data)
	return err
}

// Close ends the column and returns its entry in graph.json.
func (c *ColumnWriter) Close() (ColumnMeta, error) { return c.meta, c.close() }

func (c *ColumnWriter) close() error {
	var err error
	for _, a := range append([]*Array{c.values, c.strings}, c.offsets...) {
		if a != nil {
			err = errors.Join(err, a.Close())
		}
	}
	return err
}
