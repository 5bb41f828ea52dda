package collection

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Shape is the shape of every padded pack of a layout. It includes the padding, which has at least a node of
// each type and a graph.
type Shape struct {
	Graphs int            `json:"graphs"`
	Nodes  map[string]int `json:"nodes"`
	Edges  map[string]int `json:"edges"` // by "src:rel:dst"
}

// NewShape returns the shape of padded packs. The limits must name every node type and edge type, or num_nodes
// and num_edges if there is only one. For a layout without a reserve, the padding comes on top of the limits.
func NewShape(l *layout.Layout, c *graph.Collection) (*Shape, error) {
	s := &Shape{Graphs: l.Problem.MaxGraphs, Nodes: map[string]int{}, Edges: map[string]int{}}
	if s.Graphs == 0 {
		_, s.Graphs = l.Packing.Used(l.Problem.Histogram)
	}
	s.Graphs++
	var missing []string
	limit := func(prefix, name string, types int, names ...string) int {
		if types == 1 {
			names = append(names, "")
		}
		for _, n := range names {
			want := prefix
			if n != "" {
				want += ":" + n
			}
			if i := slices.Index(l.Meta.Components, want); i >= 0 {
				return l.Problem.Limits[i]
			}
		}
		missing = append(missing, prefix+":"+name)
		return 0
	}
	for _, n := range c.Nodes {
		s.Nodes[n.Type] = limit("num_nodes", n.Type, len(c.Nodes), n.Type) + 1
	}
	relations := map[string]int{}
	for _, e := range c.Edges {
		relations[e.Type.Rel]++
	}
	for _, e := range c.Edges {
		names := []string{e.Type.String()}
		if relations[e.Type.Rel] == 1 {
			names = append(names, e.Type.Rel)
		}
		s.Edges[e.Type.String()] = limit("num_edges", e.Type.String(), len(c.Edges), names...)
	}
	if len(missing) > 0 {
		return nil, tagged.Errorf(layout.ErrLayout, "found limits of %s, expected one for each type, for arrays of fixed shape; pack again with a limit for %s", strings.Join(l.Meta.Components, ", "), strings.Join(missing, ", "))
	}
	sizes := slices.Concat([]int{s.Graphs}, slices.Collect(maps.Values(s.Nodes)), slices.Collect(maps.Values(s.Edges)))
	if n := slices.Max(sizes); n > math.MaxInt32 {
		return nil, tagged.Errorf(layout.ErrLayout, "found a limit of %d with the padding, expected at most 2^31 - 1, for arrays of int32; make a layout with lower limits", n)
	}
	return s, nil
}
