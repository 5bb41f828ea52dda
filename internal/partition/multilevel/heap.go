package multilevel

// heap holds nodes by descending gain, ties by node.
type heap struct {
	nodes []uint32
	gain  []int64  // by node
	place []uint32 // by node: 1 + index in nodes; 0: not in the heap
}

func newHeap(n int) *heap { return &heap{gain: make([]int64, n), place: make([]uint32, n)} }

func (h *heap) len() int { return len(h.nodes) }

func (h *heap) has(v uint32) bool { return h.place[v] > 0 }

func (h *heap) before(a, b uint32) bool {
	return h.gain[a] > h.gain[b] || h.gain[a] == h.gain[b] && a < b
}

// put adds v, or changes its gain.
func (h *heap) put(v uint32, gain int64) {
	if h.place[v] == 0 {
		h.gain[v] = gain
		h.nodes = append(h.nodes, v)
		h.place[v] = uint32(len(h.nodes))
		h.up(len(h.nodes) - 1)
		return
	}
	old := h.gain[v]
	h.gain[v] = gain
	if gain > old {
		h.up(int(h.place[v] - 1))
	} else if gain < old {
		h.down(int(h.place[v] - 1))
	}
}

// pop removes and returns the first node. The heap must not be empty.
func (h *heap) pop() uint32 {
	v := h.nodes[0]
	h.remove(v)
	return v
}

// remove removes v, which must be in the heap.
func (h *heap) remove(v uint32) {
	i := int(h.place[v] - 1)
	last := len(h.nodes) - 1
	moved := h.nodes[last]
	h.nodes = h.nodes[:last]
	h.place[v] = 0
	if i == last {
		return
	}
	h.nodes[i] = moved
	h.place[moved] = uint32(i + 1)
	h.up(i)
	h.down(int(h.place[moved] - 1))
}

func (h *heap) clear() {
	for _, v := range h.nodes {
		h.place[v] = 0
	}
	h.nodes = h.nodes[:0]
}

func (h *heap) up(i int) {
	v := h.nodes[i]
	for i > 0 {
		p := (i - 1) / 2
		if !h.before(v, h.nodes[p]) {
			break
		}
		h.nodes[i] = h.nodes[p]
		h.place[h.nodes[i]] = uint32(i + 1)
		i = p
	}
	h.nodes[i] = v
	h.place[v] = uint32(i + 1)
}

func (h *heap) down(i int) {
	v := h.nodes[i]
	for {
		c := 2*i + 1
		if c >= len(h.nodes) {
			break
		}
		if c+1 < len(h.nodes) && h.before(h.nodes[c+1], h.nodes[c]) {
			c++
		}
		if !h.before(h.nodes[c], v) {
			break
		}
		h.nodes[i] = h.nodes[c]
		h.place[h.nodes[i]] = uint32(i + 1)
		i = c
	}
	h.nodes[i] = v
	h.place[v] = uint32(i + 1)
}
