package predictions

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/vfs"
)

// embeddings are the rows of a .npy file as float64.
type embeddings struct {
	*array
	d   int
	raw []byte
}

// openEmbeddings opens a file with a row per node.
func openEmbeddings(fsys vfs.FS, file string, n *graph.Nodes) (_ *embeddings, err error) {
	x, shape, err := openFile(fsys, Array{File: file})
	if err != nil {
		return nil, err
	}
	if len(shape) != 2 || shape[0] != n.Count {
		return nil, errors.Join(fmt.Errorf("%s: found shape %v, expected [%d, d], a row per node of %s; save such an array", file, shape, n.Count, n.Type), x.f.Close())
	}
	x.rows, x.width = shape[0], shape[1]
	return &embeddings{array: x, d: shape[1]}, nil
}

// single says whether the numbers are floats of at most 32 bits.
func (e *embeddings) single() bool { return e.dtype.IsFloat() && e.dtype != graph.Float64 }

// read sets the numbers of the rows from a row on.
func (e *embeddings) read(to []float64, from int) error {
	if len(to) == 0 {
		return nil
	}
	e.raw = grown(e.raw, len(to)*e.dtype.Size())
	if _, err := e.f.ReadAt(e.raw, e.start+int64(from)*int64(e.d*e.dtype.Size())); err != nil {
		return fmt.Errorf("%s: found its end at row %d, expected %d rows, as its header says; write it again: %w", e.File, from, e.rows, err)
	}
	floats(to, e.raw, e.dtype)
	for i, x := range to {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s: row %d: found %v, expected finite numbers; correct the embeddings", e.File, from+i/e.d, x)
		}
	}
	return nil
}

// floats converts numbers of a dtype.
func floats(to []float64, b []byte, d graph.DType) {
	switch d {
	case graph.Float64:
		copy(to, graph.View[float64](b))
	case graph.Float32:
		for i, v := range graph.View[float32](b) {
			to[i] = float64(v)
		}
	case graph.Float16:
		for i := range to {
			to[i] = float64(example.Float16(binary.LittleEndian.Uint16(b[2*i:])))
		}
	case graph.Bool:
		for i := range to {
			to[i] = float64(b[i])
		}
	default:
		for i := range to {
			v, negative := integer(d, b, i)
			if to[i] = float64(v); negative {
				to[i] = float64(int64(v))
			}
		}
	}
}

// span is the range of the lengths of all rows.
type span struct {
	longest float64
	least   float64 // the least number that is the largest of its row, but for 0
}

// measure reads all rows once, and refuses numbers that are not finite.
func (e *embeddings) measure(block []float64, check func() error) (span, error) {
	s := span{least: math.Inf(1)}
	step := max(len(block)/max(e.d, 1), 1)
	for at := 0; at < e.rows && e.d > 0; at += step {
		if err := check(); err != nil {
			return s, err
		}
		part := block[:min(step, e.rows-at)*e.d]
		if err := e.read(part, at); err != nil {
			return s, err
		}
		for ; len(part) > 0; part = part[e.d:] {
			row := part[:e.d]
			s.longest = max(s.longest, length(row))
			var largest float64
			for _, x := range row {
				largest = max(largest, math.Abs(x))
			}
			if largest > 0 {
				s.least = min(s.least, largest)
			}
		}
	}
	return s, nil
}
