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
	for _, x := range []struct {
		types []dgl.TypeRanges
		of    func(p *parts.Part) ([]parts.Feature, string)
	}{
		{a.Config.Nodes, func(p *parts.Part) ([]parts.Feature, string) { return p.NodeFeats, p.NodeFile }},
		{a.Config.Edges, func(p *parts.Part) ([]parts.Feature, string) { return p.EdgeFeats, p.EdgeFile }},
	} {
		type first struct {
			parts.Feature
			file string
		}
		seen := map[string]first{}
		var names []string
		for _, p := range a.Parts {
			list, file := x.of(p)
			for _, f := range list {
				a.report.Rows += f.Rows()
				if f.Rows() == 0 { // DGL gives these any shape
					continue
				}
				name := f.Array.Name
				have, ok := seen[name]
				if !ok {
					seen[name] = first{f, file}
					names = append(names, name)
				} else if have.DType != f.DType || !slices.Equal(have.RowShape(), f.RowShape()) {
					return &Fault{File: file, Type: x.types[f.Type].Name, Local: -1, Global: -1, Found: fmt.Sprintf("%q of %s with rows of shape %v", name, f.DType, f.RowShape()),
						Expected: fmt.Sprintf("%s with rows of shape %v as in %s", have.DType, have.RowShape(), have.file)}
				}
			}
		}
		for _, p := range a.Parts {
			list, file := x.of(p)
			for _, name := range names {
				t := seen[name].Type
				r := x.types[t].Ranges[p.Index]
				if r[0] < r[1] && !slices.ContainsFunc(list, func(f parts.Feature) bool { return f.Array.Name == name }) {
					return &Fault{File: file, Type: x.types[t].Name, Local: -1, Global: -1, Found: fmt.Sprintf("no tensor %q", name), Expected: fmt.Sprintf("the %d rows of the part, as %s has its own", r[1]-r[0], seen[name].file)}
				}
			}
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
