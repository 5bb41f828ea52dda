package sample

// Top takes the edges with the largest values of a column.
const Top How = 3

// top is the strategy of Top.
type top struct{ edgewise }

func (top) name() string { return "top" }

func (top) traits(*Op) traits { return traits{column: needsNumbers} }

func (top) compile(o *op, from *opSource) (drawer, error) {
	v, err := from.columns.values(from.edges, from.op.Column)
	d := &topDraws{values: v}
	if o.take != takeAll && o.nodeTimes == nil && !from.plan.timed(from.op.Edges) {
		d.hubs = &hubs{room: hubWords}
	}
	return d, err
}

// topDraws is the drawer of Top.
type topDraws struct {
	values *values
	hubs   *hubs // nil where the largest values depend on the seed, or all are taken
}

func (t *topDraws) draw(c *Context, o *op, _ uint64, r *run, dst []uint32) int {
	if t.hubs == nil || r.n < max(hubEdges, r.degree) || r.at != nil {
		return t.largest(c, o, r, dst)
	}
	if list, ok := t.hubs.get(r.node); ok {
		return copy(dst, list)
	}
	n := t.largest(c, o, r, dst)
	t.hubs.put(r.node, dst[:n])
	return n
}

// largest picks as many of the largest values of the edges of a run without left as the op takes, by index.
// The largest comes first; of equal values the later position comes first; NaN is never picked. It returns how many it
// picked.
//
// One pass keeps the best so far in a heap with the worst on top. The heap is then emptied from the back.
func (t *topDraws) largest(c *Context, o *op, r *run, dst []uint32) int {
	h, k := topHeap{values: t.values, item: dst[:0], edge: c.edge[:0]}, o.take
	for i := range r.n {
		e := r.edge(o.adj, int(i))
		switch {
		case t.values.nan(e):
		case uint32(len(h.item)) < k:
			h.item, h.edge = append(h.item, i), append(h.edge, e)
			h.up(len(h.item) - 1)
		case k > 0 && !t.values.less(e, h.edge[0]): // later, so it comes before an equal one
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
