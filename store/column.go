package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/graph"
)

// ColumnWriter appends the rows of a column. It holds a few 64 KiB buffers.
type ColumnWriter struct {
	meta    ColumnMeta
	values  *Array
	rows    *Array // row offsets
	strings *Array // string offsets
	nvalues uint64 // values so far, in units of the shape behind a variable dimension
	nbytes  uint64
	scratch []byte
}

// Column begins a column whose files lie in dir ("nodes/paper"). The shape may
// start with -1; a variable dimension elsewhere is refused.
func (w *Writer) Column(dir, name string, dtype graph.DType, shape []int) (*ColumnWriter, error) {
	base := dir + "/" + FileName(name)
	c := &ColumnWriter{meta: ColumnMeta{File: base + ".npy", DType: dtype.String(), Shape: append([]int{}, shape...)}}
	row := c.meta.Shape
	ragged := len(row) > 0 && row[0] == -1
	if ragged {
		row = row[1:]
	}
	if i := slices.IndexFunc(row, func(d int) bool { return d <= 0 }); i >= 0 {
		return nil, fmt.Errorf("column %q: found shape %v, expected positive dimensions (-1 only first)", name, shape)
	}
	var err error
	if ragged {
		c.meta.RowOffsets = base + ".row_offsets.npy"
		if c.rows, err = w.offsets(c.meta.RowOffsets); err != nil {
			return nil, err
		}
	}
	if dtype == graph.String {
		c.meta.StringOffsets = base + ".string_offsets.npy"
		if c.strings, err = w.offsets(c.meta.StringOffsets); err != nil {
			return nil, errors.Join(err, c.close())
		}
		dtype, row = graph.Uint8, nil
	}
	if c.values, err = w.Array(c.meta.File, dtype, row...); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// offsets begins an array of offsets with its first, 0.
func (w *Writer) offsets(name string) (*Array, error) {
	a, err := w.Array(name, graph.Uint64)
	if err != nil {
		return nil, err
	}
	if _, err := a.Write(make([]byte, 8)); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// Append adds rows. For numbers data holds the values and ends is nil; for
// strings ends are the ends of the values in data. lengths is the number of
// elements of each row of a variable column, nil otherwise.
func (c *ColumnWriter) Append(data []byte, ends, lengths []uint32) error {
	if c.rows != nil {
		b := c.scratch[:0]
		for _, n := range lengths {
			c.nvalues += uint64(n)
			b = binary.LittleEndian.AppendUint64(b, c.nvalues)
		}
		c.scratch = b
		if _, err := c.rows.Write(b); err != nil {
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

// Close ends the column and returns what graph.json says of it.
func (c *ColumnWriter) Close() (ColumnMeta, error) { return c.meta, c.close() }

func (c *ColumnWriter) close() error {
	var err error
	for _, a := range []*Array{c.values, c.rows, c.strings} {
		if a != nil {
			err = errors.Join(err, a.Close())
		}
	}
	return err
}
