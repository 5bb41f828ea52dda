package describing

import (
	"maps"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// Describe describes the contents of a store or collection. It reads the degrees of the nodes.
func Describe(s *store.Store) (*report.Description, error) {
	i := &report.Description{Folder: s.Dir, Kind: s.Meta.Kind, Made: s.Meta.Made, Nodes: []report.NodesDescription{}, Edges: []report.EdgesDescription{}}
	if c := s.Collection; c != nil {
		i.Graphs, i.Context, i.Schema = c.Graphs, operation.DescribeColumns(c.Context), s.Meta.Schema
		if c.ComponentPtr.Len() > 0 {
			i.Components = c.Components()
		}
		for _, n := range c.Nodes {
			i.Nodes = append(i.Nodes, report.NodesDescription{Type: n.Type, Count: n.Count, Columns: operation.DescribeColumns(n.Columns)})
		}
		for _, e := range c.Edges {
			i.Edges = append(i.Edges, report.EdgesDescription{Type: e.Type.String(), Count: e.Count, Columns: operation.DescribeColumns(e.Columns)})
		}
		return i, nil
	}
	i.Segments = s.Added()
	var versions []store.Version
	if len(i.Segments) > 0 {
		var err error
		if versions, err = store.ReadHistory(vfs.OS, s.Dir); err != nil {
			return nil, err
		}
	}
	for _, v := range versions {
		if v.Segments > 0 && v.Segments <= len(i.Segments) {
			i.Segments[v.Segments-1].At, i.Segments[v.Segments-1].Manifest = v.At, v.Manifest
		}
	}
	made, err := features.ReadFile(vfs.OS, s.Dir)
	if err != nil {
		return nil, err
	}
	i.Features = describeFeatures(made)
	i.NotInBatches = operation.NotInBatches(s.Graph, made)
	i.LeftOut = operation.LeftOutText(i.NotInBatches)
	for _, n := range s.Graph.Nodes {
		ni := report.NodesDescription{Type: n.Type, Count: n.Count, Added: n.Added, Columns: operation.DescribeColumns(widening.WithoutPieces(n.Columns))}
		if n.IDs != nil {
			ni.IDs = n.IDs.DType.String()
		}
		i.Nodes = append(i.Nodes, ni)
	}
	for _, e := range s.Graph.Edges {
		ei := report.EdgesDescription{Type: e.Type.String(), Count: e.Count, Primary: e.Primary.String(), Columns: operation.DescribeColumns(widening.WithoutPieces(e.Columns))}
		for _, d := range []graph.Direction{graph.In, graph.Out} {
			if e.Adj[d] != nil {
				ei.Directions = append(ei.Directions, d.String())
			}
		}
		h, _ := operation.Degrees(e, nil) // without a function there is no error
		ei.Degree = &report.DegreeDescription{Mean: h.Mean(), P50: h.Quantile(.5), P90: h.Quantile(.9), P99: h.Quantile(.99), Max: h.Max(), Zeros: h.Zeros()}
		i.Edges = append(i.Edges, ei)
	}
	if c := s.Meta.Context; c != nil {
		i.Context, i.ContextRows = operation.DescribeColumns(s.Graph.Context), c.Count
	}
	for _, e := range s.Graph.Edges {
		i.SamplerBytes += e.Adj[e.Primary].Bytes()
	}
	return i, nil
}

// describeFeatures describes the features of a store, by type and name.
func describeFeatures(made *features.File) (list []report.FeatureDescription) {
	if made == nil {
		return nil
	}
	for _, types := range []map[string]*features.Type{made.Nodes, made.Edges} {
		for _, typ := range slices.Sorted(maps.Keys(types)) {
			for _, name := range slices.Sorted(maps.Keys(types[typ].Features)) {
				f := types[typ].Features[name]
				d := report.FeatureDescription{Type: typ, Name: name, DType: f.DType, Bits: f.Bits, Codes: f.Codes, Rows: types[typ].Rows, Fit: types[typ].Of}
				for _, p := range f.Parts {
					d.Numbers += p.Width
					if from := p.Source(); !slices.Contains(d.From, from) {
						d.From = append(d.From, from)
					}
				}
				if f.Code {
					d.Numbers = 1
				}
				list = append(list, d)
			}
		}
	}
	return list
}
