package host

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

// rangeNodes is the number of nodes of a sample.Range, whose edges are cut out of the store and checked when they are first drawn from.
const rangeNodes = 1 << 14

// keptRanges bounds the ranges that are kept of a plan. Those of a mapped store take 4 bytes per node.
const keptRanges = 4096

// drawer draws for the ops of a plan in the range of a host. It is safe for concurrent use; each goroutine has its own sample.Context.
type drawer struct {
	sampler *sample.Sampler
	share   *share
	near    []int // by op from 1: the node type that it expands
	walk    []int // by op from 1: the place of its edge type and direction in walks
	walks   []walked
	kept    atomic.Int64
}

// walked are the ranges of an edge type in a direction.
type walked struct {
	edges  int
	dir    graph.Direction
	count  int // nodes of the near type
	ranges []atomic.Pointer[sample.Range]
}

// newDrawer compiles the JSON of a plan.
func newDrawer(g *graph.Graph, of *share, text []byte) (*drawer, error) {
	plan, err := sample.ParsePlan("the plan of the loader", text)
	if err != nil {
		return nil, err
	}
	if err := plan.Validate(g); err != nil {
		return nil, err
	}
	if err := plan.CanGive(g); err != nil {
		return nil, err
	}
	s, err := sample.New(g, plan, sample.Options{Given: true})
	if err != nil {
		return nil, err
	}
	d := &drawer{sampler: s, share: of, near: make([]int, len(plan.Ops)+1), walk: make([]int, len(plan.Ops)+1)}
	for op := 1; op <= len(plan.Ops); op++ {
		edges, dir := s.Walk(op)
		e := g.Edges[edges]
		if e.Adj[dir] == nil {
			return nil, tagged.Errorf(sample.ErrFetch, "%s: found no %s-edges in the store, expected them, because a host builds no direction; import with `Both` to store them", e.Type, dir)
		}
		d.near[op] = g.NodeType(e.Type.Near(dir))
		at := slices.IndexFunc(d.walks, func(w walked) bool { return w.edges == edges && w.dir == dir })
		if at < 0 {
			at = len(d.walks)
			count := g.Nodes[d.near[op]].Count
			d.walks = append(d.walks, walked{edges: edges, dir: dir, count: count, ranges: make([]atomic.Pointer[sample.Range], count/rangeNodes+1)})
		}
		d.walk[op] = at
	}
	return d, nil
}

// find is the range of a node that an op expands.
func (d *drawer) find(op int, v uint32) (*sample.Range, error) {
	w := &d.walks[d.walk[op]]
	at := &w.ranges[v/rangeNodes]
	if r := at.Load(); r != nil {
		return r, nil
	}
	own := d.share.nodes[d.near[op]]
	first := max(int(own[0]), int(v/rangeNodes*rangeNodes))
	end := min(int(own[1]), int(v/rangeNodes+1)*rangeNodes)
	e, err := d.sampler.Cut(w.edges, w.dir, first, end-first)
	if err != nil {
		return nil, err
	}
	r, err := d.sampler.Range(w.edges, w.dir, e)
	if err != nil {
		return nil, err
	}
	if d.kept.Add(1) > keptRanges {
		d.kept.Store(1)
		for i := range d.walks {
			for k := range d.walks[i].ranges {
				d.walks[i].ranges[k].Store(nil)
			}
		}
	}
	at.Store(r)
	return r, nil
}

// drawn are buffers for the draws of a section.
type drawn struct {
	counts, far []uint32
	ids         graph.Index
}

// draws answers the sections of a question for draws.
func (d *drawer) draws(c *sample.Context, buf *drawn, question, answer []byte) ([]byte, error) {
	in := reader{b: question}
	for len(in.b) > 0 && !in.failed {
		op, n, key, bits, float := in.u32(), in.u32(), in.u64(), in.u64(), in.u32()
		in.u32()
		nodes := in.take(4 * uint64(n))
		if in.failed || op == 0 || int(op) >= len(d.near) {
			return answer, fmt.Errorf("found a section of draws that is not whole, or op %d, expected one of %d ops: %w", op, len(d.near)-1, errProtocol)
		}
		time := sample.IntTime(int64(bits))
		if float != 0 {
			time = sample.FloatTime(math.Float64frombits(bits))
		}
		var err error
		if answer, err = d.section(c, buf, int(op), key, time, nodes, answer); err != nil {
			return answer, err
		}
	}
	return answer, nil
}

// section draws for the nodes of a section.
func (d *drawer) section(c *sample.Context, buf *drawn, op int, key uint64, time sample.Time, nodes, answer []byte) ([]byte, error) {
	buf.counts, buf.far, buf.ids = buf.counts[:0], buf.far[:0], sample.EmptyIDs(buf.ids)
	own := d.share.nodes[d.near[op]]
	in := reader{b: nodes}
	for len(in.b) > 0 {
		v := in.u32()
		if uint64(v) < own[0] || uint64(v) >= own[1] {
			return answer, fmt.Errorf("op %d: found node %d, expected one of %d to %d, which this host has: %w", op, v, own[0], own[1], errProtocol)
		}
		r, err := d.find(op, v)
		if err != nil {
			return answer, err
		}
		far, ids := c.Take(r, op, key, time, v)
		buf.counts, buf.far, buf.ids = append(buf.counts, uint32(len(far))), append(buf.far, far...), sample.AppendIDs(buf.ids, ids)
		if len(answer)+8*len(buf.far) > mostAnswer {
			return answer, fmt.Errorf("op %d: found draws of more than %d bytes, expected fewer; take fewer edges of a node, or smaller batches", op, mostAnswer)
		}
	}
	for _, b := range [][]byte{graph.Bytes(buf.counts), graph.Bytes(buf.far), graph.Bytes(buf.ids.U32), graph.Bytes(buf.ids.U64)} {
		answer = append(answer, b...)
	}
	return answer, nil
}

// drawers keeps the drawers of the plans that loaders have, so that the connections of a loader share one.
type drawers struct {
	g     *graph.Graph
	share *share
	mu    sync.Mutex
	have  []plannedDrawer // the last ones
}

type plannedDrawer struct {
	plan string
	*drawer
}

// mostPlans bounds the plans that are kept compiled.
const mostPlans = 16

// of is the drawer of a plan.
func (x *drawers) of(plan []byte) (*drawer, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, d := range x.have {
		if d.plan == string(plan) {
			return d.drawer, nil
		}
	}
	d, err := newDrawer(x.g, x.share, plan)
	if err != nil {
		return nil, err
	}
	if len(x.have) == mostPlans {
		x.have = x.have[1:]
	}
	x.have = append(x.have, plannedDrawer{string(plan), d})
	return d, nil
}
