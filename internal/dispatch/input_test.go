package dispatch

import (
	"encoding/binary"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/partition/assign"
)

// input is a random graph with its assignment, and the same data as plain lists.
type input struct {
	g     *graph.Graph
	a     *assign.Assignment
	edges [][]pair // by edge type and edge id
}

type pair struct{ src, dst int }

// drawInput draws a typed graph: some types have no edges or nodes, some edge types are listed by source, some
// in both directions, some have wide ids.
func drawInput(t *rapid.T) *input {
	in := &input{g: &graph.Graph{}, a: &assign.Assignment{Parts: rapid.IntRange(1, 5).Draw(t, "parts"), Method: "random", Start: []uint64{0}}}
	types := rapid.IntRange(1, 3).Draw(t, "types")
	var total int
	for i := range types {
		n := &graph.Nodes{Type: fmt.Sprintf("t%d", i), Count: rapid.IntRange(0, 30).Draw(t, "nodes")}
		if rapid.Bool().Draw(t, "columns") {
			n.Columns = columns(n.Count, uint64(i+1), 9)
		}
		in.g.Nodes = append(in.g.Nodes, n)
		total += n.Count
		in.a.Types, in.a.Start = append(in.a.Types, n.Type), append(in.a.Start, uint64(total))
	}
	if rapid.Bool().Draw(t, "trainers") {
		in.a.Trainers = rapid.IntRange(1, 3).Draw(t, "trainers of a part")
	}
	for range total {
		k := max(in.a.Trainers, 1)
		x := rapid.IntRange(0, in.a.Parts*k-1).Draw(t, "part")
		in.a.Part = append(in.a.Part, uint16(x/k))
		if in.a.Trainers > 0 {
			in.a.Trainer = append(in.a.Trainer, uint16(x))
		}
	}
	relations := rapid.IntRange(0, 4).Draw(t, "relations")
	for i := range relations {
		src, dst := rapid.IntRange(0, types-1).Draw(t, "src"), rapid.IntRange(0, types-1).Draw(t, "dst")
		e := &graph.Edges{Type: graph.EdgeType{Src: in.g.Nodes[src].Type, Rel: fmt.Sprintf("r%d", i), Dst: in.g.Nodes[dst].Type}}
		if rapid.Bool().Draw(t, "out") {
			e.Primary = graph.Out
		}
		var list []pair
		if ns, nd := in.g.Nodes[src].Count, in.g.Nodes[dst].Count; ns > 0 && nd > 0 {
			list = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pair {
				return pair{rapid.IntRange(0, ns-1).Draw(t, "s"), rapid.IntRange(0, nd-1).Draw(t, "d")}
			}), 0, 60).Draw(t, "edges")
		}
		near := func(p pair) (int, int) {
			if e.Primary == graph.In {
				return p.dst, p.src
			}
			return p.src, p.dst
		}
		slices.SortStableFunc(list, func(a, b pair) int { x, _ := near(a); y, _ := near(b); return x - y })
		e.Count = len(list)
		count := [2]int{graph.In: in.g.Nodes[dst].Count, graph.Out: in.g.Nodes[src].Count}
		wide := rapid.Bool().Draw(t, "wide")
		e.Adj[e.Primary] = adjacency(list, count[e.Primary], e.Primary, false, wide)
		if rapid.Bool().Draw(t, "both") {
			e.Adj[1-e.Primary] = adjacency(list, count[1-e.Primary], 1-e.Primary, true, wide)
		}
		if rapid.Bool().Draw(t, "edge columns") {
			e.Columns = columns(e.Count, uint64(i+100), 9)
		}
		if rapid.Bool().Draw(t, "positions") {
			c := &graph.Column{Name: graph.PositionColumn, DType: graph.Uint32, Rows: e.Count}
			for j := range e.Count {
				c.Values = binary.LittleEndian.AppendUint32(c.Values, uint32(e.Count-1-j))
			}
			e.Columns = append([]*graph.Column{c}, e.Columns...)
		}
		in.g.Edges, in.edges = append(in.g.Edges, e), append(in.edges, list)
	}
	return in
}

// adjacency lists the edges of each node from one end.
func adjacency(list []pair, nodes int, d graph.Direction, ids, wide bool) *graph.Adjacency {
	at := make([][]uint64, nodes) // edge ids
	for e, p := range list {
		near := p.src
		if d == graph.In {
			near = p.dst
		}
		at[near] = append(at[near], uint64(e))
	}
	ptr, far, id := []uint64{0}, []uint64{}, []uint64{}
	for _, es := range at {
		for _, e := range es {
			other := list[e].dst
			if d == graph.In {
				other = list[e].src
			}
			far, id = append(far, uint64(other)), append(id, e)
		}
		ptr = append(ptr, uint64(len(far)))
	}
	index := func(x []uint64) graph.Index {
		if wide {
			return graph.Index{U64: x}
		}
		y := make([]uint32, len(x))
		for i, v := range x {
			y[i] = uint32(v)
		}
		return graph.Index{U32: y}
	}
	a := &graph.Adjacency{Indptr: index(ptr), Far: index(far)}
	if ids {
		a.EdgeID = index(id)
	}
	return a
}

// columns returns at most most columns, one of each width and kind, with values that tell rows apart.
func columns(rows int, salt uint64, most int) []*graph.Column {
	var list []*graph.Column
	kinds := []graph.Column{
		{Name: "b", DType: graph.Bool}, {Name: "bf", DType: graph.BFloat16, Shape: []int{3}}, {Name: "d", DType: graph.Float64, Shape: []int{2}},
		{Name: "f", DType: graph.Float32}, {Name: "u16", DType: graph.Uint16, Shape: []int{2}}, {Name: "u32", DType: graph.Uint32}, {Name: "u64", DType: graph.Uint64},
		{Name: "wide", DType: graph.Int64, Shape: []int{70, 10}},
	}
	for _, c := range kinds[:min(most, len(kinds))] {
		c.Rows = rows
		c.Values = make([]byte, rows*c.RowBytes())
		for i := range c.Values {
			c.Values[i] = byte((uint64(i)*2654435761 + salt*97) >> 3)
			if c.DType == graph.Bool {
				c.Values[i] &= 1
			}
			if c.DType == graph.Uint64 && i%8 == 7 {
				c.Values[i] &= 0x7f
			}
		}
		list = append(list, &c)
	}
	if most <= len(kinds) {
		return list
	}
	list = append(list, &graph.Column{Name: "words", DType: graph.String, Rows: rows, StringOffsets: graph.Index{U64: make([]uint64, rows+1)}})
	return list
}
