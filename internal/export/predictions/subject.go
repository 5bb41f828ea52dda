package predictions

import (
	"fmt"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/sample/condition"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// subject is the nodes, edges or pairs of nodes that the arrays have rows of: one of nodes, edges and pair is set.
type subject struct {
	store   *store.Store
	nodes   *graph.Nodes
	edges   *graph.Edges
	pair    [2]*graph.Nodes // of sources and targets
	columns []*widening.Column
}

// findSubject finds a type of a store.
func findSubject(fsys vfs.FS, s *store.Store, name string) (*subject, error) {
	g := s.Graph
	if name == "" && len(g.Nodes) == 1 {
		name = g.Nodes[0].Type
	}
	x := &subject{store: s}
	features, err := widening.Read(fsys, s.Dir)
	if err != nil {
		return nil, err
	}
	if i := g.NodeType(name); i >= 0 {
		x.nodes = g.Nodes[i]
		x.columns, err = features.Nodes(x.nodes)
		return x, err
	}
	if src, dst, ok := strings.Cut(name, ":"); ok && g.NodeType(src) >= 0 && g.NodeType(dst) >= 0 {
		x.pair = [2]*graph.Nodes{g.Nodes[g.NodeType(src)], g.Nodes[g.NodeType(dst)]}
		return x, nil
	}
	if name != "" && (strings.Contains(name, ":") || relations(g, name) > 0) {
		i, err := g.EdgeType(name)
		if err != nil {
			return nil, usagef("%s: `Type`: %w", s.Dir, err)
		}
		x.edges = g.Edges[i]
		x.columns, err = features.Edges(x.edges)
		return x, err
	}
	var known []string
	for _, n := range g.Nodes {
		known = append(known, n.Type)
	}
	for _, e := range g.Edges {
		known = append(known, e.Type.String())
	}
	if name == "" {
		return nil, usagef("%s: found no `Type`, expected the one that the arrays have rows of; give one of %s", s.Dir, strings.Join(known, ", "))
	}
	return nil, usagef("%s: found no type %q, expected one of %s%s", s.Dir, name, strings.Join(known, ", "), suggest.Hint(name, known))
}

// relations is the number of edge types with a relation.
func relations(g *graph.Graph, name string) (n int) {
	for _, e := range g.Edges {
		if e.Type.Rel == name {
			n++
		}
	}
	return n
}

// name is the name of the type.
func (x *subject) name() string {
	switch {
	case x.edges != nil:
		return x.edges.Type.String()
	case x.pair[0] != nil:
		return x.pair[0].Type + ":" + x.pair[1].Type
	}
	return x.nodes.Type
}

// kind is the word for one row: "node", "edge" or "pair".
func (x *subject) kind() string {
	switch {
	case x.edges != nil:
		return "edge"
	case x.pair[0] != nil:
		return "pair"
	}
	return "node"
}

// count is the number of nodes or edges, not of pairs.
func (x *subject) count() int {
	if x.edges != nil {
		return x.edges.Count
	}
	return x.nodes.Count
}

// column is a column of the type by its name. field is the option that names it.
func (x *subject) column(field, name string) (*widening.Column, error) {
	var known []string
	for _, c := range x.columns {
		if c.Name == name {
			return c, nil
		}
		if !strings.HasPrefix(c.Name, "#") {
			known = append(known, c.Name)
		}
	}
	list := strings.Join(known, ", ")
	if list == "" {
		list = "none"
	}
	return nil, usagef("`%s`: found no column %q of %s type %s, expected one of %s%s", field, name, x.kind(), x.name(), list, suggest.Hint(name, known))
}

// matching is the test of a condition on the nodes or edges; nil without a condition.
func (x *subject) matching(text string) (func(row int) bool, error) {
	if text == "" {
		return nil, nil
	}
	if !strings.Contains(text, "=") {
		return nil, usagef("found `Rows` %q, expected COLUMN=VALUE, such as split=test", text)
	}
	var columns []*graph.Column
	for _, c := range x.columns {
		if !c.Wide() {
			columns = append(columns, c.Column)
		}
	}
	match, err := condition.Matching(x.kind()+" type "+x.name(), columns, text)
	if err != nil {
		return nil, usagef("`Rows`: %w", err)
	}
	return match, nil
}

// end is the node type of an end of the edges.
func (x *subject) end(name string) (*graph.Nodes, error) {
	i := x.store.Graph.NodeType(name)
	if i < 0 {
		return nil, fmt.Errorf("%s: found no node type %q, expected it in a store with edges %s; graphmill verify finds damage", x.store.Dir, name, x.name())
	}
	return x.store.Graph.Nodes[i], nil
}

// ends finds the ends of edges. It remembers the near node of the last edge, as edges mostly come in their order.
type ends struct {
	edges *graph.Edges
	near  int
}

// of returns the source and the destination of an edge.
func (x *ends) of(id uint64) (src, dst uint64) {
	a := x.edges.Adj[x.edges.Primary]
	for range 4 {
		if x.near+1 >= a.Indptr.Len() || a.Indptr.At(x.near) > id {
			break
		}
		if id < a.Indptr.At(x.near+1) {
			far := a.Far.At(int(id))
			if x.edges.Primary == graph.In {
				return far, uint64(x.near)
			}
			return uint64(x.near), far
		}
		x.near++
	}
	if src, dst = x.edges.Ends(int(id)); x.edges.Primary == graph.In {
		x.near = int(dst)
	} else {
		x.near = int(src)
	}
	return src, dst
}
