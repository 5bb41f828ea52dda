// Package picked reads what people look at: a small store, or a few subgraphs of a collection, as lists of nodes and edges. Pictures and the formats of
// programs that draw are made of it.
//
// Nodes are in the order of the subgraphs, of the types, and of the nodes of each; edges likewise. A sampled collection holds its columns by reference: the
// store that it was sampled from has them, and the original ids.
package picked

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
)

// ErrLarge is the kind of errors about graphs beyond the limits, for errors.Is.
var ErrLarge = errors.New("a graph that is too large")

// ErrUsage is the kind of errors about options, for errors.Is.
var ErrUsage = errors.New("options that mean nothing together")

// NodeType is a type of nodes. Row numbers of IDs and Columns are those of Node.Row.
type NodeType struct {
	Type    string
	IDs     *graph.Column // nil where nodes have numbers alone
	Columns []*graph.Column

	rows int // of the store; 0 without one
}

// EdgeType is a type of edges. Row numbers of Columns are those of Edge.Row.
type EdgeType struct {
	Type    graph.EdgeType
	Columns []*graph.Column

	rows int // of the store; 0 without one
}

// Node is a node of a subgraph.
type Node struct {
	Subgraph int
	Type     int    // in Graph.NodeTypes
	Number   uint64 // in the store; without one, in its subgraph
	Row      int    // of the columns
	Hop      int    // in which it was found, 0 for seeds; -1 where that is not known
	Seed     bool
}

// Edge is an edge of a subgraph.
type Edge struct {
	Type           int // in Graph.EdgeTypes
	Source, Target int // in Graph.Nodes
	Number         uint64
	Row            int
}

// Graph is the part of a store, or the subgraphs, that are written to one file.
type Graph struct {
	NodeTypes []NodeType
	EdgeTypes []EdgeType
	Nodes     []Node
	Edges     []Edge
	Sampled   bool // it has seeds
	// Collection says that it is from a collection.
	Collection bool

	made *attributes // of NodeLink
}

// Limits bound what is picked.
type Limits struct{ Nodes, Edges int }

// check refuses what is larger. what is picked, and do says what to do about it.
func (l Limits) check(what string, nodes, edges uint64, do string) error {
	switch {
	case nodes > uint64(l.Nodes):
		return tagged.Errorf(ErrLarge, "%s: found %s nodes, expected at most %s; %s", what, human.Exact(int64(nodes)), human.Exact(int64(l.Nodes)), do)
	case edges > uint64(l.Edges):
		return tagged.Errorf(ErrLarge, "%s: found %s edges, expected at most %s; %s", what, human.Exact(int64(edges)), human.Exact(int64(l.Edges)), do)
	}
	return nil
}

// Fits refuses a store that is larger than the limits.
func Fits(s *store.Store, most Limits) error {
	var nodes, edges uint64
	for _, n := range s.Graph.Nodes {
		nodes += uint64(n.Count)
	}
	for _, e := range s.Graph.Edges {
		edges += uint64(e.Count)
	}
	return most.check(s.Dir, nodes, edges, "sample a part of it with graphmill sample, such as batches of 4 seeds with the fanout 5,3, and give that")
}

// Store reads a store, which has been checked.
func Store(s *store.Store, most Limits) (*Graph, error) {
	if err := Fits(s, most); err != nil {
		return nil, err
	}
	x := &Graph{}
	first := map[string]int{}
	for t, n := range s.Graph.Nodes {
		first[n.Type] = len(x.Nodes)
		x.NodeTypes = append(x.NodeTypes, NodeType{Type: n.Type, IDs: n.IDs, Columns: plain(n.Columns)})
		for i := range n.Count {
			x.Nodes = append(x.Nodes, Node{Type: t, Number: uint64(i), Row: i, Hop: -1})
		}
	}
	for t, e := range s.Graph.Edges {
		x.EdgeTypes = append(x.EdgeTypes, EdgeType{Type: e.Type, Columns: plain(e.Columns)})
		for id := range e.Count {
			src, dst := e.Ends(id)
			x.Edges = append(x.Edges, Edge{t, first[e.Type.Src] + int(src), first[e.Type.Dst] + int(dst), uint64(id), id})
		}
	}
	return x, nil
}

// plain are columns without those that the product adds.
func plain(columns []*graph.Column) (out []*graph.Column) {
	for _, c := range columns {
		if !strings.HasPrefix(c.Name, "#") {
			out = append(out, c)
		}
	}
	return out
}

// Subgraphs reads graphs of a collection, of which nil are all. from is the store that it was sampled from; nil leaves out ids and columns.
func Subgraphs(s, from *store.Store, which []int, most Limits) (*Graph, error) {
	c := s.Collection
	x := &Graph{Sampled: len(c.SeedType) > 0, Collection: true}
	if err := x.addTypes(c, from); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Dir, err)
	}
	var nodes, edges uint64
	if which == nil {
		which = make([]int, min(c.Graphs, most.Nodes+1))
		for g := range which {
			which[g] = g
		}
	}
	for i, g := range which {
		if slices.Contains(which[:min(i, mostNamed)], g) {
			return nil, tagged.Errorf(ErrUsage, "found subgraph %d twice, expected each once; give it once", g)
		}
		if g < 0 || g >= c.Graphs {
			return nil, tagged.Errorf(ErrUsage, "%s: found subgraph %d, expected 0 to %d", s.Dir, g, c.Graphs-1)
		}
		for _, n := range c.Nodes {
			nodes += n.GraphPtr.At(g+1) - n.GraphPtr.At(g)
		}
		for _, e := range c.Edges {
			edges += e.GraphPtr.At(g+1) - e.GraphPtr.At(g)
		}
		what := fmt.Sprintf("%s: subgraph %d", s.Dir, g)
		if len(which) > 1 {
			what = fmt.Sprintf("%s: subgraphs to %d", s.Dir, g)
		}
		if err := most.check(what, nodes, edges, "give fewer, or sample smaller ones with graphmill sample, such as batches of 4 seeds with the fanout 5,3"); err != nil {
			return nil, err
		}
	}
	for _, g := range which {
		if err := x.add(c, g); err != nil {
			return nil, fmt.Errorf("%s: subgraph %d: %w", s.Dir, g, err)
		}
	}
	return x, nil
}

// mostNamed is how many subgraphs are compared with each other.
const mostNamed = 1000

// addTypes adds the types of a collection, with the columns of the store.
func (x *Graph) addTypes(c *graph.Collection, from *store.Store) error {
	for _, n := range c.Nodes {
		t := NodeType{Type: n.Type, Columns: plain(n.Columns)}
		if n.NodeID.Len() > 0 || n.Count == 0 {
			t.Columns = nil // of the store
		}
		if from != nil {
			i := from.Graph.NodeType(n.Type)
			if i < 0 {
				return fmt.Errorf("found node type %s, which the store %s lacks; give the store that was sampled", n.Type, from.Dir)
			}
			t.IDs, t.Columns = from.Graph.Nodes[i].IDs, plain(from.Graph.Nodes[i].Columns)
			t.rows = from.Graph.Nodes[i].Count
		}
		x.NodeTypes = append(x.NodeTypes, t)
	}
	for _, e := range c.Edges {
		t := EdgeType{Type: e.Type, Columns: plain(e.Columns)}
		if e.EdgeID.Len() > 0 || e.Count == 0 {
			t.Columns = nil
		}
		if from != nil {
			i, err := from.Graph.EdgeType(e.Type.String())
			if err != nil {
				return fmt.Errorf("%w; give the store that was sampled", err)
			}
			t.Columns = plain(from.Graph.Edges[i].Columns)
			t.rows = from.Graph.Edges[i].Count
		}
		x.EdgeTypes = append(x.EdgeTypes, t)
	}
	return nil
}

// add adds a graph of a collection.
func (x *Graph) add(c *graph.Collection, g int) error {
	first := make([]int, len(c.Nodes)) // of each type, in Nodes
	count := make([]int, len(c.Nodes))
	for t, n := range c.Nodes {
		from, to := int(n.GraphPtr.At(g)), int(n.GraphPtr.At(g+1))
		if from > to || to > n.Count {
			return fmt.Errorf("found nodes %d to %d of %s, expected them among %d; graphmill verify finds damage", from, to, n.Type, n.Count)
		}
		first[t], count[t] = len(x.Nodes), to-from
		hops := newHops(n, g)
		for i := from; i < to; i++ {
			node := Node{Subgraph: g, Type: t, Number: uint64(i - from), Row: i, Hop: hops.of(i - from)}
			if n.NodeID.Len() > 0 {
				node.Number = n.NodeID.At(i)
				node.Row = int(node.Number)
			}
			if rows := x.NodeTypes[t].rows; rows > 0 && node.Row >= rows {
				return fmt.Errorf("found node %d of %s, which the store lacks; give the store that was sampled", node.Number, n.Type)
			}
			x.Nodes = append(x.Nodes, node)
		}
	}
	typeOf := func(name string) int {
		return slices.IndexFunc(c.Nodes, func(n *graph.CollectionNodes) bool { return n.Type == name })
	}
	if x.Sampled {
		from, to := int(c.SeedPtr.At(g)), int(c.SeedPtr.At(g+1))
		k := len(c.SeedType)
		for i := k * from; i < k*to; i++ {
			t := typeOf(c.SeedType[i%k])
			if t < 0 || i >= c.SeedLocal.Len() || c.SeedLocal.At(i) >= uint64(count[t]) {
				return fmt.Errorf("found seed %d outside the nodes of %s", i, c.SeedType[i%k])
			}
			x.Nodes[first[t]+int(c.SeedLocal.At(i))].Seed = true
		}
	}
	for t, e := range c.Edges {
		from, to := int(e.GraphPtr.At(g)), int(e.GraphPtr.At(g+1))
		src, dst := typeOf(e.Type.Src), typeOf(e.Type.Dst)
		if from > to || to > e.Count {
			return fmt.Errorf("found edges %d to %d of %s, expected them among %d; graphmill verify finds damage", from, to, e.Type, e.Count)
		}
		for i := from; i < to; i++ {
			if src < 0 || dst < 0 || e.Src.At(i) >= uint64(count[src]) || e.Dst.At(i) >= uint64(count[dst]) {
				return fmt.Errorf("found an edge of %s outside the nodes", e.Type)
			}
			edge := Edge{t, first[src] + int(e.Src.At(i)), first[dst] + int(e.Dst.At(i)), uint64(i - from), i}
			if e.EdgeID.Len() > 0 {
				edge.Number = e.EdgeID.At(i)
				edge.Row = int(edge.Number)
			}
			if rows := x.EdgeTypes[t].rows; rows > 0 && edge.Row >= rows {
				return fmt.Errorf("found edge %d of %s, which the store lacks; give the store that was sampled", edge.Number, e.Type)
			}
			x.Edges = append(x.Edges, edge)
		}
	}
	return nil
}

// hops tells in which hop a node was found, by the number of nodes that each hop found; empty if that is not known.
type hops []uint32

func newHops(n *graph.CollectionNodes, g int) hops {
	if n.NumSampled == nil || len(n.NumSampled.Shape) != 1 || n.NumSampled.DType != graph.Uint32 {
		return nil
	}
	return graph.View[uint32](n.NumSampled.Row(g))
}

// of is the hop of a node of the type in its graph.
func (h hops) of(node int) int {
	for hop, n := range h {
		if node < int(n) {
			return hop
		}
		node -= int(n)
	}
	return -1
}
