package sample

// leastHeap is a heap of items and their numbers, with the largest number at the root; of equal ones the later item.
type leastHeap struct {
	item []uint32
	x    []float64
}

func (h *leastHeap) worse(i, j int) bool {
	return h.x[i] > h.x[j] || h.x[i] == h.x[j] && h.item[i] > h.item[j]
}

func (h *leastHeap) swap(i, j int) {
	h.item[i], h.item[j] = h.item[j], h.item[i]
	h.x[i], h.x[j] = h.x[j], h.x[i]
}

func (h *leastHeap) up(i int) {
	for i > 0 && h.worse(i, (i-1)/2) {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

// replace puts an item in the place of the worst.
func (h *leastHeap) replace(i uint32, x float64) {
	h.item[0], h.x[0] = i, x
	h.down()
}

// down sinks the root.
func (h *leastHeap) down() {
	for i := 0; ; {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.x); child++ {
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
