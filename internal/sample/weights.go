package sample

import (
	"math"
	"sort"
	"unsafe"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/tagged"
)

// weights is a column of weights along an adjacency.
type weights struct {
	*values
	// prefix holds, by position, the sum of the weights of the node's edges up to this one, inclusive.
	prefix []float64
	poor   []uint64 // a bit per node: it has a weight that is 0, negative or NaN. nil where no node has one.
	// cells are those of each node, by position: as many as it has edges. nil for a wide edge type, and for lists in any order.
	cells []cell
}

// columnCache holds the columns that several ops share.
type columnCache struct {
	byName   map[string]*values
	byWeight map[string]*weights
	byTime   map[timeOrder]bool // ascends
	after    *Sampler           // Options.After
}

func newColumnCache(after *Sampler) *columnCache {
	return &columnCache{map[string]*values{}, map[string]*weights{}, map[timeOrder]bool{}, after}
}

// timeOrder is a column of times in the order of an adjacency.
type timeOrder struct {
	adj   *adjacency
	times *values
}

func (c *columnCache) ascending(a *adjacency, times *values) bool {
	order := timeOrder{a, times}
	up, known := c.byTime[order]
	if !known {
		up = ascends(a, times, c.ascendedBefore(a, times))
		c.byTime[order] = up
	}
	return up
}

// ascendedBefore is the adjacency of the version before, of which a shares the rows, if the times of its lists ascend; nil elsewhere.
func (c *columnCache) ascendedBefore(a *adjacency, times *values) *adjacency {
	if c.after == nil || a.stops == nil {
		return nil
	}
	for i := range c.after.ops {
		if o := &c.after.ops[i]; o.ascending && o.adj.stops != nil && unsafe.SliceData(o.adj.far) == unsafe.SliceData(a.far) && o.times.shares(times) {
			return o.adj
		}
	}
	return nil
}

func (c *columnCache) values(e *graph.Edges, name string) (*values, error) {
	key := e.Type.String() + "\x00" + name
	if v := c.byName[key]; v != nil {
		return v, nil
	}
	v, err := readValues(e, name)
	c.byName[key] = v
	return v, err
}

// nodeValues is values for a column of nodes.
func (c *columnCache) nodeValues(n *graph.Nodes, name string) (*values, error) {
	key := "\x00" + n.Type + "\x00" + name
	if v := c.byName[key]; v != nil {
		return v, nil
	}
	v, err := readNodeValues(n, name)
	c.byName[key] = v
	return v, err
}

func (c *columnCache) weights(e *graph.Edges, name string, dir graph.Direction, a *adjacency) (*weights, error) {
	key := e.Type.String() + "\x00" + name + "\x00" + dir.String()
	if w := c.byWeight[key]; w != nil {
		return w, nil
	}
	v, err := c.values(e, name)
	if err != nil {
		return nil, err
	}
	w := &weights{values: v, prefix: makeTable[float64](a.count())}
	nodes := a.nodes()
	if !a.wide() && a.stops == nil { // cells of lists in any order could overlap
		w.cells = makeTable[cell](a.count())
	}
	for n := range nodes {
		sum := 0.0
		start, end := a.span(uint32(n))
		for p := start; p < end; p++ {
			x := v.weight(a.edge(p))
			if !(x > 0) {
				w.setPoor(uint32(n), nodes)
			}
			sum += x
			w.prefix[p] = sum
		}
		if math.IsInf(sum, 1) {
			return nil, tagged.Errorf(errWeight, "%s: found an infinite sum of column %q over the %s-edges of node %d, expected finite weights and sums; replace infinite weights, or divide all of them by one number",
				e.Type, name, dir, a.first+uint32(n))
		}
		if w.cells != nil {
			fillCells(w.cells[start:end], w.prefix[start:end])
		}
	}
	c.byWeight[key] = w
	return w, nil
}

// setPoor notes that node v of a number of nodes has a weight that is never drawn.
func (w *weights) setPoor(v uint32, nodes int) {
	if w.poor == nil {
		w.poor = make([]uint64, (nodes+63)/64)
	}
	w.poor[v/64] |= 1 << (v % 64)
}

// isPoor says whether node v has a weight that is never drawn.
func (w *weights) isPoor(v uint32) bool {
	return w.poor != nil && w.poor[v/64]>>(v%64)&1 == 1
}

// seek is the first index with a sum above x, or len(prefix) if there is none. The search starts from a guess.
func seek(prefix []float64, guess uint32, x float64) uint32 {
	p := int(guess)
	for p > 0 && prefix[p-1] > x {
		p--
	}
	for end := min(p+8, len(prefix)); p < end; p++ {
		if prefix[p] > x {
			return uint32(p)
		}
	}
	rest := prefix[p:]
	return uint32(p + sort.Search(len(rest), func(i int) bool { return rest[i] > x }))
}
