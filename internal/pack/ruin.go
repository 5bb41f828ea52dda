package pack

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// ruinCost is the cost of a round in addition to its search, in steps.
const ruinCost = 100

// ruin improves packs. It takes out a weak pack and some others and packs their graphs again. It keeps the
// result if that needs fewer packs, or as many that are filled less evenly, so that one of them may be emptied
// later. It stops when least packs are reached, or after the given steps.
func (s *search) ruin(patterns []Pattern, least, steps int64, random *rand.Rand) []Pattern {
	var packs [][]Part
	for _, p := range patterns {
		for range p.Packs {
			packs = append(packs, p.Parts)
		}
	}
	share := make([]float64, len(packs)) // of a full pack, by pack
	of := s.share
	for i, p := range packs {
		share[i] = of(p)
	}
	counts := make([]int64, len(s.in.size))
	var shapes []int
	var some []int64
	end := s.steps + steps
	for round := 0; int64(len(packs)) > least && len(packs) > 1 && s.steps < end; round++ {
		if round%64 == 63 && s.halted != nil && s.halted() {
			break
		}
		weak := random.IntN(len(packs))
		for range 29 {
			if i := random.IntN(len(packs)); share[i] < share[weak] {
				weak = i
			}
		}
		out := []int{weak}
		for range min(2+random.IntN(11), len(packs)-1) {
			if i := random.IntN(len(packs)); !slices.Contains(out, i) {
				out = append(out, i)
			}
		}
		shapes, some = shapes[:0], some[:0]
		was := 0.0
		for _, i := range out {
			was += share[i] * share[i]
			for _, p := range packs[i] {
				if counts[p.Shape] == 0 {
					shapes = append(shapes, p.Shape)
				}
				counts[p.Shape] += int64(p.Copies)
			}
		}
		for _, i := range shapes {
			some = append(some, counts[i])
			counts[i] = 0
		}
		s.load(shapes, some)
		s.steps += ruinCost + int64(len(shapes))
		s.enough = int64(len(out)) + 1
		made := s.bins(fill{budget: 400, frac: 1})
		if made == nil {
			continue
		}
		n, is := 0, 0.0
		for _, p := range made {
			n += int(p.Packs)
			x := of(p.Parts)
			is += float64(p.Packs) * x * x
		}
		if n > len(out) || n == len(out) && is < was {
			continue
		}
		slices.Sort(out)
		at := 0
		for _, p := range made {
			x := of(p.Parts)
			for range p.Packs {
				packs[out[at]], share[out[at]] = p.Parts, x
				at++
			}
		}
		for _, i := range slices.Backward(out[at:]) {
			last := len(packs) - 1
			packs[i], share[i] = packs[last], share[last]
			packs, share = packs[:last], share[:last]
		}
	}
	var result []Pattern
	for _, p := range packs {
		result = append(result, Pattern{slices.Clone(p), 1})
	}
	return result
}

// share is the share of a full pack that parts fill.
func (s *search) share(parts []Part) float64 {
	w := int64(0)
	for _, p := range parts {
		w += s.weights[p.Shape] * int64(p.Copies)
	}
	return float64(w) / float64(s.full)
}

// weakest splits off patterns that have at least n packs in total, the emptiest first.
func (s *search) weakest(patterns []Pattern, n int64) (weak, strong []Pattern) {
	order := slices.Clone(patterns)
	slices.SortStableFunc(order, func(a, b Pattern) int { return cmp.Compare(s.share(a.Parts), s.share(b.Parts)) })
	for i := range order {
		if n <= 0 {
			return order[:i], order[i:]
		}
		if order[i].Packs > n {
			// Only some packs of a pattern of many packs are needed.
			some, more := order[i], order[i]
			some.Packs, more.Packs = n, order[i].Packs-n
			return append(slices.Clone(order[:i]), some), append(slices.Clone(order[i+1:]), more)
		}
		n -= order[i].Packs
	}
	return order, nil
}
