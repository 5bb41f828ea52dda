package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// ErrLayout is the kind of errors about a folder that is no valid pack layout.
var ErrLayout = errors.New("not a pack layout")

// Format is the version of layout.json and of the files that it names.
const Format = 1

// MetaFile describes a layout.
const MetaFile = "layout.json"

// Meta is layout.json.
type Meta = report.PackLayout

// Layout is a packing with its problem.
type Layout struct {
	Meta    Meta
	Problem *pack.Problem // its limits are Meta's without the reserve
	Packing *pack.Packing
	Over    *pack.Histogram // shapes of graphs that are larger than a pack; empty: none
}

// Of makes the layout of a result whose problem was made with these terms.
func Of(r *pack.Result, t Terms) *Layout {
	l := &Layout{Problem: r.Problem, Packing: r.Packing, Over: t.Over, Meta: Meta{
		Format: Format, Components: r.Problem.Components, Limits: r.Problem.Limits, MaxGraphs: r.Problem.MaxGraphs, Reserve: t.Reserve,
		Packs: r.Packs(), LowerBound: r.LowerBound, Graphs: r.Problem.Graphs(),
		Shapes: len(r.Problem.Counts), Patterns: len(r.Patterns),
	}}
	if t.Reserve {
		l.Meta.Limits, l.Meta.MaxGraphs = unreserve(r.Problem)
	}
	if l.Over == nil {
		l.Over = &pack.Histogram{Components: r.Problem.Components}
	}
	if n := len(l.Over.Counts); n > 0 {
		l.Meta.Oversize, l.Meta.OversizeGraphs, l.Meta.OversizeShapes = t.Oversize, l.Over.Graphs(), n
	}
	for _, p := range r.Patterns {
		l.Meta.Parts += len(p.Parts)
	}
	return l
}

// flat returns the sizes and counts of a histogram.
func flat(h *pack.Histogram) (sizes []uint32, counts []uint64) {
	for _, s := range h.Sizes {
		sizes = append(sizes, uint32(s))
	}
	for _, c := range h.Counts {
		counts = append(counts, uint64(c))
	}
	return sizes, counts
}

// Write writes the files of a layout; the caller seals and publishes w.
func (l *Layout) Write(w *store.Writer, made store.Made) error {
	var shapes, copies []uint32
	var packs []uint64
	ptr := []uint64{0}
	sizes, counts := flat(l.Problem.Histogram)
	overSizes, overCounts := flat(l.Over)
	for _, p := range l.Packing.Patterns {
		packs = append(packs, uint64(p.Packs))
		for _, part := range p.Parts {
			shapes, copies = append(shapes, uint32(part.Shape)), append(copies, uint32(part.Copies))
		}
		ptr = append(ptr, uint64(len(shapes)))
	}
	type file struct {
		name  string
		dtype graph.DType
		row   []int
		data  []byte
	}
	files := []file{
		{"shape_size.npy", graph.Uint32, []int{len(l.Problem.Limits)}, graph.Bytes(sizes)},
		{"shape_count.npy", graph.Uint64, nil, graph.Bytes(counts)},
		{"pattern_packs.npy", graph.Uint64, nil, graph.Bytes(packs)},
		{"pattern_ptr.npy", graph.Uint64, nil, graph.Bytes(ptr)},
		{"part_shape.npy", graph.Uint32, nil, graph.Bytes(shapes)},
		{"part_copies.npy", graph.Uint32, nil, graph.Bytes(copies)},
	}
	if len(overCounts) > 0 {
		files = append(files,
			file{"oversize_size.npy", graph.Uint32, []int{len(l.Problem.Limits)}, graph.Bytes(overSizes)},
			file{"oversize_count.npy", graph.Uint64, nil, graph.Bytes(overCounts)})
	}
	for _, a := range files {
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

// maxFile bounds the size of the files of a layout.
const maxFile = 1 << 32

// Open reads a layout and checks that every graph is dealt once and the limits hold.
func Open(fsys vfs.FS, dir string) (*Layout, error) {
	fsys = vfs.Confine(fsys, dir)
	text, err := vfs.ReadFile(fsys, filepath.Join(dir, MetaFile), 1<<20)
	if err != nil {
		return nil, tagged.Errorf(ErrLayout, "%s: found no layout: %w; make one with 'graphmill pack'", dir, err)
	}
	l := &Layout{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l.Meta); err != nil {
		return nil, tagged.Errorf(ErrLayout, "%s: %w", filepath.Join(dir, MetaFile), err)
	}
	m := &l.Meta
	if m.Format != Format {
		return nil, tagged.Errorf(ErrLayout, "%s: found format %d, expected %d; use a newer graphmill", dir, m.Format, Format)
	}
	r := reader{fsys: fsys, dir: dir}
	k := len(m.Components)
	sizes := array[uint32](&r, "shape_size.npy", m.Shapes, k)
	counts := array[uint64](&r, "shape_count.npy", m.Shapes)
	packs := array[uint64](&r, "pattern_packs.npy", m.Patterns)
	ptr := array[uint64](&r, "pattern_ptr.npy", m.Patterns+1)
	shapes := array[uint32](&r, "part_shape.npy", m.Parts)
	copies := array[uint32](&r, "part_copies.npy", m.Parts)
	var overSizes []uint32
	var overCounts []uint64
	if m.OversizeShapes != 0 {
		overSizes = array[uint32](&r, "oversize_size.npy", m.OversizeShapes, k)
		overCounts = array[uint64](&r, "oversize_count.npy", m.OversizeShapes)
	}
	if r.err != nil {
		return nil, r.err
	}
	h, err := histogram(m.Components, sizes, counts)
	if err != nil {
		return nil, tagged.Errorf(ErrLayout, "%s: %w", dir, err)
	}
	if ascending, _ := flat(h); !slices.Equal(ascending, sizes) {
		return nil, tagged.Errorf(ErrLayout, "%s: found shapes that are equal, empty or out of order, expected ascending rows", filepath.Join(dir, "shape_size.npy"))
	}
	if len(h.Counts) != m.Shapes || len(m.Limits) != k {
		return nil, tagged.Errorf(ErrLayout, "%s: found %d distinct shapes and %d limits, expected %d and %d", dir, len(h.Counts), len(m.Limits), m.Shapes, k)
	}
	for _, n := range append([]int{m.MaxGraphs}, m.Limits...) {
		if n < 0 || n > math.MaxInt32 {
			return nil, tagged.Errorf(ErrLayout, "%s: found limit %d, expected 0 to 2^31 - 1", dir, n)
		}
	}
	l.Problem = &pack.Problem{Histogram: h, Limits: m.Limits, MaxGraphs: m.MaxGraphs}
	if m.Reserve {
		if err := Reserve(l.Problem); err != nil {
			return nil, tagged.Errorf(ErrLayout, "%s: %w", dir, err)
		}
	}
	if l.Over = (&pack.Histogram{Components: m.Components}); len(overCounts) > 0 {
		if l.Over, err = histogram(m.Components, overSizes, overCounts); err != nil {
			return nil, tagged.Errorf(ErrLayout, "%s: graphs that are larger than a pack: %w", dir, err)
		}
	}
	if fit, _ := (&pack.Problem{Histogram: l.Over, Limits: l.Problem.Limits}).Oversize(); len(fit.Counts) > 0 {
		return nil, tagged.Errorf(ErrLayout, "%s: found sizes %v among the oversize shapes, expected sizes larger than a pack of %v", dir, fit.Shape(0), l.Problem.Limits)
	}
	if have := m.Oversize == Skip || m.Oversize == Alone; have != (len(overCounts) > 0) || !have && m.Oversize != "" || l.Over.Graphs() != m.OversizeGraphs {
		return nil, tagged.Errorf(ErrLayout, "%s: found %d graphs of %d shapes that are larger than a pack with oversize %q, expected %d and %s or %s", dir, l.Over.Graphs(), len(overCounts), m.Oversize, m.OversizeGraphs, Skip, Alone)
	}
	l.Packing = &pack.Packing{}
	for i, n := range packs {
		from, to := ptr[i], ptr[i+1]
		if from > to || to > uint64(len(shapes)) {
			return nil, tagged.Errorf(ErrLayout, "%s: found parts %d to %d of pattern %d, expected ascending indices up to %d", dir, from, to, i, len(shapes))
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

// histogram converts the output of flat back to a histogram.
func histogram(components []string, sizes []uint32, counts []uint64) (*pack.Histogram, error) {
	h := &pack.Histogram{Components: components}
	k := len(components)
	for i, c := range counts {
		shape := make([]int, k)
		for j := range shape {
			shape[j] = int(sizes[i*k+j])
		}
		h.Add(int64(c), shape...)
	}
	return h, h.Normalise()
}

// reader reads arrays until one fails.
type reader struct {
	fsys vfs.FS
	dir  string
	err  error
}

// array reads a whole array of the given shape.
func array[T uint32 | uint64](r *reader, name string, shape ...int) []T {
	if r.err != nil {
		return nil
	}
	path := filepath.Join(r.dir, name)
	b, err := vfs.ReadFile(r.fsys, path, maxFile)
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

// Larger says how n graphs that are larger than a pack are treated. The caller puts their number before it.
func Larger(n int64, oversize string) string {
	switch {
	case oversize == Skip && n == 1:
		return "graph is larger than a pack and is left out"
	case oversize == Skip:
		return "graphs are larger than a pack and are left out"
	case n == 1:
		return "graph is larger than a pack and is a pack of its own, separate from the others"
	}
	return "graphs are larger than a pack and are packs of their own, separate from the others"
}
