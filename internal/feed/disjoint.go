package feed

import (
	"errors"
	"math"

	"github.com/graphmill/graphmill/internal/sample"
)

// disjoint joins the subgraphs of single seeds into one subgraph, side by side: each node has a copy in every subgraph
// that has it. Nodes and edges come hop by hop, and within a hop seed by seed. Edges that have no hops come seed by seed.
type disjoint struct {
	hops      int
	hopped    bool // edges have hops
	seedTypes []int
	ends      [][2]int // node types of source and destination, by edge type

	sub   sample.Subgraph
	batch [][]uint32 // by node type: the subgraph of each node

	// The subgraphs that were added, one after the other: by node type, the ids; by edge type, the ends as places in
	// these ids; and the counts of each hop.
	count               int
	nodes               [][]uint32
	edges               []sample.SubEdges
	nodeHops, edgeHops  [][]uint32
	local               [][]uint32 // the place of each node in the joined subgraph
	seedLocal, starting []uint32
	negatives           []uint32 // as seedLocal
}

var errManyNodes = errors.New("found a batch with 2^31 or more nodes of a type, expected fewer; take fewer edges or smaller batches")

func newDisjoint(s *sample.Sampler) *disjoint {
	g := s.Graph()
	n, e := len(g.Nodes), len(g.Edges)
	d := &disjoint{
		hops: s.Hops(), hopped: edgesByHop(s), batch: make([][]uint32, n),
		nodes: make([][]uint32, n), nodeHops: make([][]uint32, n), local: make([][]uint32, n),
		edges: make([]sample.SubEdges, e), edgeHops: make([][]uint32, e),
	}
	d.sub.Nodes, d.sub.NodesByHop = make([][]uint32, n), make([][]uint32, n)
	d.sub.Edges, d.sub.EdgesByHop = make([]sample.SubEdges, e), make([][]uint32, e)
	for _, name := range s.Plan().SeedType {
		d.seedTypes = append(d.seedTypes, g.NodeType(name))
	}
	for _, e := range g.Edges {
		d.ends = append(d.ends, [2]int{g.NodeType(e.Type.Src), g.NodeType(e.Type.Dst)})
	}
	return d
}

// begin removes all subgraphs.
func (d *disjoint) begin() {
	d.sub.Negatives.Edges, d.sub.Negatives.Ends = 0, d.sub.Negatives.Ends[:0]
	d.count, d.seedLocal, d.negatives = 0, d.seedLocal[:0], d.negatives[:0]
	for t := range d.nodes {
		d.nodes[t], d.nodeHops[t] = d.nodes[t][:0], d.nodeHops[t][:0]
	}
	for t := range d.edges {
		e := &d.edges[t]
		e.Src, e.Dst, e.ID, d.edgeHops[t] = e.Src[:0], e.Dst[:0], sample.EmptyIDs(e.ID), d.edgeHops[t][:0]
		e.Weight = e.Weight[:0]
	}
}

// add adds the next subgraph.
func (d *disjoint) add(sub *sample.Subgraph) error {
	for t, pair := range sub.Edges {
		e := &d.edges[t]
		e.Src = appendMoved(e.Src, pair.Src, len(d.nodes[d.ends[t][0]]))
		e.Dst = appendMoved(e.Dst, pair.Dst, len(d.nodes[d.ends[t][1]]))
		e.ID = sample.AppendIDs(e.ID, pair.ID)
		e.Weight = append(e.Weight, pair.Weight...)
		if d.hopped {
			d.edgeHops[t] = append(d.edgeHops[t], sub.EdgesByHop[t]...)
		} else {
			d.edgeHops[t] = append(d.edgeHops[t], uint32(len(pair.Src)))
		}
	}
	d.seedLocal = d.appendSeeds(d.seedLocal, sub.SeedLocal)
	before := uint64(len(d.negatives) / 2)
	for _, end := range sub.Negatives.Ends {
		d.sub.Negatives.Ends = append(d.sub.Negatives.Ends, before+end)
	}
	d.negatives = d.appendSeeds(d.negatives, sub.Negatives.Local)
	d.sub.Negatives.Edges += sub.Negatives.Edges
	for t, ids := range sub.Nodes {
		if len(d.nodes[t])+len(ids) > math.MaxInt32 {
			return errManyNodes
		}
		d.nodes[t] = append(d.nodes[t], ids...)
		d.nodeHops[t] = append(d.nodeHops[t], sub.NodesByHop[t]...)
	}
	d.count++
	return nil
}

// appendSeeds appends local ids of the types of the seeds in turn, as places among the nodes that were added.
func (d *disjoint) appendSeeds(to, local []uint32) []uint32 {
	for i, v := range local {
		to = append(to, v+uint32(len(d.nodes[d.seedTypes[i%len(d.seedTypes)]])))
	}
	return to
}

func appendMoved(to, from []uint32, by int) []uint32 {
	for _, v := range from {
		to = append(to, v+uint32(by))
	}
	return to
}

// join is one subgraph of all that were added. It is valid until the next begin.
func (d *disjoint) join() *sample.Subgraph {
	for t, ids := range d.nodes {
		n := len(ids)
		d.local[t], d.batch[t], d.sub.Nodes[t] = sized(d.local[t], n), sized(d.batch[t], n), sized(d.sub.Nodes[t], n)
		d.sub.NodesByHop[t] = d.byHop(d.sub.NodesByHop[t], d.nodeHops[t], d.hops+1)
		d.walk(d.nodeHops[t], d.hops+1, func(sub, from, to int) {
			d.local[t][from], d.batch[t][to], d.sub.Nodes[t][to] = uint32(to), uint32(sub), ids[from]
		})
	}
	runs := 1 // of the edges of a type in each subgraph
	if d.hopped {
		runs = d.hops
	}
	for t, e := range d.edges {
		src, dst := d.local[d.ends[t][0]], d.local[d.ends[t][1]]
		out := &d.sub.Edges[t]
		n := len(e.Src)
		out.Src, out.Dst = sized(out.Src, n), sized(out.Dst, n)
		out.ID.U32, out.ID.U64 = sized(out.ID.U32, len(e.ID.U32)), sized(out.ID.U64, len(e.ID.U64))
		out.Weight = sized(out.Weight, len(e.Weight))
		d.sub.EdgesByHop[t] = d.byHop(d.sub.EdgesByHop[t], d.edgeHops[t], runs)
		d.walk(d.edgeHops[t], runs, func(_, from, to int) {
			out.Src[to], out.Dst[to] = src[e.Src[from]], dst[e.Dst[from]]
			if e.ID.U64 != nil {
				out.ID.U64[to] = e.ID.U64[from]
			} else if e.ID.U32 != nil {
				out.ID.U32[to] = e.ID.U32[from]
			}
			if len(e.Weight) > 0 {
				out.Weight[to] = e.Weight[from]
			}
		})
	}
	d.sub.SeedLocal = d.joined(d.sub.SeedLocal, d.seedLocal)
	d.sub.Negatives.Local = d.joined(d.sub.Negatives.Local, d.negatives)
	return &d.sub
}

// joined is the local ids in the joined subgraph of places of appendSeeds.
func (d *disjoint) joined(to, places []uint32) []uint32 {
	to = sized(to, len(places))
	for i, place := range places {
		to[i] = d.local[d.seedTypes[i%len(d.seedTypes)]][place]
	}
	return to
}

// byHop sums the counts of each hop over all subgraphs.
func (d *disjoint) byHop(sums, counts []uint32, hops int) []uint32 {
	sums = sized(sums, hops)
	clear(sums)
	for i, n := range counts {
		sums[i%hops] += n
	}
	return sums
}

// walk calls f for each item with its subgraph, its place in the order of addition, and its place in the order of hops.
func (d *disjoint) walk(counts []uint32, hops int, f func(sub, from, to int)) {
	next := sized(d.starting, hops)
	d.starting = next
	clear(next)
	for i, n := range counts {
		if h := i%hops + 1; h < hops {
			next[h] += n
		}
	}
	for h := 1; h < hops; h++ {
		next[h] += next[h-1]
	}
	from := 0
	for i, n := range counts {
		at := &next[i%hops]
		for range n {
			f(i/hops, from, int(*at))
			from++
			*at++
		}
	}
}

// sized is a buffer of n values, which is list where it has room.
func sized[T uint32 | uint64 | float32](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n+n/4)[:n]
	}
	return list[:n]
}
