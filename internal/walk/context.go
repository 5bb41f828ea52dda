package walk

import (
	"fmt"
	"math"
	"sort"
	"unsafe"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/prefetch"
	"github.com/graphmill/graphmill/internal/sample"
)

// walkWord is the word that keys of walks absorb after the epoch (draw.OrderWord and others).
const walkWord = 6

// Draws of a step (testdata/reference/walks.py of package sample).
const (
	drawChance = 0 // whether the walk ends or restarts
	drawEdge   = 1 // an edge; of try t with P or Q: drawEdge + 2t
	drawAccept = 2 // whether the edge is taken; of try t: drawAccept + 2t
	tries      = 64
)

// group is the number of walks that move at the same time. Their state fits the first-level cache, and they wait for more
// cache lines than a processor can fetch side by side.
const group = 256

// Context has the buffers of a goroutine that makes walks. It is not safe for concurrent use.
type Context struct {
	w *Walker

	// By number in the group.
	key        [group]uint64 // of the walk
	node, last [group]uint32 // the node, and the one before it or None
	moving     []uint32      // the walks that go on
	stepping   []uint32      // those that take an edge in this step
	pending    []uint32      // the walks in stepping for which no edge was accepted yet

	// By place in stepping or pending.
	at     [group]uint32
	from   [group]uint64
	degree [group]uint64
	chosen [group]uint64 // positions of edges
	near   [group]uint32 // the low 32 bits of these, for prefetches
	prefix []float64     // of the edges of a node
}

// NewContext makes a Context.
func (w *Walker) NewContext() *Context {
	return &Context{w: w, moving: make([]uint32, 0, group), stepping: make([]uint32, 0, group), pending: make([]uint32, 0, group)}
}

// Job is what the draws of all walks of a run have in common.
type Job struct {
	Seed, Epoch uint64
}

// Walk makes one walk for each start: number is the number of the walk among the walks of its start. nodes gets Length+1 nodes per
// walk, the start first and None after its end. edges, if not nil, gets the ids of the Length edges between them, and NoEdge
// where there is none. Starts are nodes of the type Walker.Start; a start that is not is an error.
func (c *Context) Walk(j Job, starts []uint32, numbers []uint32, nodes []uint32, edges []uint64) error {
	stride := c.w.rules.Length + 1
	for len(starts) > 0 {
		n := min(len(starts), group)
		var e []uint64
		if edges != nil {
			e, edges = edges[:n*(stride-1)], edges[n*(stride-1):]
		}
		if err := c.group(j, starts[:n], numbers[:n], nodes[:n*stride], e); err != nil {
			return err
		}
		starts, numbers, nodes = starts[n:], numbers[n:], nodes[n*stride:]
	}
	return nil
}

// group makes the walks of at most group starts.
func (c *Context) group(j Job, starts, numbers, nodes []uint32, edges []uint64) error {
	w, stride := c.w, c.w.rules.Length+1
	count := w.steps[0].Indptr.Len() - 1
	c.moving = c.moving[:0]
	base := draw.Key(j.Seed, j.Epoch, walkWord)
	for i, v := range starts {
		if int(v) >= count {
			return fmt.Errorf("found start node %d, expected less than %d, the nodes of type %s; starts are row numbers of the store; look original ids up first", v, count, w.start)
		}
		c.key[i] = draw.Absorb(draw.Absorb(base, uint64(numbers[i])), uint64(v))
		c.node[i], c.last[i] = v, None
		nodes[i*stride] = v
		c.moving = append(c.moving, uint32(i))
	}
	for i := range starts {
		rest := nodes[i*stride+1 : (i+1)*stride]
		for k := range rest {
			rest[k] = None
		}
	}
	for i := range edges {
		edges[i] = NoEdge
	}
	out := output{nodes, edges, stride, starts}
	for step := 1; step < stride && len(c.moving) > 0; step++ {
		n := &w.steps[(step-1)%len(w.steps)]
		c.chances(uint64(step), &out)
		if w.rules.biased() {
			if err := c.biased(uint64(step), n, &out); err != nil {
				return err
			}
		} else {
			c.free(uint64(step), n, &out)
		}
	}
	return nil
}

// output is where the walks of a group are written.
type output struct {
	nodes  []uint32
	edges  []uint64
	stride int
	starts []uint32
}

// move lets a walk take the edge at a position.
func (c *Context) move(i uint32, step uint64, n *sample.Neighbours, p uint64, out *output) {
	to := n.Far[p]
	c.last[i], c.node[i] = c.node[i], to
	out.nodes[int(i)*out.stride+int(step)] = to
	if out.edges != nil {
		out.edges[int(i)*(out.stride-1)+int(step)-1] = n.EdgeID(p)
	}
	c.moving = append(c.moving, i)
}

// chances ends or restarts walks by chance. The others are those that step.
func (c *Context) chances(step uint64, out *output) {
	c.stepping, c.moving = append(c.stepping[:0], c.moving...), c.moving[:0]
	r := &c.w.rules
	stop := r.Stop
	if step > 1 && (step-1)%uint64(len(c.w.steps)) == 0 {
		stop += r.End
	}
	if stop == 0 && r.Restart == 0 {
		return
	}
	all := c.stepping
	c.stepping = c.stepping[:0]
	for _, i := range all {
		switch u := draw.Unit(draw.At(draw.Absorb(c.key[i], step), drawChance)); {
		case u <= stop:
		case u <= stop+r.Restart:
			c.node[i], c.last[i] = out.starts[i], None
			out.nodes[int(i)*out.stride+int(step)] = out.starts[i]
			c.moving = append(c.moving, i)
		default:
			c.stepping = append(c.stepping, i)
		}
	}
}

// measure finds the edges of the nodes of the walks that step. Walks at nodes without edges end.
func (c *Context) measure(n *sample.Neighbours) {
	for k, i := range c.stepping {
		c.at[k] = c.node[i]
	}
	if n.Indptr.U32 != nil {
		prefetch.At(unsafe.SliceData(n.Indptr.U32), c.at[:len(c.stepping)])
	} else {
		prefetch.Wide((*float64)(unsafe.Pointer(unsafe.SliceData(n.Indptr.U64))), c.at[:len(c.stepping)])
	}
	m := 0
	for k, i := range c.stepping {
		from, to := n.Span(c.at[k])
		if from == to {
			continue
		}
		c.stepping[m], c.from[m], c.degree[m] = i, from, to-from
		m++
	}
	c.stepping = c.stepping[:m]
}

// choose chooses an edge by draw number of a step, for the walk at place k of stepping. No edge is chosen where none has a
// positive weight.
func (c *Context) choose(k int, step, number uint64, n *sample.Neighbours) (p uint64, ok bool) {
	i := c.stepping[k]
	r := draw.At(draw.Absorb(c.key[i], step), number)
	if c.w.rules.Column == "" {
		return c.from[k] + draw.Below(r, c.degree[k]), true
	}
	return n.Choose(c.from[k], c.from[k]+c.degree[k], r)
}

// reach prefetches the far ends at the first m chosen positions.
func (c *Context) reach(n *sample.Neighbours, m int) {
	if n.Indptr.U32 == nil {
		return // positions beyond 32 bits
	}
	for k, p := range c.chosen[:m] {
		c.near[k] = uint32(p)
	}
	prefetch.At(unsafe.SliceData(n.Far), c.near[:m])
}

// free makes a step without P and Q.
func (c *Context) free(step uint64, n *sample.Neighbours, out *output) {
	c.measure(n)
	m := 0
	for k := range c.stepping {
		if p, ok := c.choose(k, step, drawEdge, n); ok {
			c.stepping[m], c.chosen[m] = c.stepping[k], p
			m++
		}
	}
	c.reach(n, m)
	for k, i := range c.stepping[:m] {
		c.move(i, step, n, c.chosen[k], out)
	}
}

// biased makes a step with P or Q.
func (c *Context) biased(step uint64, n *sample.Neighbours, out *output) error {
	c.measure(n)
	c.pending = c.pending[:0] // places in stepping
	for k := range c.stepping {
		c.pending = append(c.pending, uint32(k))
	}
	for t := uint64(0); t < tries && len(c.pending) > 0; t++ {
		m := 0
		for _, k := range c.pending {
			if p, ok := c.choose(int(k), step, drawEdge+2*t, n); ok {
				c.pending[m], c.chosen[m] = k, p
				m++
			}
		}
		c.pending = c.pending[:m]
		c.reach(n, m)
		m = 0
		for j, k := range c.pending {
			i := c.stepping[k]
			if p := c.chosen[j]; c.accept(i, n.Far[p], draw.At(draw.Absorb(c.key[i], step), drawAccept+2*t)) {
				c.move(i, step, n, p, out)
			} else {
				c.pending[m] = k
				m++
			}
		}
		c.pending = c.pending[:m]
	}
	for _, k := range c.pending {
		p, err := c.exact(int(k), step, n)
		if err != nil {
			return err
		}
		c.move(c.stepping[k], step, n, p, out)
	}
	return nil
}

// accept says whether a walk takes an edge to a node.
func (c *Context) accept(i, to uint32, r uint64) bool {
	w := c.w
	last := c.last[i]
	if last == None {
		return true
	}
	x := draw.Unit(r) * w.top
	switch {
	case to == last:
		return x <= w.back
	case x <= min(1, w.away): // whether there is an edge or not
		return true
	case x > max(1, w.away):
		return false
	}
	return x <= w.bias(last, to)
}

// bias is the bias of a step to a node that is not the one before.
func (w *Walker) bias(last, to uint32) float64 {
	if w.joined(last, to) {
		return 1
	}
	return w.away
}

// exact chooses among all edges of a node in proportion to their biases, after every try was refused.
func (c *Context) exact(k int, step uint64, n *sample.Neighbours) (uint64, error) {
	w, i := c.w, c.stepping[k]
	from, degree := c.from[k], c.degree[k]
	c.prefix = c.prefix[:0]
	sum, taken := 0.0, 0
	for p := from; p < from+degree; p++ {
		x := w.back
		if to := n.Far[p]; to != c.last[i] {
			x = w.bias(c.last[i], to)
		}
		if w.rules.Column != "" {
			x *= n.Weight(p)
		}
		if x > 0 {
			sum, taken = sum+x, len(c.prefix)
		}
		c.prefix = append(c.prefix, sum)
	}
	if math.IsInf(sum, 1) {
		return 0, fmt.Errorf("found an infinite sum of weights times biases at node %d, expected finite ones; replace infinite weights, or divide all of them by one number", c.node[i])
	}
	x := draw.Unit(draw.At(draw.Absorb(c.key[i], step), drawEdge+2*tries)) * sum
	if p := sort.Search(len(c.prefix), func(p int) bool { return c.prefix[p] > x }); p < len(c.prefix) {
		taken = p
	}
	return from + uint64(taken), nil
}
