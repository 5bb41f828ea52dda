package pack

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"
)

// relaxation is column generation for the linear program of a problem in one or
// two components.
type relaxation struct {
	in     *instance
	shapes []int // shapes of the rows
	counts []int64
	sack   *knapsack
	lp     *program
	seen   map[uint64]bool // hashes of the columns
	key    []byte
	parts  []Part    // Shape is the row
	best   []float64 // duals of the highest bound
	bound  int64
	worth  []int64
	steps  int64
	halted func() bool // nil: never
}

// maxRows bounds the size of the dense inverse.
const maxRows = 1000

// dualScale converts duals to integers.
const dualScale = 1 << 40

// newRelaxation makes the relaxation for one or two components, given as indices into Problem.Limits; nil if
// it would be too large. Shapes that are equal in these components share a row. Shapes of no size in them have
// no row: a bound without them is a bound for all.
func newRelaxation(p *Problem, in *instance, components []int) *relaxation {
	r := &relaxation{in: in, seen: map[uint64]bool{}}
	rows := map[[2]int]int{}
	var sizes [][]int
	limits := make([]int, len(components))
	for k, j := range components {
		limits[k] = p.Limits[j]
	}
	for i := range p.Counts {
		var key [2]int
		for k, j := range components {
			key[k] = p.Shape(i)[j]
		}
		if key == [2]int{} {
			continue
		}
		at, ok := rows[key]
		if !ok {
			at = len(sizes)
			rows[key] = at
			sizes = append(sizes, key[:len(components)])
			r.shapes, r.counts = append(r.shapes, i), append(r.counts, 0)
		}
		r.counts[at] += p.Counts[i]
	}
	if len(sizes) == 0 || len(sizes) > maxRows {
		return nil
	}
	if r.sack = newKnapsack(sizes, limits); r.sack == nil {
		return nil
	}
	singles := make([]int, len(sizes))
	r.best = make([]float64, len(sizes))
	// The binding component gives the first duals: those with which a pack is worth 1.
	bind := 0
	for k, j := range components {
		if in.demand[j] > in.demand[components[bind]] {
			bind = k
		}
	}
	for i, s := range sizes {
		n := int(maxSize)
		for k, l := range limits {
			if s[k] > 0 {
				n = min(n, l/s[k])
			}
		}
		singles[i] = n
		r.best[i] = float64(s[bind]) / float64(max(limits[bind], 1))
	}
	r.lp = newProgram(r.counts, singles)
	r.worth = make([]int64, len(sizes))
	return r
}

// seedWith adds the patterns of a packing of the instance, those of the most packs first. Every shape must
// have a row, unless it has no size.
func (r *relaxation) seedWith(patterns []Pattern) {
	patterns = slices.Clone(patterns)
	slices.SortStableFunc(patterns, func(a, b Pattern) int { return cmp.Compare(b.Packs, a.Packs) })
	patterns = patterns[:min(len(patterns), 4*len(r.counts))]
	row := slices.Repeat([]int{-1}, len(r.in.size))
	for i, s := range r.shapes {
		row[s] = i
	}
	for _, p := range patterns {
		r.parts = r.parts[:0]
		for _, part := range p.Parts {
			if at := row[part.Shape]; at >= 0 {
				r.parts = append(r.parts, Part{at, part.Copies})
			}
		}
		if r.parts = joined(r.parts); len(r.parts) > 0 {
			r.addParts()
		}
	}
}

// addParts adds the column of r.parts, which has each row once, if it is new. It reports whether it was new.
func (r *relaxation) addParts() bool {
	r.key = r.key[:0]
	for _, p := range r.parts {
		r.key = binary.LittleEndian.AppendUint32(r.key, uint32(p.Shape))
		r.key = binary.LittleEndian.AppendUint32(r.key, uint32(p.Copies))
	}
	h := xxh3.Hash(r.key)
	if r.seen[h] {
		return false
	}
	r.seen[h] = true
	c := column{make([]int32, len(r.parts)), make([]float64, len(r.parts))}
	for i, p := range r.parts {
		c.row[i], c.copies[i] = int32(p.Shape), float64(p.Copies)
	}
	r.lp.add(c)
	return true
}

// price solves the knapsack for the given duals, raises the bound by what they prove, and adds the best column
// through each row that gains with the program's own duals.
func (r *relaxation) price(dual []float64) (added int) {
	for i, y := range dual {
		r.worth[i] = int64(max(y, 0) * dualScale)
	}
	v := r.sack.solve(r.worth, r.halted)
	var sum fraction
	for i, w := range r.worth {
		sum.add(r.counts[i], w)
	}
	if v > 0 {
		if b := sum.ceil(v); b > r.bound {
			r.bound = b
			r.best = append(r.best[:0], dual...)
		}
	}
	for i := range r.counts {
		r.parts = joined(r.sack.with(i, r.parts[:0]))
		gain := -1.0
		for _, p := range r.parts {
			gain += float64(r.lp.dual[p.Shape] * float64(p.Copies))
		}
		if gain > epsilon && r.addParts() {
			added++
		}
	}
	return added
}

// run generates columns until none gains, the bound reaches stop, or the steps are used up. It reports whether
// the program was solved.
func (r *relaxation) run(stop, steps int64) bool {
	m := int64(len(r.counts))
	mixed := make([]float64, m)
	share := 0.9
	if r.bound == 0 {
		// The first duals are good ones: later ones stay near them.
		r.price(slices.Clone(r.best))
	}
	for r.steps < steps && (r.halted == nil || !r.halted()) {
		before := r.lp.steps
		whole := r.lp.optimise(500)
		r.steps += r.lp.steps - before
		for i, y := range r.lp.dual {
			mixed[i] = share*r.best[i] + (1-share)*max(y, 0)
		}
		cells, bound := r.sack.steps, r.bound
		added := r.price(mixed)
		if added == 0 {
			added = r.price(slices.Clone(r.lp.dual))
			if added == 0 && whole {
				return true
			}
		}
		r.steps += r.sack.steps - cells + 300*m
		if r.bound >= stop || whole && float64(r.bound) >= r.lp.objective()*(1-1e-9)-1e-6 {
			return r.bound < stop
		}
		if share = max(share-0.05, 0.5); r.bound > bound {
			share = 0.9
		}
		if len(r.lp.cols) > 8*len(r.counts)+4000 {
			r.lp.purge(4*len(r.counts) + 2000)
			clear(r.seen)
		}
	}
	return false
}

// crowded reports whether a column of the solution has more graphs than a pack may have.
func (r *relaxation) crowded(most int) bool {
	for i, b := range r.lp.basis {
		if b < 0 || r.lp.value[i] < 1 {
			continue
		}
		n := 0.0
		for _, c := range r.lp.cols[b].copies {
			n += c
		}
		if n > float64(most) {
			return true
		}
	}
	return false
}
