package collection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
)

// PacksFile describes the arrays of padded packs.
const PacksFile = "packs.json"

// PacksMeta is packs.json. The names of array files say what they hold; files of columns have the column's
// name.
type PacksMeta struct {
	Format  int                         `json:"format"`
	Seed    uint64                      `json:"seed"`
	Epoch   uint64                      `json:"epoch"`
	Packs   int64                       `json:"packs"`
	Shape   *Shape                      `json:"shape"`
	Arrays  map[string]string           `json:"arrays"` // of the packs themselves
	Nodes   map[string]*TypeMeta        `json:"nodes"`
	Edges   map[string]*TypeMeta        `json:"edges"`
	Context map[string]store.ColumnMeta `json:"context"`
	// Oversize says what happened to OversizeGraphs graphs that are in no pack.
	Oversize       string `json:"oversize,omitempty"`
	OversizeGraphs int64  `json:"oversize_graphs,omitempty"`
}

// TypeMeta describes the arrays of a node or edge type. The shape of a column is the shape of one row.
type TypeMeta struct {
	Arrays  map[string]string           `json:"arrays"`
	Columns map[string]store.ColumnMeta `json:"columns"`
}

// paddedArray is an array [packs, ...], with a function that writes the part of a pack.
type paddedArray struct {
	array *store.Array
	slot  int64 // bytes per pack
	fill  func(out *emitter, p *packed)
}

// packed is a pack that is being written.
type packed struct {
	graphs []uint64
	nodes  []int // number of nodes of its graphs, by node type
}

// padder makes the arrays of padded packs.
type padder struct {
	w      *store.Writer
	c      *graph.Collection
	shape  *Shape
	packs  int64
	arrays []paddedArray
	meta   PacksMeta
	left   []string
}

// Arrays writes the packs of an epoch, padded to one shape, into w, which the caller seals. docs/packing.md
// describes the arrays. left names the data of the collection that the arrays lack: strings, variable
// dimensions, and the data on how the graphs were sampled.
//
// Padding follows jraph: the graphs of a pack are followed by one graph that has all padding nodes and edges,
// then by empty graphs. Padding edges join the first padding nodes of their types. All other padding values
// are 0, except graph_id, which is -1.
//
// The caller must have checked the collection (store.Check).
func Arrays(ctx context.Context, w *store.Writer, l *layout.Layout, c *graph.Collection, g *layout.Graphs, seed, epoch uint64, opt Options) (left []string, err error) {
	shape, err := NewShape(l, c)
	if err != nil {
		return nil, err
	}
	d := l.Deal(g, seed, epoch)
	a := &padder{w: w, c: c, shape: shape, packs: d.Packs(), meta: PacksMeta{Format: 1, Seed: seed, Epoch: epoch, Packs: d.Packs(), Shape: shape,
		Arrays: map[string]string{}, Nodes: map[string]*TypeMeta{}, Edges: map[string]*TypeMeta{}, Context: map[string]store.ColumnMeta{},
		Oversize: l.Meta.Oversize, OversizeGraphs: l.Meta.OversizeGraphs}}
	defer func() {
		for _, x := range a.arrays {
			err = errors.Join(err, x.array.Close())
		}
	}()
	if err := a.plan(); err != nil {
		return nil, err
	}
	// Small chunks keep all threads busy until the end; large ones make large writes of small arrays.
	chunk := min(max(a.packs/int64(8*opt.threads()), 1), 64)
	next := int64(0)
	err = ordered.Run(ctx, opt.threads(), newEmitter, func() *dealt { return &dealt{} }, ordered.Stages[*emitter, *dealt]{
		Fill: func(k *dealt) error { return k.next(&next, chunk, a.packs) },
		Work: func(ctx context.Context, out *emitter, k *dealt) error {
			k.deal(d)
			return a.write(ctx, out, k)
		},
		Sink: func(k *dealt) error {
			opt.tell(len(k.lengths))
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(a.meta, "", " ")
	if err != nil {
		return nil, err
	}
	return a.left, errors.Join(w.WriteFile(PacksFile, append(text, '\n')), writeAlone(w, l, g))
}

// write writes the parts of all arrays for a chunk of packs.
func (a *padder) write(ctx context.Context, out *emitter, k *dealt) error {
	packs := out.packs[:0]
	at := 0
	for i, n := range k.lengths {
		if i == cap(packs) {
			packs = append(packs, packed{})
		} else {
			packs = packs[:i+1]
		}
		p := &packs[i]
		p.graphs = k.ids[at : at+n]
		at += n
		p.nodes = p.nodes[:0]
		for _, t := range a.c.Nodes {
			sum := 0
			for _, g := range p.graphs {
				from, to := span(t.GraphPtr, g)
				sum += to - from
			}
			p.nodes = append(p.nodes, sum)
		}
	}
	out.packs = packs
	for i := range a.arrays {
		if err := ctx.Err(); err != nil {
			return err
		}
		x := &a.arrays[i]
		out.begin(x.array, k.first*x.slot)
		for j := range packs {
			x.fill(out, &packs[j])
		}
		if err := out.flush(); err != nil {
			return err
		}
	}
	return nil
}

// span is the range of the items of graph g that ptr bounds.
func span(ptr graph.Index, g uint64) (from, to int) {
	return int(ptr.At(int(g))), int(ptr.At(int(g) + 1))
}

// add adds an array with one row of the given shape per pack.
func (a *padder) add(file string, dtype graph.DType, fill func(*emitter, *packed), row ...int) error {
	slot := uint64(dtype.Size())
	for _, d := range row {
		hi, lo := bits.Mul64(slot, uint64(d))
		if slot = lo; hi > 0 || slot > 1<<50 {
			return tagged.Errorf(layout.ErrLayout, "%s: found packs of %v values, more than a file can hold; make a layout with lower limits", file, row)
		}
	}
	if hi, lo := bits.Mul64(slot, uint64(a.packs)); hi > 0 || lo > 1<<62 {
		return tagged.Errorf(layout.ErrLayout, "%s: found %d packs of %v values, more than a file can hold; make a layout with lower limits", file, a.packs, row)
	}
	array, err := a.w.Array(file, dtype, row...)
	if err != nil {
		return err
	}
	a.arrays = append(a.arrays, paddedArray{array, int64(slot), fill})
	return nil
}

// plan lists all arrays and how they are filled.
func (a *padder) plan() error {
	graphs := a.shape.Graphs
	var err error
	add := func(arrays map[string]string, dir, name string, dtype graph.DType, fill func(*emitter, *packed), row ...int) {
		arrays[name] = dir + name + ".npy"
		if err == nil {
			err = a.add(arrays[name], dtype, fill, row...)
		}
	}
	add(a.meta.Arrays, "", "num_graphs", graph.Int32, func(out *emitter, p *packed) { out.repeat(int32(len(p.graphs)), 1) })
	add(a.meta.Arrays, "", "graph_id", graph.Int64, func(out *emitter, p *packed) {
		out.bytes(graph.Bytes(p.graphs))
		out.fill(0xff, 8*(graphs-len(p.graphs)))
	}, graphs)
	add(a.meta.Arrays, "", "graph_mask", graph.Bool, func(out *emitter, p *packed) {
		out.fill(1, len(p.graphs))
		out.fill(0, graphs-len(p.graphs))
	}, graphs)
	for t, n := range a.c.Nodes {
		m := &TypeMeta{Arrays: map[string]string{}, Columns: map[string]store.ColumnMeta{}}
		a.meta.Nodes[n.Type] = m
		dir, all := store.NodesDir(n.Type)+"/", a.shape.Nodes[n.Type]
		add(m.Arrays, dir, "n_node", graph.Int32, counts(n.GraphPtr, graphs, all), graphs)
		add(m.Arrays, dir, "ptr", graph.Int32, offsets(n.GraphPtr, graphs, all), graphs+1)
		add(m.Arrays, dir, "graph", graph.Int32, owners(n.GraphPtr, all), all)
		add(m.Arrays, dir, "mask", graph.Bool, func(out *emitter, p *packed) {
			out.fill(1, p.nodes[t])
			out.fill(0, all-p.nodes[t])
		}, all)
		if n.NodeID.Len() > 0 {
			add(m.Arrays, dir, "node_id", width(n.NodeID), ids(n.NodeID, n.GraphPtr, all), all)
		}
		if n.NumSampled != nil {
			a.left = append(a.left, n.Type+": num_sampled_nodes")
		}
		err = errors.Join(err, a.columns(n.Type, dir+"columns/", m.Columns, n.Columns, n.GraphPtr, all))
	}
	for _, e := range a.c.Edges {
		name := e.Type.String()
		m := &TypeMeta{Arrays: map[string]string{}, Columns: map[string]store.ColumnMeta{}}
		a.meta.Edges[name] = m
		dir, all := store.EdgesDir(e.Type)+"/", a.shape.Edges[name]
		add(m.Arrays, dir, "n_edge", graph.Int32, counts(e.GraphPtr, graphs, all), graphs)
		add(m.Arrays, dir, "ptr", graph.Int32, offsets(e.GraphPtr, graphs, all), graphs+1)
		add(m.Arrays, dir, "src", graph.Int32, a.ends(e, e.Src, e.Type.Src, all), all)
		add(m.Arrays, dir, "dst", graph.Int32, a.ends(e, e.Dst, e.Type.Dst, all), all)
		add(m.Arrays, dir, "mask", graph.Bool, func(out *emitter, p *packed) {
			sum := 0
			for _, g := range p.graphs {
				from, to := span(e.GraphPtr, g)
				sum += to - from
			}
			out.fill(1, sum)
			out.fill(0, all-sum)
		}, all)
		if e.EdgeID.Len() > 0 {
			add(m.Arrays, dir, "edge_id", width(e.EdgeID), ids(e.EdgeID, e.GraphPtr, all), all)
		}
		if e.NumSampled != nil {
			a.left = append(a.left, name+": num_sampled_edges")
		}
		err = errors.Join(err, a.columns(name, dir+"columns/", m.Columns, e.Columns, e.GraphPtr, all))
	}
	if a.c.SeedPtr.Len() > 0 {
		left := "context: seed_ptr, seed_local"
		if a.c.Negatives > 0 {
			left += ", negative_local"
		}
		a.left = append(a.left, left)
	}
	if a.c.ComponentPtr.Len() > 0 {
		for _, c := range a.c.Context {
			a.left = append(a.left, "context: column "+c.Name+" (one row per component)")
		}
		return err
	}
	return errors.Join(err, a.columns("context", "context/", a.meta.Context, a.c.Context, graph.Index{}, graphs))
}

// columns plans the columns of a type, or of the context if ptr is empty.
func (a *padder) columns(what, dir string, meta map[string]store.ColumnMeta, columns []*graph.Column, ptr graph.Index, rows int) error {
	for _, c := range columns {
		if c.Ragged() || c.DType == graph.String {
			why := "strings"
			if c.Ragged() {
				why = fmt.Sprintf("shape %v", c.Shape)
			}
			a.left = append(a.left, fmt.Sprintf("%s: column %s (%s)", what, c.Name, why))
			continue
		}
		width := c.RowBytes()
		fill := func(out *emitter, p *packed) {
			left := rows
			for _, g := range p.graphs {
				from, to := int(g), int(g)+1
				if ptr.Len() > 0 {
					from, to = span(ptr, g)
				}
				out.bytes(c.Values[from*width : to*width])
				left -= to - from
			}
			out.fill(0, left*width)
		}
		m := store.ColumnMeta{File: dir + store.FileName(c.Name) + ".npy", DType: c.DType.String(), Shape: append([]int{}, c.Shape...)}
		if err := a.w.Mean(strings.TrimSuffix(dir, "/"), &m, c); err != nil {
			return err
		}
		meta[c.Name] = m
		if err := a.add(m.File, c.DType, fill, append([]int{rows}, c.Shape...)...); err != nil {
			return err
		}
	}
	return nil
}
