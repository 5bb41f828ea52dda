package sample

import (
	"fmt"
	"math"
	"sync"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/tagged"
)

// positiveWord is the word that keys of positives absorb after the epoch (draw.OrderWord and others).
const positiveWord = 11

// Positives draws a seed link for each seed node and epoch: one of the edges of Plan.SeedEdges that leave the node and that it may take, all alike. These are messages of the plan and, where
// the seed and the edge type have times, not later than the seed. The draw is a function of (random seed, epoch, node). testdata/reference/sampling.py has it as positives().
//
// The links of an epoch are found as a whole, by the lists of the sources where the store has them, else by one pass over all edges of the type, so that no list of them is held. Links may be
// called by several goroutines. It reads the arrays of the graph.
type Positives struct {
	edges   *graph.Edges
	seed    uint64
	nodes   []uint32 // those with an edge that they may take
	rows    []uint32 // their places among the seeds that were given
	counts  []uint32 // how many edges each may take
	message func(id int) bool
	times   *values // of the edges; nil: seeds have no times, or edges have none
	until   []cut   // by node
	// Without lists of sources, the places that a node has in nodes are first[node]-1, and then next[place]-1 until 0.
	first, next []uint32

	mu   sync.Mutex
	kept [mostPositives]struct {
		epoch uint64
		links *Links
	}
	turn int
}

// mostPositives is more than the epochs that an executor has under way.
const mostPositives = 4

// Links are the seed links of an epoch, one per seed.
type Links struct {
	Ends  []uint32 // source and target in turn
	Edges []uint32 // edge ids
}

// NewPositives prepares the draws for a valid plan on a graph with all edges, messages or not. times are those of the nodes, nil without any. Nodes without an edge that they may take are left
// out (Rows); it is an error where all are.
func NewPositives(g *graph.Graph, p *Plan, nodes []uint32, times []Time, seed uint64) (*Positives, error) {
	e := edgesOf(g, p.SeedEdges)
	sources, targets := g.Nodes[g.NodeType(p.SeedType[0])].Count, g.Nodes[g.NodeType(p.SeedType[1])].Count
	if e.Count > math.MaxUint32 {
		return nil, tagged.Errorf(ErrTooLarge, "found %d edges of type %s as positives, expected fewer than 2^32; list links in a file", e.Count, e.Type)
	}
	x := &Positives{edges: e, seed: seed, nodes: nodes, counts: make([]uint32, len(nodes))}
	for _, dir := range []graph.Direction{graph.In, graph.Out} {
		near, far := targets, sources
		if dir == graph.Out {
			near, far = sources, targets
		}
		if a := e.Adj[dir]; a != nil {
			if _, err := readAdjacency(e, a, near, far, false); err != nil { // checks it
				return nil, err
			}
		}
	}
	for i, v := range nodes {
		if int64(v) >= int64(sources) {
			return nil, tagged.Errorf(ErrSeed, "seed %d: found node %d of type %s, expected less than %d; seeds are row numbers of the store", i, v, p.SeedType[0], sources)
		}
	}
	if m, ok := p.Messages[p.SeedEdges]; ok {
		var err error
		if x.message, err = m.Match(e); err != nil {
			return nil, err
		}
	}
	if name := p.timeColumn(p.SeedEdges); name != "" && times != nil {
		var err error
		if x.times, err = readValues(e, name); err != nil {
			return nil, err
		}
		for _, t := range times {
			x.until = append(x.until, x.times.cutAt(t, true))
		}
	}
	x.chain(sources)
	x.visit(func(place int, _ uint64, _ uint32) { x.counts[place]++ })
	x.leaveOut()
	if len(x.nodes) == 0 {
		return nil, tagged.Errorf(ErrSeed, "found no edge of %s that one of the %d seeds may take as its positive, expected some; give seeds that have such edges, a later `SeedTime`, or other `Messages`", e.Type, len(nodes))
	}
	x.chain(sources)
	return x, nil
}

// leaveOut leaves out the nodes that have no edge to take.
func (x *Positives) leaveOut() {
	given, counts, until := x.nodes, x.counts, x.until
	x.nodes, x.counts, x.until = nil, nil, nil
	for i, n := range counts {
		if n == 0 {
			continue
		}
		x.nodes, x.counts, x.rows = append(x.nodes, given[i]), append(x.counts, n), append(x.rows, uint32(i))
		if until != nil {
			x.until = append(x.until, until[i])
		}
	}
}

// chain finds the places of nodes, for a pass over all edges. n is the number of nodes of their type.
func (x *Positives) chain(n int) {
	if x.edges.Adj[graph.Out] != nil {
		return
	}
	x.first, x.next = make([]uint32, n), make([]uint32, len(x.nodes))
	for place, v := range x.nodes {
		x.next[place], x.first[v] = x.first[v], uint32(place)+1
	}
}

// may says whether the node at a place may take an edge.
func (x *Positives) may(place int, id uint64) bool {
	return (x.message == nil || x.message(int(id))) && (x.times == nil || x.times.passes(id, x.until[place]))
}

// visit calls take with each edge that the node at a place may take, for each place in the order of the ids of the edges, and the target of the edge.
func (x *Positives) visit(take func(place int, id uint64, target uint32)) {
	if out := x.edges.Adj[graph.Out]; out != nil {
		for place, v := range x.nodes {
			for at := out.Indptr.At(int(v)); at < out.Indptr.At(int(v)+1); at++ {
				if id := edgeAt(out, at); x.may(place, id) {
					take(place, id, uint32(out.Far.At(int(at))))
				}
			}
		}
		return
	}
	in := x.edges.Adj[graph.In]
	for target := range in.Indptr.Len() - 1 {
		for at := in.Indptr.At(target); at < in.Indptr.At(target+1); at++ {
			for place := x.first[in.Far.At(int(at))]; place > 0; place = x.next[place-1] {
				if id := edgeAt(in, at); x.may(int(place-1), id) {
					take(int(place-1), id, uint32(target))
				}
			}
		}
	}
}

// edgeAt is the id of the edge at a position of an adjacency.
func edgeAt(a *graph.Adjacency, at uint64) uint64 {
	if a.EdgeID.Len() == 0 {
		return at
	}
	return a.EdgeID.At(int(at))
}

// Rows are the places of the seeds among those that were given.
func (x *Positives) Rows() []uint32 { return x.rows }

// Times are the times of the seeds, of the times of those that were given; nil for nil.
func (x *Positives) Times(given []Time) []Time {
	if given == nil {
		return nil
	}
	times := make([]Time, 0, len(x.rows))
	for _, row := range x.rows {
		times = append(times, given[row])
	}
	return times
}

// Edges is the number of edges of their type.
func (x *Positives) Edges() int { return x.edges.Count }

// Nodes are the seeds.
func (x *Positives) Nodes() []uint32 { return x.nodes }

// Bytes is the memory that the draws take. It may be called on nil.
func (x *Positives) Bytes() int64 {
	if x == nil {
		return 0
	}
	return 12*int64(len(x.nodes)) + 24*int64(len(x.until)) + 4*int64(len(x.first)+len(x.next)) + (mostPositives*12+8)*int64(len(x.nodes))
}

// Links are the links of an epoch.
func (x *Positives) Links(epoch uint64) (*Links, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, k := range x.kept {
		if k.links != nil && k.epoch == epoch {
			return k.links, nil
		}
	}
	var links *Links
	err := guard.Do(func() (err error) { links, err = x.drawLinks(epoch); return err })
	if err != nil {
		return nil, fmt.Errorf("positives of epoch %d: %w", epoch, err)
	}
	k := &x.kept[x.turn%mostPositives]
	x.turn++
	k.epoch, k.links = epoch, links
	return links, nil
}

// drawLinks draws the links of an epoch.
func (x *Positives) drawLinks(epoch uint64) (*Links, error) {
	key := draw.Key(x.seed, epoch, positiveWord)
	links := &Links{Ends: make([]uint32, 2*len(x.nodes)), Edges: make([]uint32, len(x.nodes))}
	left := make([]uint32, len(x.nodes)) // edges that the node may take, up to the one that it takes
	for place, v := range x.nodes {
		left[place] = 1 + uint32(draw.Below(draw.At(draw.Absorb(key, uint64(v)), 0), uint64(x.counts[place])))
	}
	found := 0
	take := func(place int, id uint64, target uint32) {
		if left[place]--; left[place] == 0 {
			links.Ends[2*place], links.Ends[2*place+1], links.Edges[place] = x.nodes[place], target, uint32(id)
			found++
		}
	}
	if out := x.edges.Adj[graph.Out]; out != nil && x.message == nil && x.times == nil { // the edge is where the draw says
		for place, v := range x.nodes {
			at := out.Indptr.At(int(v)) + uint64(left[place]) - 1
			left[place] = 1
			take(place, edgeAt(out, at), uint32(out.Far.At(int(at))))
		}
	} else {
		x.visit(take)
	}
	if found != len(x.nodes) {
		return nil, fmt.Errorf("%s: found the edges of %d seeds, expected those of %d, as before; the files of the store must not change", x.edges.Type, found, len(x.nodes))
	}
	return links, nil
}
