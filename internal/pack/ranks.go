package pack

import (
	"container/heap"

	"github.com/graphmill/graphmill/internal/tagged"
)

// Divide makes the number of packs a multiple of ranks, so that each rank of a training gets equally many: it
// splits packs with the most graphs in two.
func (p *Packing) Divide(h *Histogram, ranks int) error {
	if ranks < 1 {
		return tagged.Errorf(ErrLimits, "found %d ranks, expected at least 1", ranks)
	}
	packs := p.Packs()
	more := (int64(ranks) - packs%int64(ranks)) % int64(ranks)
	if packs+more > h.Graphs() {
		return tagged.Errorf(ErrLimits, "found %d graphs, expected at least %d, one for each pack of %d ranks; take fewer ranks", h.Graphs(), packs+more, ranks)
	}
	if more == 0 {
		return nil
	}
	var open crowds
	for _, x := range p.Patterns {
		_, n := sums(h, x.Parts)
		open = append(open, crowd{x, n})
	}
	heap.Init(&open)
	for more > 0 {
		// Halves have fewer graphs than the packs that they come from, so all packs of a pattern are split
		// before the halves of one are.
		top := &open[0]
		of := *top
		split := min(more, of.Packs)
		more -= split
		if top.Packs -= split; top.Packs == 0 {
			heap.Pop(&open)
		}
		var a, b []Part
		half := of.graphs / 2
		left := half
		for _, x := range of.Parts {
			n := min(left, x.Copies)
			left -= n
			if n > 0 {
				a = append(a, Part{x.Shape, n})
			}
			if n < x.Copies {
				b = append(b, Part{x.Shape, x.Copies - n})
			}
		}
		heap.Push(&open, crowd{Pattern{a, split}, half})
		heap.Push(&open, crowd{Pattern{b, split}, of.graphs - half})
	}
	var patterns []Pattern
	for _, x := range open {
		patterns = append(patterns, x.Pattern)
	}
	*p = *tidy(patterns)
	return nil
}

// crowd is a pattern with the number of graphs in one of its packs. Crowds form a heap with the largest number
// on top.
type crowd struct {
	Pattern
	graphs int
}

type crowds []crowd

func (c crowds) Len() int           { return len(c) }
func (c crowds) Less(i, j int) bool { return c[i].graphs > c[j].graphs }
func (c crowds) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *crowds) Push(x any)        { *c = append(*c, x.(crowd)) }

func (c *crowds) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}
