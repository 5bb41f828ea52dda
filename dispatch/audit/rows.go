package audit

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/dispatch/parts"
	"github.com/graphmill/graphmill/format/dgl"
)

// features checks that all parts have the same columns. That they have as many rows as
// the part owns is checked where parts are opened.
func (a *auditor) features() error {
	if _, _, err := a.Columns(); err != nil {
		return err
	}
	for _, p := range a.Parts {
		for _, f := range slices.Concat(p.NodeFeats, p.EdgeFeats) {
			a.report.Rows += f.Rows()
		}
	}
	return nil
}

// originals checks that original ids name each node or edge once. Those of edges are
// positions in an input, of which not all must have become edges.
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
			i := n - 1 // the second of the two
			for x.At(i) != beyond[k] {
				i--
			}
			return fault(i, fmt.Sprintf("the original id %d twice", beyond[k]), "each once")
		}
	}
	return nil
}
