package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/vfs"
)

// array is an .npy file of one dimension in the work folder.
type array struct {
	File  string `json:"file"`
	Descr string `json:"descr"` // NumPy's type
	Len   int    `json:"len"`
}

// columnFile is a graph.Column in the work folder.
type columnFile struct {
	Name    string  `json:"name"`
	DType   string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Rows    int     `json:"rows"`
	Values  array   `json:"values"`
	Offsets []array `json:"offsets,omitempty"`
	Strings array   `json:"strings,omitzero"`
}

func unmarshalSchema(b []byte, to *tfgnnpb.GraphSchema) error { return proto.Unmarshal(b, to) }

var widths = map[string]int{"u1": 1, "u4": 4, "u8": 8, "i8": 8, "f8": 8}

// writeArray writes little-endian values as an array.
func writeArray(fsys vfs.FS, dir, file, descr string, values []byte) (a array, err error) {
	a = array{File: file, Descr: descr, Len: len(values) / widths[descr]}
	head, err := npy.AppendHeader(nil, descr, []int{a.Len})
	if err != nil {
		return a, err
	}
	return a, vfs.WriteWhole(fsys, filepath.Join(dir, file), func(f vfs.File) error {
		if _, err := f.Write(head); err != nil {
			return err
		}
		_, err := f.Write(values)
		return err
	})
}

// array maps an array of the work folder.
func (s *Site) array(a array, descr string) ([]byte, error) {
	if a.File != filepath.Base(a.File) {
		return nil, fmt.Errorf("found array %q, expected a file in the work folder", a.File)
	}
	f, err := s.fs.Open(filepath.Join(s.Dir, a.File))
	if err != nil {
		return nil, err
	}
	b, unmap, err := f.Map()
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	s.unmaps = append(s.unmaps, unmap)
	h, err := npy.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if h.Descr != descr || len(h.Shape) != 1 || h.Shape[0] != a.Len || h.Offset%8 != 0 {
		return nil, fmt.Errorf("%s: found %s %v, expected %s [%d]", f.Name(), h.Descr, h.Shape, descr, a.Len)
	}
	return b[h.Offset:], nil
}

// writeTimes writes the times of seeds, which are all integers or all floats.
func writeTimes(fsys vfs.FS, dir string, times []sample.Time) (array, error) {
	words, descr := make([]int64, len(times)), "i8"
	for i, t := range times {
		n, f, float := t.Number()
		if words[i] = n; float {
			words[i], descr = int64(math.Float64bits(f)), "f8"
		}
	}
	return writeArray(fsys, dir, "times.npy", descr, graph.Bytes(words))
}

func (s *Site) times(a array) ([]sample.Time, error) {
	if a.Descr != "i8" && a.Descr != "f8" {
		return nil, fmt.Errorf("found times of type %q, expected i8 or f8", a.Descr)
	}
	b, err := s.array(a, a.Descr)
	if err != nil {
		return nil, err
	}
	times := make([]sample.Time, a.Len)
	for i, x := range graph.View[int64](b) {
		if times[i] = sample.IntTime(x); a.Descr == "f8" {
			times[i] = sample.FloatTime(math.Float64frombits(uint64(x)))
		}
	}
	return times, nil
}

func writeColumn(fsys vfs.FS, dir, name string, c *graph.Column) (f columnFile, err error) {
	f = columnFile{Name: c.Name, DType: c.DType.String(), Shape: c.Shape, Rows: c.Rows}
	if f.Values, err = writeArray(fsys, dir, name+".npy", "u1", c.Values); err != nil {
		return f, err
	}
	for i, x := range c.Offsets {
		a, err := writeIndex(fsys, dir, fmt.Sprintf("%s.%d.npy", name, i), x)
		if err != nil {
			return f, err
		}
		f.Offsets = append(f.Offsets, a)
	}
	if c.DType == graph.String {
		f.Strings, err = writeIndex(fsys, dir, name+".strings.npy", c.StringOffsets)
	}
	return f, err
}

func writeIndex(fsys vfs.FS, dir, file string, x graph.Index) (array, error) {
	if x.U64 != nil {
		return writeArray(fsys, dir, file, "u8", graph.Bytes(x.U64))
	}
	return writeArray(fsys, dir, file, "u4", graph.Bytes(x.U32))
}

func (s *Site) index(a array) (graph.Index, error) {
	b, err := s.array(a, a.Descr)
	switch {
	case err != nil:
		return graph.Index{}, err
	case a.Descr == "u8":
		return graph.Index{U64: graph.View[uint64](b)}, nil
	case a.Descr == "u4":
		return graph.Index{U32: graph.View[uint32](b)}, nil
	}
	return graph.Index{}, fmt.Errorf("found offsets of type %q, expected u4 or u8", a.Descr)
}

// column maps a column of the work folder.
func (s *Site) column(f columnFile) (*graph.Column, error) {
	c := &graph.Column{Name: f.Name, Shape: f.Shape, Rows: f.Rows}
	var err error
	if c.DType, err = graph.ParseDType(f.DType); err != nil {
		return nil, err
	}
	if c.Values, err = s.array(f.Values, "u1"); err != nil {
		return nil, err
	}
	for _, a := range f.Offsets {
		x, err := s.index(a)
		if err != nil {
			return nil, err
		}
		c.Offsets = append(c.Offsets, x)
	}
	if c.DType == graph.String {
		if c.StringOffsets, err = s.index(f.Strings); err != nil {
			return nil, err
		}
	}
	return c, c.CheckOffsets()
}
