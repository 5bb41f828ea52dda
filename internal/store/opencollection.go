package store

import (
	"fmt"
	"path/filepath"
	"sort"

	"github.com/graphmill/graphmill/graph"
)

// openCollection maps the arrays of a collection.
func (s *Store) openCollection() error {
	ctx := s.Meta.Context
	if ctx == nil {
		return fmt.Errorf("%s: found no context, expected the number of graphs", MetaFile)
	}
	c := &graph.Collection{Graphs: ctx.Count, SeedType: ctx.SeedType}
	s.Collection = c
	var err error
	if ctx.Arrays["component_ptr"] != "" {
		if c.ComponentPtr, err = s.need(ctx.Arrays, "component_ptr", c.Graphs+1); err != nil {
			return err
		}
	}
	if c.Context, err = s.columns(ctx.Columns, c.Components()); err != nil {
		return err
	}
	if err := s.openSeeds(ctx); err != nil {
		return err
	}
	if file := ctx.Arrays["example_form"]; file != "" {
		if c.ExampleForm, err = s.perGraph(file, "u1", graph.Uint8); err != nil {
			return err
		}
	}
	for name, m := range s.Meta.Nodes {
		n, err := s.openCollectionNodes(name, m)
		if err != nil {
			return err
		}
		c.Nodes = append(c.Nodes, n)
	}
	sort.Slice(c.Nodes, func(i, j int) bool { return c.Nodes[i].Type < c.Nodes[j].Type })
	for name, m := range s.Meta.Edges {
		e, err := s.openCollectionEdges(name, m)
		if err != nil {
			return err
		}
		c.Edges = append(c.Edges, e)
	}
	sort.Slice(c.Edges, func(i, j int) bool { return c.Edges[i].Type.String() < c.Edges[j].Type.String() })
	return nil
}

// openSeeds maps the seeds of the graphs of the collection, and the ends of their negatives.
func (s *Store) openSeeds(ctx *ContextMeta) (err error) {
	c := s.Collection
	if ctx.Arrays["seed_ptr"] != "" {
		if c.SeedPtr, err = s.need(ctx.Arrays, "seed_ptr", c.Graphs+1); err != nil {
			return err
		}
		if c.SeedLocal, err = s.need(ctx.Arrays, "seed_local", last(c.SeedPtr)*max(1, len(c.SeedType))); err != nil {
			return err
		}
	}
	if ctx.Arrays["negative_local"] == "" {
		return nil
	}
	links := last(c.SeedPtr)
	if len(c.SeedType) != 2 || ctx.Negatives < 1 || links > 0 && ctx.Negatives > (1<<60)/links {
		return fmt.Errorf("%s: found %d negatives per seed of %d types, expected at least 1 per link", MetaFile, ctx.Negatives, len(c.SeedType))
	}
	c.Negatives = ctx.Negatives
	c.NegativeLocal, err = s.need(ctx.Arrays, "negative_local", 2*links*c.Negatives)
	return err
}

// components maps the offsets of the nodes or edges of each component, for a type; none where a graph is one component.
func (s *Store) components(arrays map[string]string) (graph.Index, error) {
	if s.Collection.ComponentPtr.Len() == 0 {
		return graph.Index{}, nil
	}
	return s.need(arrays, "component_ptr", s.Collection.Components()+1)
}

func (s *Store) openCollectionNodes(name string, m *NodesMeta) (_ *graph.CollectionNodes, err error) {
	n := &graph.CollectionNodes{Type: name, Count: m.Count}
	if n.GraphPtr, err = s.need(m.Arrays, "graph_ptr", s.Collection.Graphs+1); err != nil {
		return nil, err
	}
	if n.ComponentPtr, err = s.components(m.Arrays); err != nil {
		return nil, err
	}
	if m.Arrays["node_id"] != "" {
		if n.NodeID, err = s.index(m.Arrays["node_id"], m.Count); err != nil {
			return nil, err
		}
	}
	if file := m.Arrays["num_sampled_nodes"]; file != "" {
		if n.NumSampled, err = s.perGraph(file, "u4", graph.Uint32); err != nil {
			return nil, err
		}
	}
	n.Columns, err = s.columns(m.Columns, m.Count)
	return n, err
}

func (s *Store) openCollectionEdges(name string, m *EdgesMeta) (_ *graph.CollectionEdges, err error) {
	e := &graph.CollectionEdges{Count: m.Count}
	if e.Type, err = graph.ParseEdgeType(name); err != nil {
		return nil, err
	}
	if e.GraphPtr, err = s.need(m.Arrays, "graph_ptr", s.Collection.Graphs+1); err != nil {
		return nil, err
	}
	if e.ComponentPtr, err = s.components(m.Arrays); err != nil {
		return nil, err
	}
	for key, x := range map[string]*graph.Index{"src": &e.Src, "dst": &e.Dst} {
		if *x, err = s.need(m.Arrays, key, m.Count); err != nil {
			return nil, err
		}
	}
	if m.Arrays["edge_id"] != "" {
		if e.EdgeID, err = s.index(m.Arrays["edge_id"], m.Count); err != nil {
			return nil, err
		}
	}
	if file := m.Arrays["num_sampled_edges"]; file != "" {
		if e.NumSampled, err = s.perGraph(file, "u4", graph.Uint32); err != nil {
			return nil, err
		}
	}
	e.Columns, err = s.columns(m.Columns, m.Count)
	return e, err
}

// perGraph maps an array with a row of a fixed width per graph of the collection.
func (s *Store) perGraph(name, descr string, dtype graph.DType) (*graph.Column, error) {
	graphs := s.Collection.Graphs
	m, err := s.mapFile(name, true)
	if err != nil {
		return nil, err
	}
	if m.Descr != descr || len(m.Shape) != 2 || m.Shape[0] != graphs {
		return nil, fmt.Errorf("%s: found %s %v, expected %s with %d rows", name, m.Descr, m.Shape, descr, graphs)
	}
	return &graph.Column{Name: filepath.Base(name), DType: dtype, Shape: m.Shape[1:], Rows: graphs, Values: m.data}, nil
}
