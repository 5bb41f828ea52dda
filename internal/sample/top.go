package sample

// largest picks the k largest values of the edges of a run without left, by index.
// The largest comes first; of equal values the later position comes first; NaN is never picked. It returns how many it
// picked.
//
// One pass keeps the best k so far in a heap with the worst on top. The heap is then emptied from the back.
func (c *Context) largest(o *op, r *run, k uint32, dst []uint32) int {
	h := topHeap{values: o.top, item: dst[:0], edge: c.edge[:0]}
	for i := range r.n {
		e := r.edge(o.adj, int(i))
		switch {
		case o.top.nan(e):
		case uint32(len(h.item)) < k:
			h.item, h.edge = append(h.item, i), append(h.edge, e)
			h.up(len(h.item) - 1)
		case k > 0 && !o.top.less(e, h.edge[0]): // later, so it comes before an equal one
			h.item[0], h.edge[0] = i, e
			h.down(0, len(h.item))
		}
	}
	for end := len(h.item) - 1; end > 0; end-- {
		h.swap(0, end)
		h.down(0, end)
	}
	c.edge = h.edge
	return len(h.item)
}

// topHeap is a heap of items and their edges, with the worst at the root.
type topHeap struct {
	values *values
	item   []uint32
	edge   []uint64
}

// worse says whether element i comes after element j.
func (h *topHeap) worse(i, j int) bool {
	if h.values.less(h.edge[i], h.edge[j]) {
		return true
	}
	return !h.values.less(h.edge[j], h.edge[i]) && h.item[i] < h.item[j]
}

func (h *topHeap) swap(i, j int) {
	h.item[i], h.item[j] = h.item[j], h.item[i]
	h.edge[i], h.edge[j] = h.edge[j], h.edge[i]
}

func (h *topHeap) up(i int) {
	for i > 0 && h.worse(i, (i-1)/2) {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

// down sinks element i among the first n.
func (h *topHeap) down(i, n int) {
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < n; child++ {
			if h.worse(child, worst) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		h.swap(i, worst)
		i = worst
	}
}
