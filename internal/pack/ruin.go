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
	r := &ruins{search: s, random: random, counts: make([]int64, len(s.in.size))}
	for _, p := range patterns {
		for range p.Packs {
			r.packs = append(r.packs, p.Parts)
			r.shares = append(r.shares, s.share(p.Parts))
		}
	}
	end := s.steps + steps
	for round := 0; int64(len(r.packs)) > least && len(r.packs) > 1 && s.steps < end; round++ {
		if round%64 == 63 && s.halted != nil && s.halted() {
			break
		}
		out := r.choose()
		was := r.load(out)
		s.enough = int64(len(out)) + 1
		made := s.bins(fill{budget: 400, frac: 1})
		if made == nil {
			continue
		}
		n, is := 0, 0.0
		for _, p := range made {
			n += int(p.Packs)
			x := s.share(p.Parts)
			is += float64(p.Packs) * x * x
		}
		if n > len(out) || n == len(out) && is < was {
			continue
		}
		r.replace(out, made)
	}
	var result []Pattern
	for _, p := range r.packs {
		result = append(result, Pattern{slices.Clone(p), 1})
	}
	return result
}

// ruins are the packs that ruin improves.
type ruins struct {
	*search
	random *rand.Rand
	packs  [][]Part
	shares []float64 // of a full pack, by pack
	// Buffers of load: the copies of each shape, all 0 between calls; the shapes that are loaded, and their copies.
	counts []int64
	shapes []int
	some   []int64
}

// choose returns a weak pack and some others.
func (r *ruins) choose() []int {
	weak := r.random.IntN(len(r.packs))
	for range 29 {
		if i := r.random.IntN(len(r.packs)); r.shares[i] < r.shares[weak] {
			weak = i
		}
	}
	out := []int{weak}
	for range min(2+r.random.IntN(11), len(r.packs)-1) {
		if i := r.random.IntN(len(r.packs)); !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out
}

// load gives the graphs of some packs to the search. It returns the sum of the squares of their shares.
func (r *ruins) load(out []int) (was float64) {
	r.shapes, r.some = r.shapes[:0], r.some[:0]
	for _, i := range out {
		was += r.shares[i] * r.shares[i]
		for _, p := range r.packs[i] {
			if r.counts[p.Shape] == 0 {
				r.shapes = append(r.shapes, p.Shape)
			}
			r.counts[p.Shape] += int64(p.Copies)
		}
	}
	for _, i := range r.shapes {
		r.some = append(r.some, r.counts[i])
		r.counts[i] = 0
	}
	r.search.load(r.shapes, r.some)
	r.steps += ruinCost + int64(len(r.shapes))
	return was
}

// replace puts packs that were made into the places of as many others or more.
func (r *ruins) replace(out []int, made []Pattern) {
	slices.Sort(out)
	at := 0
	for _, p := range made {
		x := r.share(p.Parts)
		for range p.Packs {
			r.packs[out[at]], r.shares[out[at]] = p.Parts, x
			at++
		}
	}
	for _, i := range slices.Backward(out[at:]) {
		last := len(r.packs) - 1
		r.packs[i], r.shares[i] = r.packs[last], r.shares[last]
		r.packs, r.shares = r.packs[:last], r.shares[:last]
	}
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
