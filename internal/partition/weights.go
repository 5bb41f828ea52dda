package partition

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/store"
)

// constraints are the quantities to be spread evenly, each with a weight per node.
type constraints struct {
	names []string
	// fill adds the weights of constraint c to a slice, one per node, stride apart.
	fill  []func(weights []uint32, stride int) error
	notes []string
}

// maxConstraints is the largest number of constraints: each costs memory and makes the others harder to meet.
const maxConstraints = 32

func newConstraints(s *store.Store, b Balance) (*constraints, error) {
	c := &constraints{}
	starts := undirected.Starts(s.Graph)
	if b.Edges {
		if slices.ContainsFunc(s.Graph.Edges, func(e *graph.Edges) bool { return e.Count > 0 }) {
			c.add("in-degree", func(w []uint32, stride int) error { return inDegrees(s, starts, w, stride) })
		} else {
			c.notes = append(c.notes, "the graph has no edges, so in-degrees are not balanced")
		}
	}
	for _, name := range b.Columns {
		if err := c.column(s, starts, name); err != nil {
			return nil, err
		}
	}
	if len(c.names) >= maxConstraints {
		return nil, usagef("%s: found %d constraints in addition to the nodes, expected at most %d: %s; balance fewer columns or types", s.Dir, len(c.names), maxConstraints-1, strings.Join(c.names, ", "))
	}
	nodes := &constraints{}
	if typed := nonEmpty(s.Graph); len(typed) > 1 && !b.TypesTogether {
		nodes.types(s.Graph, typed, maxConstraints-len(c.names))
	} else {
		nodes.add("nodes", func(w []uint32, stride int) error {
			for i := 0; i < len(w); i += stride {
				w[i] = 1
			}
			return nil
		})
	}
	return &constraints{append(nodes.names, c.names...), append(nodes.fill, c.fill...), append(nodes.notes, c.notes...)}, nil
}

// NodeWeights returns the number of quantities to be spread evenly, and the weights of the nodes of a store; nil: all weigh 1.
func NodeWeights(s *store.Store, b Balance) (constraints int, weights []uint32, err error) {
	c, err := newConstraints(s, b)
	if err != nil {
		return 0, nil, err
	}
	n := undirected.Starts(s.Graph)[len(s.Graph.Nodes)]
	weights, err = c.weights(int(n))
	return len(c.names), weights, err
}

// nonEmpty lists the node types that have nodes.
func nonEmpty(g *graph.Graph) (types []int) {
	for t, n := range g.Nodes {
		if n.Count > 0 {
			types = append(types, t)
		}
	}
	return types
}

// types adds a constraint for the nodes of each type. If there are more types than room, the smallest types
// share a constraint.
func (c *constraints) types(g *graph.Graph, typed []int, room int) {
	starts := undirected.Starts(g)
	of := func(types ...int) func(w []uint32, stride int) error {
		return func(w []uint32, stride int) error {
			for _, t := range types {
				for v := starts[t]; v < starts[t+1]; v++ {
					w[int(v)*stride] = 1
				}
			}
			return nil
		}
	}
	var rest []int
	if len(typed) > room {
		bySize := slices.Clone(typed)
		slices.SortStableFunc(bySize, func(a, b int) int { return cmp.Compare(g.Nodes[b].Count, g.Nodes[a].Count) })
		rest = bySize[room-1:]
		c.notes = append(c.notes, fmt.Sprintf("found %d node types, of which %d can be balanced one by one: the %d smallest are balanced together", len(typed), room-1, len(rest)))
	}
	for _, t := range typed {
		if !slices.Contains(rest, t) {
			c.add("nodes of "+g.Nodes[t].Type, of(t))
		}
	}
	if len(rest) > 0 {
		c.add(fmt.Sprintf("nodes of %d other types", len(rest)), of(rest...))
	}
}

func (c *constraints) add(name string, fill func(weights []uint32, stride int) error) {
	c.names, c.fill = append(c.names, name), append(c.fill, fill)
}

// unit reports whether the only constraint is the number of nodes.
func (c *constraints) unit() bool { return len(c.names) == 1 && c.names[0] == "nodes" }

// weights returns the weights of n nodes, nil if all weigh 1.
func (c *constraints) weights(n int) ([]uint32, error) {
	if c.unit() {
		return nil, nil
	}
	w := make([]uint32, n*len(c.names))
	if n > 0 {
		for i, fill := range c.fill {
			if err := fill(w[i:], len(c.names)); err != nil {
				return nil, err
			}
		}
	}
	return w, nil
}

// inDegrees adds the in-degree of each node over all edge types. Loops and duplicates count.
func inDegrees(s *store.Store, starts []uint64, w []uint32, stride int) error {
	for _, e := range s.Graph.Edges {
		first := int(starts[s.Graph.NodeType(e.Type.Dst)])
		if err := eachEnd(s, e, func(dst uint32, edges uint64) bool {
			x := &w[(first+int(dst))*stride]
			*x = uint32(min(uint64(*x)+edges, math.MaxUint32))
			return true
		}); err != nil {
			return err
		}
	}
	return nil
}

// maxClasses is the largest number of values of a column to balance.
const maxClasses = maxConstraints

// column adds constraints for the values of a column.
func (c *constraints) column(s *store.Store, starts []uint64, name string) error {
	t, col, err := findColumn(s, name)
	if err != nil {
		return err
	}
	count := map[int64]int{}
	for i := range col.Rows {
		if count[class(col, i)]++; len(count) > maxClasses {
			return usagef("%s: found more than %d values in column %s of %s, expected a column of classes, such as a mask; import a coarser column to balance", s.Dir, maxClasses, col.Name, s.Graph.Nodes[t].Type)
		}
	}
	var classes []int64
	for x := range count {
		classes = append(classes, x)
	}
	slices.Sort(classes)
	if len(classes) < 2 {
		c.notes = append(c.notes, fmt.Sprintf("column %s of %s has one value, so there is nothing to balance", col.Name, s.Graph.Nodes[t].Type))
		return nil
	}
	// The number of nodes with the most frequent value follows from the other numbers.
	most := slices.MaxFunc(classes, func(a, b int64) int { return cmp.Or(cmp.Compare(count[a], count[b]), cmp.Compare(b, a)) })
	for _, x := range classes {
		if x == most {
			continue
		}
		label := fmt.Sprintf("%s = %d", name, x)
		if col.DType == graph.Bool && x == 1 {
			label = name
		}
		c.add(label, func(w []uint32, stride int) error {
			for i := range col.Rows {
				if class(col, i) == x {
					w[(int(starts[t])+i)*stride] = 1
				}
			}
			return s.Touched(int64(len(col.Values)))
		})
	}
	return nil
}

// findColumn finds "type/column", or a column that only one type has.
func findColumn(s *store.Store, name string) (nodeType int, _ *graph.Column, err error) {
	nodeType = -1
	var found *graph.Column
	var known []string
	for t, n := range s.Graph.Nodes {
		for _, col := range n.Columns {
			full := n.Type + "/" + col.Name
			known = append(known, full)
			if name != full && name != col.Name {
				continue
			}
			if found != nil {
				return -1, nil, usagef("%s: found column %q in %s and in %s, expected a type; name it as %s", s.Dir, name, s.Graph.Nodes[nodeType].Type, n.Type, full)
			}
			nodeType, found = t, col
		}
	}
	if found == nil {
		expected := "a store with columns of nodes, which this store lacks"
		if len(known) > 0 {
			expected = "one of " + strings.Join(known, ", ")
		}
		return -1, nil, usagef("%s: found no column %q of nodes, expected %s; name one of these, or import the column", s.Dir, name, expected)
	}
	if !isClass(found) {
		return -1, nil, usagef("%s: found %s in column %s of %s, expected integers or bool, one per node; import the column as a category, an integer or bool", s.Dir, found.DType, name, s.Graph.Nodes[nodeType].Type)
	}
	return nodeType, found, nil
}

// isClass reports whether a column can hold classes: integers or bool, one per row.
func isClass(c *graph.Column) bool {
	for _, d := range c.Shape {
		if d != 1 {
			return false
		}
	}
	return c.DType == graph.Bool || c.DType.IsInt()
}

// class is the value of row i; a uint64 is reinterpreted as an int64.
func class(c *graph.Column, i int) int64 {
	b := c.Values[i*c.DType.Size():]
	switch c.DType {
	case graph.Int8:
		return int64(int8(b[0]))
	case graph.Int16:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case graph.Uint16:
		return int64(binary.LittleEndian.Uint16(b))
	case graph.Int32:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case graph.Uint32:
		return int64(binary.LittleEndian.Uint32(b))
	case graph.Int64, graph.Uint64:
		return int64(binary.LittleEndian.Uint64(b))
	default: // bool, uint8
		return int64(b[0])
	}
}
