package output

import (
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
)

// content is the data of one Example: one subgraph, or several as its components, with their lists one after the other.
type content struct {
	nodes [][]uint32        // rows, by node type
	edges []sample.SubEdges // rows, and local ids in the whole Example, by edge type
	// The sizes of each component, where an Example may have several.
	nodeSizes, edgeSizes [][]uint32
	seedSizes            []uint32

	// Links with negatives are rows of the lists of seeds, each followed by its negatives, which have the place of their
	// link.
	seeds     []uint32    // the place of each seed among all seeds
	seedNodes [2][]uint32 // the type-wise id of each seed, or of both ends of a link
	seedLocal [2][]uint32 // their local ids
	labels    []uint32    // with negatives: the row of each label (labelColumn)
	ascending []uint32    // 0, 1, 2, ...: one per link
	first     []uint32    // 0, once per component
	count     []uint32    // the number of first nodes that are seeds

	places [][]uint32 // places of the rows, by table of the Encoding
}

// gatherer makes contents from subgraphs. It belongs to one goroutine.
type gatherer struct {
	content
	group     int      // the most components
	ends      [][2]int // by edge type: its node types
	seedType  []int
	negatives bool // the links have some
	labelled  bool // as in Encoding, with none
	none      uint32
}

func newGatherer(n *Encoding) *gatherer {
	g, plan := n.g, n.plan
	a := &gatherer{group: n.group, ends: endsOf(g), labelled: n.labelled, none: n.none}
	if plan.Negatives != nil {
		a.negatives = true
	}
	for _, t := range plan.SeedType {
		a.seedType = append(a.seedType, g.NodeType(t))
	}
	a.nodes, a.edges = make([][]uint32, len(g.Nodes)), make([]sample.SubEdges, len(g.Edges))
	a.nodeSizes, a.edgeSizes = make([][]uint32, len(g.Nodes)), make([][]uint32, len(g.Edges))
	return a
}

// endsOf is the numbers of the source and target node types, by edge type.
func endsOf(g *graph.Graph) [][2]int {
	ends := make([][2]int, len(g.Edges))
	for i, e := range g.Edges {
		ends[i] = [2]int{g.NodeType(e.Type.Src), g.NodeType(e.Type.Dst)}
	}
	return ends
}

// add appends a subgraph. places are the places of its seeds among all seeds. Where an Example is one subgraph, the
// content shares the lists of the subgraph.
func (a *gatherer) add(sub *sample.Subgraph, places []uint32) {
	a.count = sub.NodesByHop[a.seedType[0]][:1]
	a.first = append(a.first, 0)
	a.addSeeds(sub, places)
	if a.group == 1 {
		copy(a.nodes, sub.Nodes)
		copy(a.edges, sub.Edges)
		return
	}
	for i, from := range sub.Edges {
		to, ends := &a.edges[i], a.ends[i]
		to.Src = appendShifted(to.Src, from.Src, len(a.nodes[ends[0]]))
		to.Dst = appendShifted(to.Dst, from.Dst, len(a.nodes[ends[1]]))
		to.ID = sample.AppendIDs(to.ID, from.ID)
		to.Weight = append(to.Weight, from.Weight...)
		a.edgeSizes[i] = append(a.edgeSizes[i], uint32(len(from.Src)))
	}
	for i, from := range sub.Nodes {
		a.nodes[i] = append(a.nodes[i], from...)
		a.nodeSizes[i] = append(a.nodeSizes[i], uint32(len(from)))
	}
	a.seedSizes = append(a.seedSizes, uint32(len(places)+len(sub.Negatives.Nodes)/2))
}

func (a *gatherer) addSeeds(sub *sample.Subgraph, places []uint32) {
	width, ids := len(a.seedType), sub.Input.Seeds
	if width == 1 && a.group == 1 {
		a.seeds, a.seedNodes[0] = places, ids
		return
	}
	if a.negatives {
		a.addLinks(sub, places)
		return
	}
	for range places {
		a.ascending = append(a.ascending, uint32(len(a.ascending)))
	}
	a.seeds = append(a.seeds, places...)
	for i, v := range ids {
		end := i % width
		a.seedNodes[end] = append(a.seedNodes[end], v)
		a.seedLocal[end] = append(a.seedLocal[end], sub.SeedLocal[i]+uint32(a.before(a.seedType[end])))
	}
}

// addLinks adds links, each followed by its negatives.
func (a *gatherer) addLinks(sub *sample.Subgraph, places []uint32) {
	add := func(ids, local []uint32, place, label uint32) {
		a.ascending = append(a.ascending, uint32(len(a.ascending)))
		a.seeds, a.labels = append(a.seeds, place), append(a.labels, label)
		for end := range 2 {
			a.seedNodes[end] = append(a.seedNodes[end], ids[end])
			a.seedLocal[end] = append(a.seedLocal[end], local[end]+uint32(a.before(a.seedType[end])))
		}
	}
	for i, place := range places {
		label := uint32(1)
		if a.labelled {
			label = place
		}
		add(sub.Input.Seeds[2*i:], sub.SeedLocal[2*i:], place, label)
		from, to := sub.Negatives.Span(i, len(places))
		for k := from; k < to; k++ {
			add(sub.Negatives.Nodes[2*k:], sub.Negatives.Local[2*k:], place, a.none)
		}
	}
}

// before is the number of nodes of a type in the components so far.
func (a *gatherer) before(nodeType int) int {
	if a.group == 1 {
		return 0
	}
	return len(a.nodes[nodeType])
}

func appendShifted(to, from []uint32, by int) []uint32 {
	for _, v := range from {
		to = append(to, v+uint32(by))
	}
	return to
}

// full says whether the Example has all its components.
func (a *gatherer) full() bool { return len(a.first) == a.group }

// reset empties the content.
func (a *gatherer) reset() {
	a.first, a.ascending, a.seedSizes = a.first[:0], a.ascending[:0], a.seedSizes[:0]
	if len(a.seedType) == 1 && a.group == 1 {
		return
	}
	a.seeds, a.labels = a.seeds[:0], a.labels[:0]
	for end := range a.seedNodes {
		a.seedNodes[end], a.seedLocal[end] = a.seedNodes[end][:0], a.seedLocal[end][:0]
	}
	if a.group == 1 {
		return
	}
	for i := range a.nodes {
		a.nodes[i], a.nodeSizes[i] = a.nodes[i][:0], a.nodeSizes[i][:0]
	}
	for i := range a.edges {
		e := &a.edges[i]
		e.Src, e.Dst, e.ID, a.edgeSizes[i] = e.Src[:0], e.Dst[:0], sample.EmptyIDs(e.ID), a.edgeSizes[i][:0]
	}
}
