package sample

import (
	"fmt"
	"math"
	"sort"

	"github.com/graphmill/graphmill/graph"
)

// weights is a column of weights along an adjacency.
type weights struct {
	*values
	// prefix holds, by position, the sum of the weights of the node's edges up
	// to and with this one.
	prefix   []float64
	positive bool // no weight is 0, negative or NaN
}

// columnCache holds what several ops share.
type columnCache struct {
	byName   map[string]*values
	byWeight map[string]*weights
}

func newColumnCache() *columnCache {
	return &columnCache{map[string]*values{}, map[string]*weights{}}
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

func (c *columnCache) weights(e *graph.Edges, name string, dir graph.Direction, a *adjacency) (*weights, error) {
	key := e.Type.String() + "\x00" + name + "\x00" + dir.String()
	if w := c.byWeight[key]; w != nil {
		return w, nil
	}
	v, err := c.values(e, name)
	if err != nil {
		return nil, err
	}
	w := &weights{values: v, prefix: make([]float64, len(a.far)), positive: true}
	for n := range len(a.indptr) - 1 {
		sum := 0.0
		for p := a.indptr[n]; p < a.indptr[n+1]; p++ {
			x := v.weight(a.edge(p))
			w.positive = w.positive && x > 0
			sum += x
			w.prefix[p] = sum
		}
		if math.IsInf(sum, 1) {
			return nil, fmt.Errorf("%w: found an infinite sum of column %q over the %s-edges of node %d of %s, expected finite weights and sums",
				ErrWeight, name, dir, n, e.Type)
		}
	}
	c.byWeight[key] = w
	return w, nil
}

// maxMisses is how many draws in a row may hit what is taken before the walk
// over what is left takes over.
const maxMisses = 16

// weighted picks k of the edges at the given positions (a run from start when
// at is nil), by index, and returns how many it took: fewer than k only when
// fewer have a positive weight.
func (c *Context) weighted(h uint64, o *op, start uint32, at []uint32, n int, k uint32, dst []uint32) int {
	w := o.weights
	weight := func(i int) float64 {
		if at != nil {
			return w.weight(o.adj.edge(at[i]))
		}
		return w.weight(o.adj.edge(start + uint32(i)))
	}
	live := uint32(n)
	if !w.positive || live <= k {
		live = 0
		for i := 0; i < n && live <= k; i++ {
			if weight(i) > 0 {
				if live < k {
					dst[live] = uint32(i)
				}
				live++
			}
		}
		if live <= k {
			return int(live)
		}
	}
	var prefix []float64
	if at == nil {
		prefix = w.prefix[start:][:n]
	} else {
		prefix = c.prefix[:0]
		sum := 0.0
		for i := range n {
			sum += weight(i)
			prefix = append(prefix, sum)
		}
		c.prefix = prefix
	}
	total := prefix[n-1]
	took, misses, draw := uint32(0), 0, uint64(0)
	for ; took < k && misses < maxMisses; draw++ {
		x := Unit(Draw(h, draw)) * total
		p := sort.Search(n, func(i int) bool { return prefix[i] > x })
		if p >= n || contains(dst[:took], uint32(p)) {
			misses++
			continue
		}
		dst[took] = uint32(p)
		took++
		misses = 0
	}
	if took < k {
		c.walk(h, draw, n, k, took, weight, dst)
	}
	return int(k)
}

// walk takes the draws from number draw on out of what is left, in order: the
// heavy edges, which a search in the sums would hit again and again, are gone.
func (c *Context) walk(h, draw uint64, n int, k, took uint32, weight func(int) float64, dst []uint32) {
	if cap(c.rest) < n {
		c.rest = make([]float64, n)
	}
	rest := c.rest[:n] // the weights of what is left; 0 where nothing is
	for i := range rest {
		rest[i] = weight(i)
	}
	for _, p := range dst[:took] {
		rest[p] = 0
	}
	for ; took < k; took, draw = took+1, draw+1 {
		total, last := 0.0, 0
		for i, x := range rest {
			total += x
			if x > 0 {
				last = i
			}
		}
		x, sum, p := Unit(Draw(h, draw))*total, 0.0, last
		for i, y := range rest {
			sum += y
			if y > 0 && sum > x {
				p = i
				break
			}
		}
		dst[took] = uint32(p)
		rest[p] = 0
	}
}

func contains(list []uint32, x uint32) bool {
	for _, y := range list {
		if y == x {
			return true
		}
	}
	return false
}
