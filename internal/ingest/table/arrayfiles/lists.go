package arrayfiles

import (
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/builder"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Lists says how an array holds a column of strings or lists, in the layout of a store's columns: docs/format-store.md.
// Offsets are arrays of one dimension, of integers that begin with 0, do not decrease, and end with the number of
// elements.
type Lists struct {
	DType graph.DType
	Shape []int // of a row; -1 is a variable dimension
	// Rows are the offsets of the variable dimensions, the outermost first.
	Rows []string
	// Strings are the offsets of the strings in the array of their bytes; only for String.
	Strings string
}

// level is an array of offsets.
type level struct {
	path   string
	dtype  graph.DType
	offset int64
	before int // elements per element of the level above: the product of the fixed dimensions between the two
	count  int // elements of the level
	below  int // elements that the last offset must count
}

// open adds the offsets of lists to an array of values, and returns the number of rows.
func (a *array) open(fsys vfs.FS, l *Lists, values int) (rows int, err error) {
	paths := slices.Clone(l.Rows)
	text := l.DType == graph.String
	if l.Strings != "" {
		paths = append(paths, l.Strings)
	}
	before, fixed := 1, []int{}
	for _, d := range l.Shape {
		if d != -1 {
			before *= d
			fixed = append(fixed, d)
			continue
		}
		a.levels = append(a.levels, level{before: before})
		before, fixed = 1, fixed[:0]
	}
	if text {
		a.levels = append(a.levels, level{before: before})
		fixed = fixed[:0]
	}
	if len(paths) != len(a.levels) || len(paths) == 0 || text != (l.Strings != "") {
		return 0, badf("%s: found %d arrays of offsets for shape %v of %s, expected one per variable dimension, and one more for strings; name one file for each", a.path, len(paths), l.Shape, l.DType)
	}
	if text && (a.dtype != graph.Uint8 || len(a.Shape) > 0) {
		return 0, badf("%s: found %s %v, expected the bytes of strings, uint8; write the texts as bytes", a.path, a.dtype, a.Shape)
	}
	if !slices.Equal(fixed, a.Shape) {
		return 0, badf("%s: found rows of shape %v, expected %v, the last dimensions of %v; correct the shape", a.path, a.Shape, fixed, l.Shape)
	}
	below := values
	for i := len(paths) - 1; i >= 0; i-- {
		h, _, err := readHeader(fsys, paths[i])
		if err != nil {
			return 0, err
		}
		d := descrs[h.Descr]
		if !d.IsInt() || len(h.Shape) != 1 || h.Shape[0] == 0 {
			return 0, badf("%s: found %s %v, expected a list of integers, with one more offset than there are lists or strings; write the offsets again", paths[i], d, h.Shape)
		}
		v := &a.levels[i]
		v.path, v.dtype, v.offset, v.count, v.below = paths[i], d, h.Offset, h.Shape[0]-1, below
		if v.before == 0 || v.count%v.before != 0 {
			return 0, badf("%s: found %d offsets, expected one more than a multiple of %d; write the offsets again", v.path, v.count+1, v.before)
		}
		if v.count == 0 && below > 0 {
			return 0, badf("%s: found one offset, expected the offsets of %d values; write the offsets again", v.path, below)
		}
		below = v.count / v.before
	}
	a.Field.DType, a.Shape = l.DType, l.Shape
	return below, nil
}

// rowFile is the file whose length is the number of rows.
func (a *array) rowFile() string {
	if a.levels != nil {
		return a.levels[0].path
	}
	return a.path
}

// checkLists checks that a column can be read as it is asked for.
func (a *array) checkLists(c table.Column) error {
	if !slices.Equal(c.Shape, a.Shape) {
		return badf("%s: found rows of shape %v, expected %v for column %q; correct the shape", a.path, a.Shape, c.Shape, c.Name)
	}
	if text := a.DType == graph.String; text != (c.DType == graph.String) || !text && !builder.CanConvert(a.dtype, c.DType, false) {
		return badf("%s: found %s, expected a dtype that can be read as %s for column %q; convert the array", a.path, a.DType, c.DType, c.Name)
	}
	return nil
}

// offsets reads the offsets of the elements from lo up to hi of a level, and the one after them, as 64-bit words. They
// are valid until the next read.
func (r *npyReader) offsets(l *level, lo, hi uint64) ([]uint64, error) {
	size := l.dtype.Size()
	n := int(hi-lo) + 1
	raw, err := r.at(l.path, l.offset+int64(lo)*int64(size), n*size)
	if err != nil {
		return nil, err
	}
	r.words.N = 0
	r.words.Add(8 * n)
	w := r.words.W[:n]
	scalar.Widen(w, raw, size, l.dtype)
	last := uint64(0)
	for i, v := range w {
		if v < last || v > uint64(l.below) {
			return nil, badf("%s[%d]: found %s, expected an offset from %d to %d; write the offsets again", l.path, lo+uint64(i), scalar.IntegerText(v, l.dtype), last, l.below)
		}
		last = v
	}
	if lo == 0 && w[0] != 0 {
		return nil, badf("%s[0]: found %d, expected 0, the first offset; write the offsets again", l.path, w[0])
	}
	if hi == uint64(l.count) && last != uint64(l.below) {
		return nil, badf("%s[%d]: found %d, expected %d, the end of the last list or string; write the offsets again", l.path, hi, last, l.below)
	}
	return w, nil
}

// bytes returns about how many bytes some rows of an array take.
func (r *npyReader) bytes(a *array, first uint64, rows int) (int64, error) {
	lo, hi, n := first, first+uint64(rows), int64(0)
	for i := range a.levels {
		l := &a.levels[i]
		lo, hi = lo*uint64(l.before), hi*uint64(l.before)
		n += 8 * int64(hi-lo)
		for _, x := range []*uint64{&lo, &hi} {
			w, err := r.offsets(l, *x, *x)
			if err != nil {
				return 0, err
			}
			*x = w[0]
		}
		if hi < lo {
			return 0, badf("%s: found offset %d after %d, expected offsets that do not decrease; write the offsets again", l.path, hi, lo)
		}
	}
	return n + int64(hi-lo)*a.stride, nil
}

// parts calls fn for runs of rows that take at most about limit bytes each, or are one row.
func (r *npyReader) parts(asked []*array, first uint64, rows int, limit int64, fn func(first uint64, rows int) error) error {
	most := int64(0)
	for _, a := range asked {
		if rows > 1 && a.levels != nil {
			n, err := r.bytes(a, first, rows)
			if err != nil {
				return err
			}
			most += n
		}
	}
	if most <= limit {
		return fn(first, rows)
	}
	half := rows / 2
	if err := r.parts(asked, first, half, limit, fn); err != nil {
		return err
	}
	return r.parts(asked, first+uint64(half), rows-half, limit, fn)
}

// readLists fills column i of the chunk with lists or strings.
func (r *npyReader) readLists(i int, a *array, c table.Column) error {
	lo, hi := r.chunk.First, r.chunk.First+uint64(r.chunk.Rows)
	r.data[i].N, r.ends[i] = 0, r.ends[i][:0]
	if r.lens[i] == nil {
		r.lens[i] = make([][]uint32, len(a.levels))
	}
	lengths := r.lens[i][:0]
	for k := range a.levels {
		l := &a.levels[k]
		lo, hi = lo*uint64(l.before), hi*uint64(l.before)
		w, err := r.offsets(l, lo, hi)
		if err != nil {
			return err
		}
		first, last := w[0], w[len(w)-1]
		if last-first > 1<<32-1 {
			return badf("%s[%d]: found %d values, expected fewer than 2^32 in a row", l.path, lo, last-first)
		}
		if a.DType == graph.String && k == len(a.levels)-1 {
			for _, v := range w[1:] {
				r.ends[i] = append(r.ends[i], uint32(v-first))
			}
		} else {
			out := r.lens[i][k][:0]
			for j, v := range w[1:] {
				out = append(out, uint32(v-w[j]))
			}
			r.lens[i][k] = out
			lengths = r.lens[i][:k+1]
		}
		lo, hi = first, last
	}
	raw, err := r.at(a.path, a.offset+int64(lo)*a.stride, int(hi-lo)*int(a.stride))
	if err != nil {
		return err
	}
	v := &r.chunk.Columns[i]
	v.Ends, v.Lengths = nil, nil
	if a.DType == graph.String {
		copy(r.data[i].Add(len(raw)), raw)
		v.Ends = r.ends[i]
	} else if bad, what := builder.Convert(&r.data[i], nil, raw, int(hi-lo)*a.width, a.dtype, a.step(), &c); bad >= 0 {
		return badf("%s: found %s, expected %s; write the array again", a.place(lo+uint64(bad/a.width)), what, builder.ExpectedOf(c.DType))
	}
	v.Data = r.data[i].Bytes()[:r.data[i].N:r.data[i].N]
	if len(lengths) > 0 {
		v.Lengths = lengths
	}
	return nil
}
