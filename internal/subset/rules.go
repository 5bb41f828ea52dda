package subset

import (
	"errors"
	"fmt"
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/walk"
)

// ErrRules is the error of rules that have no meaning, or none on the graph.
var ErrRules = errors.New("invalid sets of nodes")

// How says how the nodes of a batch are chosen.
type How string

// The ways to choose the nodes of a batch.
const (
	SaintNode How = "saint-node" // nodes in proportion to the number of their out-edges
	SaintEdge How = "saint-edge" // edges in proportion to 1/in-degree of the destination + 1/out-degree of the source, with both ends
	SaintWalk How = "saint-walk" // nodes of random walks along out-edges, from starts that are all alike
	Cluster   How = "cluster"    // all nodes of some parts
)

// Rules say which nodes batches have.
type Rules struct {
	How How
	// Size is the number of nodes, edges, walks or parts per batch.
	Size int
	// Length is the number of steps of a walk, for SaintWalk.
	Length int
	// Part is the part of each node, for Cluster. Parts without a node are left out.
	Part []uint16
	// Shuffle takes the parts in an order that is another one in each epoch, for Cluster.
	Shuffle bool
}

// check refuses rules that mean nothing on a graph.
func (r *Rules) check(g *graph.Graph) error {
	switch {
	case len(g.Nodes) != 1:
		return tagged.Errorf(ErrRules, "found `Sampler` %s on a graph of %d node types, expected one node type; import the graph as one node type and one edge type, or take `Sampler` hgt or neighbor", r.How, len(g.Nodes))
	case r.Size < 1:
		return tagged.Errorf(ErrRules, "found `BatchSize` %d, expected at least 1", r.Size)
	case g.Nodes[0].Count == 0:
		return tagged.Errorf(ErrRules, "found no nodes, expected at least one for `Sampler` %s", r.How)
	}
	if r.How == Cluster {
		if len(r.Part) != g.Nodes[0].Count {
			return tagged.Errorf(ErrRules, "found an assignment of %d nodes, expected one of the %d nodes of type %s; the assignment is of another graph; make one of this graph with 'graphmill partition'", len(r.Part), g.Nodes[0].Count, g.Nodes[0].Type)
		}
		return nil
	}
	switch {
	case len(g.Edges) != 1:
		return tagged.Errorf(ErrRules, "found `Sampler` %s on a graph of %d edge types, expected one edge type; import the graph as one edge type, or take `Sampler` cluster, which reads none, or neighbor", r.How, len(g.Edges))
	case g.Edges[0].Count == 0:
		return tagged.Errorf(ErrRules, "found no edges, expected at least one for `Sampler` %s", r.How)
	case r.How == SaintWalk && (r.Length < 1 || r.Length > walk.MaxLength):
		return tagged.Errorf(ErrRules, "found `WalkLength` %d, expected 1 to %d steps", r.Length, walk.MaxLength)
	}
	// Draws are numbered with 32 bits, and the last batch may begin within the last nodes.
	if count := g.Nodes[0].Count; r.Size > (math.MaxUint32-count)/r.each() {
		return tagged.Errorf(ErrRules, "found `BatchSize` %d, expected at most %d on this graph; give less, and more batches", r.Size, (math.MaxUint32-count)/r.each())
	}
	return nil
}

// each is the number of nodes per draw.
func (r *Rules) each() int {
	switch r.How {
	case SaintEdge:
		return 2
	case SaintWalk:
		return r.Length + 1
	}
	return 1
}

// Plan is the sampling plan whose ops read what the rules read, and whose memory is theirs, but for Need; nil for those that read
// no edges.
func Plan(g *graph.Graph, r *Rules) (*sample.Plan, error) {
	if err := r.check(g); err != nil {
		return nil, err
	}
	var dirs []graph.Direction
	switch r.How {
	case SaintNode:
		dirs = []graph.Direction{graph.In}
	case SaintEdge:
		dirs = []graph.Direction{graph.In, graph.Out}
	case SaintWalk:
		return walk.Plan(g, r.walks())
	case Cluster:
		return nil, nil
	default:
		return nil, fmt.Errorf("found the sampler %q, expected one of this package", r.How)
	}
	p := &sample.Plan{SeedType: []string{g.Nodes[0].Type}, Scope: sample.ScopeSeed}
	for _, dir := range dirs {
		p.Ops = append(p.Ops, sample.Op{From: []int{0}, Edges: g.Edges[0].Type.String(), Dir: dir, Take: 1, How: sample.Replace})
	}
	return p, nil
}

// walks are the rules of the walks of SaintWalk.
func (r *Rules) walks() walk.Rules { return walk.Rules{Dir: graph.Out, Length: r.Length} }

// Need is the memory in bytes that an Order takes in addition to its Plan.
func Need(g *graph.Graph, r *Rules) int64 {
	count := int64(g.Nodes[0].Count)
	switch r.How {
	case SaintEdge, Cluster:
		return 8 * count
	}
	return 0
}
