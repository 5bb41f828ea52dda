package pack

import "github.com/graphmill/graphmill/internal/tagged"

// Divide makes the number of packs a multiple of ranks, so that each rank of a
// training takes as many: packs with the most graphs are split in two.
func (p *Packing) Divide(h *Histogram, ranks int) error {
	if ranks < 1 {
		return tagged.Errorf(ErrLimits, "found %d ranks, expected at least 1", ranks)
	}
	packs := p.Packs()
	more := (int64(ranks) - packs%int64(ranks)) % int64(ranks)
	if packs+more > h.Graphs() {
		return tagged.Errorf(ErrLimits, "found %d graphs, expected at least %d, one for each pack of %d ranks", h.Graphs(), packs+more, ranks)
	}
	patterns := p.Patterns
	for ; more > 0; more-- {
		at, most := -1, 1
		for i, x := range patterns {
			if _, n := sums(h, x.Parts); x.Packs > 0 && n > most {
				at, most = i, n
			}
		}
		patterns[at].Packs--
		var a, b []Part
		left := most / 2
		for _, x := range patterns[at].Parts {
			n := min(left, x.Copies)
			left -= n
			if n > 0 {
				a = append(a, Part{x.Shape, n})
			}
			if n < x.Copies {
				b = append(b, Part{x.Shape, x.Copies - n})
			}
		}
		patterns = append(patterns, Pattern{a, 1}, Pattern{b, 1})
	}
	n := 0
	for _, x := range patterns {
		if x.Packs > 0 {
			patterns[n] = x
			n++
		}
	}
	*p = *tidy(patterns[:n])
	return nil
}
