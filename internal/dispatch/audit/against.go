package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/tagged"
)

// errOriginals is the kind of errors about parts without original ids, which cannot be compared with a graph.
var errOriginals = errors.New("no original ids")

// against compares edges and features with a graph's.
func (a *auditor) against(ctx context.Context, g *graph.Graph) error {
	if a.NodeIDs == nil {
		return tagged.Errorf(errOriginals, "%s: found parts without orig_nids.dgl, expected the original ids of nodes, to compare them with a store; write the parts with `SaveOrigNids` and `SaveOrigEids`", a.Name)
	}
	if err := a.counts("node", a.Config.Nodes, len(g.Nodes), func(name string) (int, bool) {
		t := g.NodeType(name)
		if t < 0 {
			return 0, false
		}
		return g.Nodes[t].Count, true
	}); err != nil {
		return err
	}
	if err := a.counts("edge", a.Config.Edges, len(g.Edges), func(name string) (int, bool) {
		t, err := g.EdgeType(name)
		if err != nil {
			return 0, false
		}
		return g.Edges[t].Count, true
	}); err != nil {
		return err
	}
	for t := range a.Config.Nodes {
		columns, err := a.opt.Features.Nodes(g.Nodes[g.NodeType(a.Config.Nodes[t].Name)])
		if err != nil {
			return err
		}
		if err := a.compareRows(ctx, t, a.Config.Nodes, columns, func(p *parts.Part) ([]parts.Feature, string) { return p.NodeFeats, p.NodeFile }, a.NodeIDs[t].At); err != nil {
			return err
		}
	}
	for t := range a.Config.Edges {
		i, err := g.EdgeType(a.Config.Edges[t].Name)
		if err != nil {
			return err
		}
		e := g.Edges[i]
		if a.EdgeIDs == nil {
			if err := a.compareBundles(ctx, t, e); err != nil {
				return err
			}
			continue
		}
		ids, err := a.edgeIDs(ctx, t, e)
		if err != nil {
			return err
		}
		if err := a.compareEdges(ctx, t, e, ids); err != nil {
			return err
		}
		columns, err := a.opt.Features.Edges(e)
		if err != nil {
			return err
		}
		if err := a.compareRows(ctx, t, a.Config.Edges, columns, func(p *parts.Part) ([]parts.Feature, string) { return p.EdgeFeats, p.EdgeFile }, ids); err != nil {
			return err
		}
	}
	return nil
}

// counts compares the types of the graph and their counts with the configuration.
func (a *auditor) counts(what string, types []dgl.TypeRanges, n int, count func(name string) (int, bool)) error {
	for _, t := range types {
		got, ok := count(t.Name)
		if !ok || int64(got) != t.Count() {
			expected := "none, because the store has no such type"
			if ok {
				expected = fmt.Sprintf("%d as in the store", got)
			}
			return &Fault{File: a.Name, Type: t.Name, Local: -1, Global: -1, Found: fmt.Sprintf("%d %ss", t.Count(), what), Expected: expected}
		}
	}
	if n != len(types) {
		return &Fault{File: a.Name, Local: -1, Global: -1, Found: fmt.Sprintf("%d %s types", len(types), what), Expected: fmt.Sprintf("%d as in the store", n)}
	}
	return nil
}

// edgeIDs returns a function from the type-wise new id of an edge to its edge id in the store. Without positions of edges it
// holds nothing, else 4 bytes per edge, or 8 for a wide edge type (limits.Positions); where positions are sparse, a map.
func (a *auditor) edgeIDs(ctx context.Context, t int, e *graph.Edges) (func(i int64) int64, error) {
	originals := &a.EdgeIDs[t]
	missing := func(i, id int64) error {
		return &Fault{File: originals.File(i), Type: e.Type.String(), Local: i, Global: -1, Found: fmt.Sprintf("the original id %d", id), Expected: "one of an edge of the store"}
	}
	positions, err := parts.Originals(e)
	if err != nil {
		return nil, err
	}
	n := originals.Len()
	if positions.Len() == 0 {
		for i := range n {
			if id := originals.At(i); id < 0 || id >= int64(e.Count) {
				return nil, missing(i, id)
			}
		}
		return originals.At, nil
	}
	largest := int64(-1)
	for i := range e.Count {
		largest = max(largest, int64(positions.At(i)))
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	// A table by position takes least memory if positions are dense, which they are unless most rows of the
	// input were left out.
	var at func(position int64) int64 // -1 where there is no edge
	switch {
	case largest >= 4*int64(e.Count)+1024:
		ids := make(map[int64]int64, e.Count)
		for i := range e.Count {
			ids[int64(positions.At(i))] = int64(i)
		}
		at = func(position int64) int64 {
			if id, ok := ids[position]; ok {
				return id
			}
			return -1
		}
	case int64(e.Count) > limits.Positions:
		at = byPosition[uint64](positions, largest)
	default:
		at = byPosition[uint32](positions, largest)
	}
	for i := range n {
		if id := originals.At(i); at(id) < 0 {
			return nil, missing(i, id)
		}
	}
	return func(i int64) int64 { return at(originals.At(i)) }, nil
}

// byPosition returns a function from a position to the edge that has it, -1 where there is none.
func byPosition[T uint32 | uint64](positions graph.Index, largest int64) func(position int64) int64 {
	table := make([]T, largest+1) // edge ids + 1
	for i := range positions.Len() {
		table[positions.At(i)] = T(i) + 1
	}
	return func(position int64) int64 {
		if position < 0 || position > largest {
			return -1
		}
		return int64(table[position]) - 1
	}
}

// wiseBefore is the number of ids of a type in the parts before one: the type-wise id of its first.
func wiseBefore(t *dgl.TypeRanges, part int) (n int64) {
	for _, r := range t.Ranges[:part] {
		n += r[1] - r[0]
	}
	return n
}

// eachEdge calls fn for the edges of a type that parts own, with the part, the local edge id, the type-wise
// new id and the original ids of the ends. fn is called for several parts at the same time.
func (a *auditor) eachEdge(ctx context.Context, t int, fn func(p *parts.Part, i, wise, src, dst int64) error) error {
	typ := &a.Config.Edges[t]
	return a.each(ctx, func(ctx context.Context, x *reading) error {
		r, wise := typ.Ranges[x.Index], wiseBefore(typ, x.Index)
		for id := r[0]; id < r[1]; id++ {
			if wise%every == 0 {
				if err := context.Cause(ctx); err != nil {
					return err
				}
			}
			i := id - x.FirstEdge
			src, dst := a.wise(x.NodeID.At(x.Src.At(i))), a.wise(x.NodeID.At(x.Dst.At(i)))
			if err := fn(x.Part, i, wise, a.NodeIDs[a.ends[t][0]].At(src), a.NodeIDs[a.ends[t][1]].At(dst)); err != nil {
				return err
			}
			wise++
		}
		x.count.ComparedEdges += r[1] - r[0]
		return nil
	}, func(p *parts.Part) error {
		r := typ.Ranges[p.Index]
		return a.Touched(edgeTouches * (r[1] - r[0]))
	})
}

// compareEdges compares each edge with its edge in the store.
func (a *auditor) compareEdges(ctx context.Context, t int, e *graph.Edges, ids func(i int64) int64) error {
	adj := e.Adj[e.Primary]
	near := parts.NewRowIndex(int64(adj.Indptr.Len()-1), int64(e.Count), func(v int64) int64 { return int64(adj.Indptr.At(int(v))) })
	return a.eachEdge(ctx, t, func(p *parts.Part, i, wise, src, dst int64) error {
		id := ids(wise)
		s, d := int64(adj.Far.At(int(id))), near.At(id)
		if e.Primary == graph.Out {
			s, d = d, s
		}
		if s != src || d != dst {
			return a.edge(p, i, fmt.Sprintf("an edge from original id %d to %d", src, dst), fmt.Sprintf("one from %d to %d, as edge %d of the store", s, d, id))
		}
		return nil
	})
}

// compareBundles compares the edges of a type for parts without original edge ids: at each node, the set of
// neighbours.
func (a *auditor) compareBundles(ctx context.Context, t int, e *graph.Edges) error {
	a.report.Notes = append(a.report.Notes, fmt.Sprintf("%s: no orig_eids.dgl: edges were compared node by node, and their features were not compared", e.Type))
	adj := e.Adj[e.Primary]
	sums := make([]uint64, adj.Indptr.Len()-1)
	if err := a.eachEdge(ctx, t, func(_ *parts.Part, _, _, src, dst int64) error {
		if e.Primary == graph.Out {
			src, dst = dst, src
		}
		atomic.AddUint64(&sums[dst], scramble(uint64(src)))
		return nil
	}); err != nil {
		return err
	}
	for v := range sums {
		for i := adj.Indptr.At(v); i < adj.Indptr.At(v+1); i++ {
			sums[v] -= scramble(adj.Far.At(int(i)))
		}
		if sums[v] != 0 {
			return &Fault{File: a.Name, Type: e.Type.String(), Local: -1, Global: -1,
				Found:    fmt.Sprintf("other edges at %s %d (original id)", e.Type.Near(e.Primary), v),
				Expected: fmt.Sprintf("the %d of the store", adj.Indptr.At(v+1)-adj.Indptr.At(v))}
		}
	}
	return nil
}

// scramble is a bijection (splitmix64). It makes sums of ids differ for different sets.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// storedAs has the dtypes that differ in parts, because PyTorch lacks the original ones.
var storedAs = map[graph.DType]dgl.DType{
	graph.Bool: dgl.Uint8, graph.Int8: dgl.Int8, graph.Int16: dgl.Int16, graph.Int32: dgl.Int32, graph.Int64: dgl.Int64,
	graph.Uint8: dgl.Uint8, graph.Uint16: dgl.Int32, graph.Uint32: dgl.Int64, graph.Uint64: dgl.Int64,
	graph.Float16: dgl.Float16, graph.BFloat16: dgl.BFloat16, graph.Float32: dgl.Float32, graph.Float64: dgl.Float64,
}

// compareRows compares the columns of a type with the store's; at maps a type-wise new id to a row of
// the store.
func (a *auditor) compareRows(ctx context.Context, t int, types []dgl.TypeRanges, columns []*widening.Column, of func(p *parts.Part) ([]parts.Feature, string), at func(i int64) int64) error {
	typ := &types[t]
	for _, c := range columns {
		name := typ.Name + "/" + c.Name
		if c.Name == graph.PositionColumn {
			continue
		}
		dtype, ok := storedAs[c.DType]
		if !ok || c.Ragged() || strings.Contains(c.Name, "/") {
			a.report.Notes = append(a.report.Notes, name+": not compared, because no tensor can hold it")
			continue
		}
		r := rowsOf{typ: typ, column: c, name: name, dtype: dtype, of: of, at: at}
		if c.Wide() {
			r.numbers = c.Writer(c.DType, nil)
		}
		if err := a.each(ctx, r.compare, func(p *parts.Part) error {
			own := typ.Ranges[p.Index]
			return a.Touched(2 * dtype.Size() * int64(c.RowValues()) * (own[1] - own[0]))
		}); err != nil {
			return err
		}
	}
	return nil
}

// rowsOf are the rows of a column, in the store and in parts.
type rowsOf struct {
	typ     *dgl.TypeRanges
	column  *widening.Column
	name    string         // of the tensors
	dtype   dgl.DType      // of the tensors
	numbers widening.Write // of a feature in pieces; nil for a column of the store
	of      func(p *parts.Part) ([]parts.Feature, string)
	at      func(i int64) int64
}

// compare compares the rows of a part.
func (r *rowsOf) compare(ctx context.Context, x *reading) error {
	c, own, first := r.column, r.typ.Ranges[x.Index], wiseBefore(r.typ, x.Index)
	rows := own[1] - own[0]
	list, file := r.of(x.Part)
	k := slices.IndexFunc(list, func(f parts.Feature) bool { return f.Array.Name == r.name })
	if rows == 0 {
		return nil
	}
	if k < 0 {
		return &Fault{File: file, Type: r.typ.Name, Local: -1, Global: -1, Found: fmt.Sprintf("no tensor %q", r.name), Expected: "the column of the store"}
	}
	f := &list[k]
	size, wide := c.DType.Size(), int(r.dtype.Size())
	scratch := make([]byte, c.RowValues()*wide)
	if f.DType != r.dtype || f.RowBytes() != int64(len(scratch)) {
		return &Fault{File: file, Type: r.typ.Name, Local: -1, Global: -1, Found: fmt.Sprintf("%q of %s %v", r.name, f.DType, f.Shape), Expected: fmt.Sprintf("%s with rows of shape %v, as in the store", r.dtype, c.Shape)}
	}
	widened := newAhead(r.numbers, c.RowValues()*size, rows)
	for i := range rows {
		if i%every == 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
		var want []byte
		if r.numbers != nil {
			want = widened.row(i, func(i int64) int64 { return r.at(first + i) })
		} else {
			want = c.Row(int(r.at(first + i)))
		}
		if size != wide {
			want = widen(scratch, want, size, wide)
		}
		if got := f.Data[i*int64(len(want)):][:len(want)]; !bytes.Equal(got, want) {
			return &Fault{File: file, Type: r.typ.Name, Local: i, Global: own[0] + i, Found: fmt.Sprintf("%q with the bytes %x", r.name, head(got)), Expected: fmt.Sprintf("%x as row %d of the store", head(want), r.at(first+i))}
		}
	}
	x.count.ComparedRows += rows
	return nil
}

// ahead is rows of a feature in pieces, some of which are widened at a time, which is faster than each by itself.
type ahead struct {
	numbers widening.Write
	width   int
	count   int64 // of all rows
	rows    []uint64
	bytes   []byte
}

// The most rows that are widened at a time, and the bytes that more than one may take.
const (
	mostAhead  = 64
	aheadBytes = 1 << 18
)

// newAhead makes room for rows of width bytes; nil for a column of the store.
func newAhead(numbers widening.Write, width int, count int64) *ahead {
	if numbers == nil {
		return nil
	}
	n := int(max(1, min(mostAhead, count, int64(aheadBytes/max(1, width)))))
	return &ahead{numbers, width, count, make([]uint64, n), make([]byte, n*width)}
}

// row is row i. Rows are asked for one after another; at says where a row is in the store.
func (a *ahead) row(i int64, at func(i int64) int64) []byte {
	n := int64(len(a.rows))
	if i%n == 0 {
		rows := a.rows[:min(n, a.count-i)]
		for k := range rows {
			rows[k] = uint64(at(i + int64(k)))
		}
		a.numbers(a.bytes[:len(rows)*a.width], graph.Index{U64: rows})
	}
	return a.bytes[int(i%n)*a.width:][:a.width]
}

// head returns the first bytes of a row.
func head(b []byte) []byte { return b[:min(len(b), 16)] }

// widen converts unsigned integers of size bytes to wide bytes.
func widen(to, from []byte, size, wide int) []byte {
	clear(to)
	for i := range len(from) / size {
		copy(to[i*wide:], from[i*size:][:size])
	}
	return to
}
