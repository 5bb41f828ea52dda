package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fsx"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/pack"
	"github.com/graphmill/graphmill/store"
)

// ErrLayout is wrapped by errors of a folder that is no sound pack layout.
var ErrLayout = errors.New("not a pack layout")

// MetaFile says what a layout is.
const MetaFile = "layout.json"

// Meta is layout.json.
type Meta struct {
	Format     int      `json:"format"`
	Components []string `json:"components"`
	Limits     []int    `json:"limits"`
	MaxGraphs  int      `json:"max_graphs"`
	Packs      int64    `json:"packs"`
	LowerBound int64    `json:"lower_bound"`
	Graphs     int64    `json:"graphs"`
	Shapes     int      `json:"shapes"`
	Patterns   int      `json:"patterns"`
	Parts      int      `json:"parts"`
}

// Layout is a packing, read or made.
type Layout struct {
	Meta    Meta
	Problem *pack.Problem
	Packing *pack.Packing
}

// Of is the layout of a result.
func Of(r *pack.Result) *Layout {
	l := &Layout{Problem: r.Problem, Packing: r.Packing, Meta: Meta{
		Format: 1, Components: r.Problem.Components, Limits: r.Problem.Limits, MaxGraphs: r.Problem.MaxGraphs,
		Packs: r.Packs(), LowerBound: r.LowerBound, Graphs: r.Problem.Graphs(),
		Shapes: len(r.Problem.Counts), Patterns: len(r.Patterns),
	}}
	for _, p := range r.Patterns {
		l.Meta.Parts += len(p.Parts)
	}
	return l
}

// Write writes the files of a layout; the caller seals and publishes w.
func (l *Layout) Write(w *store.Writer, made store.Made) error {
	var sizes, shapes, copies []uint32
	var counts, packs []uint64
	ptr := []uint64{0}
	for i, c := range l.Problem.Counts {
		counts = append(counts, uint64(c))
		for _, s := range l.Problem.Shape(i) {
			sizes = append(sizes, uint32(s))
		}
	}
	for _, p := range l.Packing.Patterns {
		packs = append(packs, uint64(p.Packs))
		for _, part := range p.Parts {
			shapes, copies = append(shapes, uint32(part.Shape)), append(copies, uint32(part.Copies))
		}
		ptr = append(ptr, uint64(len(shapes)))
	}
	for _, a := range []struct {
		name  string
		dtype graph.DType
		row   []int
		data  []byte
	}{
		{"shape_size.npy", graph.Uint32, []int{len(l.Problem.Limits)}, graph.Bytes(sizes)},
		{"shape_count.npy", graph.Uint64, nil, graph.Bytes(counts)},
		{"pattern_packs.npy", graph.Uint64, nil, graph.Bytes(packs)},
		{"pattern_ptr.npy", graph.Uint64, nil, graph.Bytes(ptr)},
		{"part_shape.npy", graph.Uint32, nil, graph.Bytes(shapes)},
		{"part_copies.npy", graph.Uint32, nil, graph.Bytes(copies)},
	} {
		array, err := w.Array(a.name, a.dtype, a.row...)
		if err != nil {
			return err
		}
		_, err = array.Write(a.data)
		if err := errors.Join(err, array.Close()); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(l.Meta, "", " ")
	if err != nil {
		return err
	}
	return errors.Join(w.WriteFile(MetaFile, append(text, '\n')), w.WriteMade(made))
}

// maxFile bounds what is read of a layout.
const maxFile = 1 << 32

// Open reads a layout and checks it: every graph is dealt once and the limits hold.
func Open(fsys fsx.FS, dir string) (*Layout, error) {
	text, err := fsx.ReadFile(fsys, filepath.Join(dir, MetaFile), 1<<20)
	if err != nil {
		return nil, tagged.Errorf(ErrLayout, "%s: found no layout: %w; make one with graphmill pack", dir, err)
	}
	l := &Layout{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l.Meta); err != nil {
		return nil, tagged.Errorf(ErrLayout, "%s: %w", filepath.Join(dir, MetaFile), err)
	}
	m := &l.Meta
	if m.Format != 1 {
		return nil, tagged.Errorf(ErrLayout, "%s: found format %d, expected 1; use a newer graphmill", dir, m.Format)
	}
	r := reader{fsys: fsys, dir: dir}
	k := len(m.Components)
	sizes := array[uint32](&r, "shape_size.npy", m.Shapes, k)
	counts := array[uint64](&r, "shape_count.npy", m.Shapes)
	packs := array[uint64](&r, "pattern_packs.npy", m.Patterns)
	ptr := array[uint64](&r, "pattern_ptr.npy", m.Patterns+1)
	shapes := array[uint32](&r, "part_shape.npy", m.Parts)
	copies := array[uint32](&r, "part_copies.npy", m.Parts)
	if r.err != nil {
		return nil, r.err
	}
	h := &pack.Histogram{Components: m.Components}
	for i, c := range counts {
		shape := make([]int, k)
		for j := range shape {
			shape[j] = int(sizes[i*k+j])
		}
		h.Add(int64(c), shape...)
	}
	if err := h.Normalise(); err != nil {
		return nil, tagged.Errorf(ErrLayout, "%s: %w", dir, err)
	}
	l.Problem = &pack.Problem{Histogram: h, Limits: m.Limits, MaxGraphs: m.MaxGraphs}
	l.Packing = &pack.Packing{}
	if len(h.Counts) != m.Shapes || len(m.Limits) != k {
		return nil, tagged.Errorf(ErrLayout, "%s: found %d distinct shapes and %d limits, expected %d and %d", dir, len(h.Counts), len(m.Limits), m.Shapes, k)
	}
	for i, n := range packs {
		from, to := ptr[i], ptr[i+1]
		if from > to || to > uint64(len(shapes)) {
			return nil, tagged.Errorf(ErrLayout, "%s: found parts %d to %d of pattern %d, expected ascending places of %d", dir, from, to, i, len(shapes))
		}
		p := pack.Pattern{Packs: int64(n)}
		for j := from; j < to; j++ {
			if int(shapes[j]) >= m.Shapes {
				return nil, tagged.Errorf(ErrLayout, "%s: found shape %d in pattern %d, expected one below %d", dir, shapes[j], i, m.Shapes)
			}
			p.Parts = append(p.Parts, pack.Part{Shape: int(shapes[j]), Copies: int(copies[j])})
		}
		l.Packing.Patterns = append(l.Packing.Patterns, p)
	}
	if err := l.Packing.Check(l.Problem); err != nil {
		return nil, tagged.Errorf(ErrLayout, "%s: %w", dir, err)
	}
	if n := l.Packing.Packs(); n != m.Packs || h.Graphs() != m.Graphs {
		return nil, tagged.Errorf(ErrLayout, "%s: found %d packs of %d graphs, expected %d of %d", dir, n, h.Graphs(), m.Packs, m.Graphs)
	}
	return l, nil
}

// reader reads arrays until one fails.
type reader struct {
	fsys fsx.FS
	dir  string
	err  error
}

// array is a whole array of the given shape.
func array[T uint32 | uint64](r *reader, name string, shape ...int) []T {
	if r.err != nil {
		return nil
	}
	path := filepath.Join(r.dir, name)
	b, err := fsx.ReadFile(r.fsys, path, maxFile)
	if err != nil {
		r.err = err
		return nil
	}
	h, err := npy.Read(bytes.NewReader(b), int64(len(b)))
	var zero T
	want := map[int]string{4: "u4", 8: "u8"}[len(graph.Bytes([]T{zero}))]
	if err == nil && (h.Descr != want || fmt.Sprint(h.Shape) != fmt.Sprint(shape)) {
		err = fmt.Errorf("found %s %v, expected %s %v", h.Descr, h.Shape, want, shape)
	}
	if err != nil {
		r.err = tagged.Errorf(ErrLayout, "%s: %w", path, err)
		return nil
	}
	return append([]T(nil), graph.View[T](b[h.Offset:])...)
}
