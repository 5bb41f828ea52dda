package segment

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/graphmill/graphmill/graph"
)

// List is the change that a segment makes to the edge lists of one type. The new edges are numbered by near node, and for each node by their order in the input.
type List struct {
	// Nodes are the near nodes that get edges, ascending, and Starts (Nodes + 1) bounds the edges of each.
	Nodes, Starts graph.Index
	// DroppedNodes are the near nodes that lose edges, ascending; DroppedStarts (DroppedNodes + 1) bounds the places of each in Dropped, ascending: of
	// edges in the list of the node before the segment.
	DroppedNodes, DroppedStarts, Dropped graph.Index
}

// Lists are the lists of one edge type in the primary direction.
type Lists struct {
	// Base has the offsets of the base's near nodes, or is empty.
	Base graph.Index
	// Nodes is the number of near nodes in all: at least those of the base.
	Nodes int
	Later []List
}

// ErrDamaged is the kind of the error of lists that contradict each other.
var ErrDamaged = errors.New("the lists of segments contradict each other")

// Check refuses lists on which the methods could fail, but for places of dropped edges beyond the list of their node, which Runs refuses. It reads the
// sparse lists, and of the base the last offset.
func (l *Lists) Check() error {
	if l.Base.Len() > l.Nodes+1 {
		return fmt.Errorf("%w: found offsets of %d nodes, expected at most %d", ErrDamaged, l.Base.Len()-1, l.Nodes)
	}
	for i := range l.Later {
		s := &l.Later[i]
		for _, x := range []struct {
			what          string
			nodes, starts graph.Index
			last          int // -1: any
		}{{"added edges", s.Nodes, s.Starts, -1}, {"dropped edges", s.DroppedNodes, s.DroppedStarts, s.Dropped.Len()}} {
			if err := l.checkSparse(x.nodes, x.starts, x.last); err != nil {
				return fmt.Errorf("%w: the %s of segment %d: %w", ErrDamaged, x.what, i+1, err)
			}
		}
		if err := s.checkPlaces(); err != nil {
			return fmt.Errorf("%w: the dropped edges of segment %d: %w", ErrDamaged, i+1, err)
		}
	}
	return nil
}

// checkSparse checks a sparse list of n entries; any number of them for -1.
func (l *Lists) checkSparse(nodes, starts graph.Index, n int) error {
	if nodes.Len() == 0 && starts.Len() == 0 && n <= 0 {
		return nil
	}
	if starts.Len() != nodes.Len()+1 {
		return fmt.Errorf("found %d offsets of %d nodes, expected one more than nodes", starts.Len(), nodes.Len())
	}
	if n < 0 {
		if last := starts.At(starts.Len() - 1); last > math.MaxInt/2 {
			return fmt.Errorf("found the offset %d, expected one of a list", last)
		}
		n = int(starts.At(starts.Len() - 1))
	}
	if err := starts.CheckOffsets(n); err != nil {
		return err
	}
	for i := range nodes.Len() {
		if v := nodes.At(i); v >= uint64(l.Nodes) || i > 0 && v <= nodes.At(i-1) {
			return fmt.Errorf("found node %d at %d, expected ascending nodes below %d", v, i, l.Nodes)
		}
	}
	return nil
}

// checkPlaces checks that the places of each node ascend.
func (s *List) checkPlaces() error {
	for i := range s.DroppedNodes.Len() {
		for at := s.DroppedStarts.At(i) + 1; at < s.DroppedStarts.At(i+1); at++ {
			if s.Dropped.At(int(at)) <= s.Dropped.At(int(at-1)) {
				return fmt.Errorf("found place %d of node %d after %d, expected ascending places", s.Dropped.At(int(at)), s.DroppedNodes.At(i), s.Dropped.At(int(at-1)))
			}
		}
	}
	return nil
}

// baseStart is the first edge of a node in the base, and the end of its edges for nodes that it does not have.
func (l *Lists) baseStart(node int) uint64 {
	if l.Base.Len() == 0 {
		return 0
	}
	return l.Base.At(min(node, l.Base.Len()-1))
}

// before is the number of entries of a sparse list that belong to nodes before the given one.
func before(nodes, starts graph.Index, node int) uint64 {
	if nodes.Len() == 0 {
		return 0
	}
	return starts.At(findNode(nodes, node))
}

// findNode is the first place in nodes whose node is not before the given one.
func findNode(nodes graph.Index, node int) int {
	return sort.Search(nodes.Len(), func(i int) bool { return nodes.At(i) >= uint64(node) })
}

// Start is the id of the first edge of a node, and the number of edges for the node after the last.
func (l *Lists) Start(node int) uint64 {
	n := l.baseStart(node)
	for i := range l.Later {
		s := &l.Later[i]
		n += before(s.Nodes, s.Starts, node) - before(s.DroppedNodes, s.DroppedStarts, node)
	}
	return n
}

// Edges is the number of edges.
func (l *Lists) Edges() uint64 { return l.Start(l.Nodes) }
