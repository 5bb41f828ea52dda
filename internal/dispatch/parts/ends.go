package parts

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

	"github.com/graphmill/graphmill/format/dgl"
)

// Ends fills Src and Dst. They are the part's own arrays if it has COO. Else they are looked up in the part's rows, with
// 1/16 byte per edge, if the edges lie there in the order of their ids, as edges of one type do in parts that Graphmill
// writes. Other parts take 8 bytes per edge, and one more while Ends runs.
func (p *Part) Ends(ctx context.Context) error {
	r := &p.Graph.Relations[0]
	if r.COO != nil && r.COO.EdgeIDs.Rows() == 0 {
		p.Src, p.Dst = ints(p.graph, r.COO.Src), ints(p.graph, r.COO.Dst)
		return nil
	}
	if p.Nodes > math.MaxUint32 {
		return badf("%s: found %d nodes without COO, expected at most %d; write the parts with COO", p.GraphFile, p.Nodes, uint32(math.MaxUint32))
	}
	if r.COO == nil {
		ordered, err := p.inOrder(ctx)
		if err != nil || ordered {
			return err
		}
	}
	p.Src, p.Dst = Ints{b: make([]byte, 4*p.Edges), dtype: dgl.Uint32}, Ints{b: make([]byte, 4*p.Edges), dtype: dgl.Uint32}
	seen := make([]bool, p.Edges)
	return p.Each(ctx, r.Formats(), func(e Edge) error {
		switch {
		case !p.has(e):
			return p.noNodes(e)
		case e.ID < 0 || e.ID >= p.Edges || seen[e.ID]:
			return badf("%s: found edge id %d twice or out of range, expected each below %d once; the part is damaged; partition the graph again", p.GraphFile, e.ID, p.Edges)
		}
		seen[e.ID] = true
		binary.LittleEndian.PutUint32(p.Src.b[4*e.ID:], uint32(e.Src))
		binary.LittleEndian.PutUint32(p.Dst.b[4*e.ID:], uint32(e.Dst))
		return nil
	})
}

func (p *Part) has(e Edge) bool {
	return e.Src >= 0 && e.Src < p.Nodes && e.Dst >= 0 && e.Dst < p.Nodes
}

func (p *Part) noNodes(e Edge) error {
	return badf("%s: edge %d: found the ends %d and %d, expected ends below %d; the part is damaged; partition the graph again", p.GraphFile, e.ID, e.Src, e.Dst, p.Nodes)
}

// errOrder ends the scan of edges that are not in the order of their ids.
var errOrder = badf("edges in another order")

// inOrder fills Src and Dst from the first matrix of rows, and returns true, if its edges are in the order of their ids.
func (p *Part) inOrder(ctx context.Context) (bool, error) {
	r := &p.Graph.Relations[0]
	m, csc := r.CSR, r.CSC != nil
	if csc {
		m = r.CSC
	}
	if m == nil {
		return false, nil // Each has the error
	}
	at := int64(0)
	err := p.Each(ctx, r.Formats(), func(e Edge) error {
		switch {
		case e.ID != at:
			return errOrder
		case !p.has(e):
			return p.noNodes(e)
		}
		at++
		return nil
	})
	switch {
	case errors.Is(err, errOrder):
		return false, nil
	case err != nil:
		return false, err
	}
	p.Src, p.Dst = Ints{rows: NewRowIndex(p.Nodes, p.Edges, ints(p.graph, m.Indptr).At)}, ints(p.graph, m.Indices)
	if csc {
		p.Src, p.Dst = p.Dst, p.Src
	}
	return true, nil
}
