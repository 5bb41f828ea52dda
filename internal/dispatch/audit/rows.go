package audit

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/dispatch/parts"
)

// features checks that all parts have the same columns, and that bools are 0 or 1. The number of rows is
// checked when the parts are opened.
func (a *auditor) features() error {
	nodes, edges, err := a.Columns()
	if err != nil {
		return err
	}
	if err := a.bools(a.Config.Nodes, nodes, func(p *parts.Part) string { return p.NodeFile }); err != nil {
		return err
	}
	if err := a.bools(a.Config.Edges, edges, func(p *parts.Part) string { return p.EdgeFile }); err != nil {
		return err
	}
	a.gaps(nodes, edges)
	for _, p := range a.Parts {
		for _, f := range slices.Concat(p.NodeFeats, p.EdgeFeats) {
			a.report.Rows += f.Rows()
		}
	}
	return nil
}

// bools checks that the bytes of bool columns are 0 or 1.
func (a *auditor) bools(types []dgl.TypeRanges, columns [][]parts.Column, file func(p *parts.Part) string) error {
	for t := range types {
		for _, c := range columns[t] {
			if c.DType != dgl.Bool {
				continue
			}
			for _, p := range a.Parts {
				data := c.Data[p.Index]
				if i := slices.IndexFunc(data, func(b byte) bool { return b > 1 }); i >= 0 {
					rows := types[t].Ranges[p.Index][1] - types[t].Ranges[p.Index][0]
					row := int64(i) / (int64(len(data)) / rows)
					return &Fault{File: file(p), Type: types[t].Name, Local: row, Global: types[t].Ranges[p.Index][0] + row, Found: fmt.Sprintf("the value %d in %q", data[i], c.Name), Expected: "0 or 1, as it is a bool"}
				}
			}
		}
	}
	return nil
}

// gaps notes the parts with which DGL's server does not start.
func (a *auditor) gaps(nodes, edges [][]parts.Column) {
	for _, gap := range parts.Gaps(a.Config, func(t int) bool { return len(nodes[t]) > 0 }, func(t int) bool { return len(edges[t]) > 0 }) {
		a.report.Notes = append(a.report.Notes, gap+"; "+parts.GapsMeaning)
	}
}

// originals checks that each original id occurs once. Original ids of edges are positions in an input; not
// every row of it must have become an edge, so these ids may be larger than the number of edges.
func (a *auditor) originals(ctx context.Context, types []dgl.TypeRanges, ids []parts.Pieces) error {
	for t := range ids {
		x := &ids[t]
		n := x.Len()
		fault := func(i int64, found, expected string) error {
			return &Fault{File: x.File(i), Type: types[t].Name, Local: i, Global: -1, Found: found, Expected: expected}
		}
		seen := newBitmap(n)
		var beyond []int64
		for i := range n {
			if i%every == 0 {
				if err := context.Cause(ctx); err != nil {
					return err
				}
			}
			switch id := x.At(i); {
			case id < 0:
				return fault(i, fmt.Sprintf("the original id %d", id), "at least 0")
			case id >= n:
				beyond = append(beyond, id)
			case !seen.add(id):
				return fault(i, fmt.Sprintf("the original id %d twice", id), "each once")
			}
		}
		if beyond == nil {
			continue
		}
		if &types[0] == &a.Config.Nodes[0] {
			i := int64(0)
			for x.At(i) < n {
				i++
			}
			return fault(i, fmt.Sprintf("the original id %d", x.At(i)), fmt.Sprintf("each below %d once", n))
		}
		slices.Sort(beyond)
		for k := 1; k < len(beyond); k++ {
			if beyond[k] != beyond[k-1] {
				continue
			}
			i := n - 1 // the second of the two positions
			for x.At(i) != beyond[k] {
				i--
			}
			return fault(i, fmt.Sprintf("the original id %d twice", beyond[k]), "each once")
		}
	}
	return nil
}
