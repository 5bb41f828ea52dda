package export

import (
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/store"
)

// weights estimates the bytes of each graph of a collection from the mean size of the rows of each type. Chunks
// follow from the estimates, so they depend on the graphs alone.
type weights struct {
	graphs int
	nodes  []weight
	edges  []weight
	joined int64 // bytes of the joined columns of a store
}

type weight struct {
	ptr   graph.Index
	width int64 // bytes of a row
}

// newWeights measures a collection, joined with a store and its features if joined is not nil.
func newWeights(s, joined *store.Store, features *widening.Features) (*weights, error) {
	c := s.Collection
	w := &weights{graphs: c.Graphs}
	width := func(own []*graph.Column, rows int, of []*widening.Column, all int) int64 {
		n := int64(0)
		for _, c := range own {
			n += c.Bytes() / int64(max(rows, 1))
		}
		for _, c := range of {
			n += c.RowsBytes() / int64(max(all, 1))
			w.joined += c.StoredBytes() + c.NumberBytes()
		}
		return n
	}
	for _, n := range c.Nodes {
		var of []*widening.Column
		all := 0
		if joined != nil {
			if i := joined.Graph.NodeType(n.Type); i >= 0 {
				t := joined.Graph.Nodes[i]
				var err error
				if of, err = features.Nodes(t); err != nil {
					return nil, err
				}
				all = t.Count
			}
		}
		w.nodes = append(w.nodes, weight{n.GraphPtr, width(n.Columns, n.Count, of, all)})
	}
	for _, e := range c.Edges {
		var of []*widening.Column
		all := 0
		if joined != nil {
			if i, err := joined.Graph.EdgeType(e.Type.String()); err == nil {
				t := joined.Graph.Edges[i]
				if of, err = features.Edges(t); err != nil {
					return nil, err
				}
				all = t.Count
			}
		}
		w.edges = append(w.edges, weight{e.GraphPtr, 8 + width(e.Columns, e.Count, of, all)})
	}
	return w, nil
}

// sizes returns the numbers of nodes and edges of a graph.
func (w *weights) sizes(g int) (nodes, edges uint64) {
	for i := range w.nodes {
		nodes += w.nodes[i].ptr.At(g+1) - w.nodes[i].ptr.At(g)
	}
	for i := range w.edges {
		edges += w.edges[i].ptr.At(g+1) - w.edges[i].ptr.At(g)
	}
	return nodes, edges
}

// of estimates the bytes of a graph.
func (w *weights) of(g int) int64 {
	n := int64(64)
	for _, list := range [][]weight{w.nodes, w.edges} {
		for i := range list {
			n += int64(list[i].ptr.At(g+1)-list[i].ptr.At(g)) * list[i].width
		}
	}
	return n
}

// end returns the end of the chunk that begins at a graph.
func (w *weights) end(first int) int {
	end := first
	for n := int64(0); end < w.graphs && end < first+chunkGraphs && n < chunkBytes; end++ {
		n += w.of(end)
	}
	return end
}
