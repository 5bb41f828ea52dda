package generate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
)

// A Shape is the published size of a data set: how many nodes and edges it has of each type, how wide its features are, and how its nodes are split. It says nothing about which
// edges there are.
type Shape struct {
	Name  string
	Nodes []NodeShape
	Edges []EdgeShape
}

// NodeShape is a node type of a Shape.
type NodeShape struct {
	Type     string
	Count    uint64
	Features int // values of the features of a node; 0: the data set has none
	Classes  int // 0: without labels
	// Train, Valid and Test are the numbers of nodes of the split. The others have no label.
	Train, Valid, Test uint64
}

// Labelled is the number of nodes with a label.
func (n *NodeShape) Labelled() uint64 { return n.Train + n.Valid + n.Test }

// EdgeShape is an edge type of a Shape.
type EdgeShape struct {
	Type graph.EdgeType
	// Rows is the number of edges as the data set lists them: of an undirected one each pair once.
	Rows       uint64
	Undirected bool
	// Largest is the largest degree that is published; 0: none is.
	Largest uint64
}

// leastNodes is the smallest number of nodes of a type after a division.
const leastNodes = 16

// Shapes are the names of the shapes, in the order of the table.
func Shapes() (names []string) {
	for i := range shapes {
		names = append(names, shapes[i].Name)
	}
	return names
}

// ShapeOf returns the shape of NAME or NAME/K, where K divides all counts and leaves widths and classes as they are. The prefix ogbn- of a name can be left out.
func ShapeOf(text string) (*Shape, error) {
	name, by, divided := strings.Cut(text, "/")
	at := slices.IndexFunc(shapes, func(s Shape) bool {
		return strings.EqualFold(s.Name, name) || strings.EqualFold(s.Name, "ogbn-"+name)
	})
	if at < 0 {
		return nil, fmt.Errorf("found the name %q, expected one of %s", name, strings.Join(Shapes(), ", "))
	}
	s := shapes[at].clone()
	if !divided {
		return s, nil
	}
	most := s.mostDivisor()
	k, err := strconv.ParseUint(by, 10, 64)
	if err != nil || k < 1 || k > most {
		return nil, fmt.Errorf("found the divisor %q of %s, expected a whole number from 1 to %d", by, s.Name, most)
	}
	s.divide(k)
	return s, nil
}

func (s *Shape) clone() *Shape {
	return &Shape{Name: s.Name, Nodes: slices.Clone(s.Nodes), Edges: slices.Clone(s.Edges)}
}

// mostDivisor is the largest divisor that leaves something of each count.
func (s *Shape) mostDivisor() uint64 {
	most := uint64(math.MaxUint64)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		most = min(most, n.Count/leastNodes)
		if n.Classes > 0 {
			most = min(most, n.Train, n.Valid, n.Test)
		}
	}
	for i := range s.Edges {
		most = min(most, s.Edges[i].Rows)
	}
	return most
}

// divide divides all counts by k. The largest degree falls with k^(3/4), as it grows with the number of nodes in graphs of one family.
func (s *Shape) divide(k uint64) {
	if k == 1 {
		return
	}
	s.Name += "/" + strconv.FormatUint(k, 10)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for _, x := range []*uint64{&n.Count, &n.Train, &n.Valid, &n.Test} {
			*x /= k
		}
	}
	root := math.Sqrt(float64(k))
	fall := float64(root * math.Sqrt(root))
	for i := range s.Edges {
		e := &s.Edges[i]
		e.Rows /= k
		e.Largest = uint64(float64(e.Largest) / fall)
	}
}

// Symmetrise adds the reverse of each edge of the types between nodes of one type. It returns an error if there is no such edge type.
func (s *Shape) Symmetrise() error {
	found := false
	for i := range s.Edges {
		if e := &s.Edges[i]; e.Type.Src == e.Type.Dst {
			e.Undirected, found = true, true
		}
	}
	if !found {
		return errors.New("found no edge type between nodes of one type, expected one; leave it out")
	}
	return nil
}

// Node returns the node type of a name.
func (s *Shape) Node(typ string) *NodeShape {
	return &s.Nodes[slices.IndexFunc(s.Nodes, func(n NodeShape) bool { return n.Type == typ })]
}
