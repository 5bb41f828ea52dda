package pack

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/zeebo/xxh3"
)

// relaxation is column generation for the linear program of a problem in some of its components. Its items are
// the shapes, those that are equal in these components joined. A row of the program is an item, or, if there are
// many items, a group of similar ones; then each component has a row as well, by which the packs must have room
// for all graphs. So the dual of an item is the dual of its group, and a share of its sizes.
type relaxation struct {
	in      *instance
	shapes  []int // of the items, one each
	counts  []int64
	group   []int       // row of each item; nil: item i has row i
	rows    int         // of the items
	share   [][]float64 // of each item, of the limits; nil without groups
	sack    *knapsack   // the pricing: a table if it is small enough
	tree    *brancher   // otherwise a search
	probes  []int       // items through which patterns are priced, one per row
	lp      *program
	seen    map[uint64]bool // hashes of the columns
	key     []byte
	parts   []Part // Shape is the item
	entries []coefficient
	best    []float64 // duals of the highest bound
	bound   int64
	known   int64 // a bound from elsewhere; the relaxation ends if it cannot exceed it
	worth   []int64
	own     []float64 // duals of the items by the program
	steps   int64
	halted  func() bool // nil: never
}

// coefficient is a number of a column.
type coefficient struct {
	row   int32
	value float64
}

const (
	maxRows   = 1000  // bounds the size of the dense inverse
	maxItems  = 12000 // bounds the work of a search
	groupRows = 400   // of more items than maxRows

)

// dualScale converts duals to integers.
const dualScale = 1 << 40

// newRelaxation makes the relaxation for components, given as indices into Problem.Limits; nil if it would be
// too large. A table that takes more than the given steps to fill is not used. Shapes of no size in the
// components are no items: a bound without them is a bound for all.
func newRelaxation(p *Problem, in *instance, components []int, steps int64) *relaxation {
	r := &relaxation{in: in, seen: map[uint64]bool{}}
	at := map[[MaxComponents]int]int{}
	var sizes [][]int
	limits := make([]int, len(components))
	for k, j := range components {
		limits[k] = p.Limits[j]
	}
	for i := range p.Counts {
		var key [MaxComponents]int
		for k, j := range components {
			key[k] = p.Shape(i)[j]
		}
		if key == [MaxComponents]int{} {
			continue
		}
		to, ok := at[key]
		if !ok {
			if to = len(sizes); to == maxItems {
				return nil
			}
			at[key] = to
			sizes = append(sizes, slices.Clone(key[:len(components)]))
			r.shapes, r.counts = append(r.shapes, i), append(r.counts, 0)
		}
		r.counts[to] += p.Counts[i]
	}
	if len(sizes) == 0 {
		return nil
	}
	if r.rows = len(sizes); r.rows <= maxRows && len(components) <= 2 {
		if r.sack = newKnapsack(sizes, limits); r.sack != nil && r.sack.most() > steps {
			r.sack = nil
		}
	}
	if r.sack == nil {
		if len(components) < len(p.Limits) {
			return nil // a projection is worth little work
		}
		r.tree = newBrancher(sizes, r.counts, limits, p.MaxGraphs)
	}
	r.build(sizes, limits, components, p.MaxGraphs)
	return r
}

// build makes the program with a column for each row, and the first duals.
func (r *relaxation) build(sizes [][]int, limits, components []int, maxGraphs int) {
	// The binding component gives the first duals: those with which a pack is worth 1.
	bind := 0
	for k, j := range components {
		if r.in.demand[j] > r.in.demand[components[bind]] {
			bind = k
		}
	}
	var totals []float64
	if len(sizes) > maxRows {
		r.group, r.rows = groups(sizes, r.counts, limits, groupRows)
		totals = make([]float64, len(limits))
		for i, s := range sizes {
			share := make([]float64, len(limits))
			for k, l := range limits {
				share[k] = float64(s[k]) / float64(max(l, 1))
				totals[k] += float64(share[k] * float64(r.counts[i]))
			}
			r.share = append(r.share, share)
		}
	}
	singles, counts := make([]int, r.rows+len(totals)), make([]float64, r.rows)
	r.best, r.probes = make([]float64, r.rows+len(totals)), make([]int, r.rows)
	for i, s := range sizes {
		n := int64(maxSize)
		if r.tree != nil {
			if n = r.counts[i]; maxGraphs > 0 {
				n = min(n, int64(maxGraphs))
			}
		}
		for k, l := range limits {
			if s[k] > 0 {
				n = min(n, int64(l/s[k]))
			}
		}
		row := r.row(i)
		if counts[row] += float64(r.counts[i]); int(n) > singles[row] {
			singles[row], r.probes[row] = int(n), i
		}
		if r.group == nil {
			r.best[i] = float64(s[bind]) / float64(max(limits[bind], 1))
		}
	}
	for k, total := range totals {
		// The first column of a total is a pack that is full in the component, of no graphs.
		singles[r.rows+k] = 1
		counts = append(counts, total)
	}
	if r.group != nil {
		r.best[r.rows+bind] = 1
	}
	r.lp = newProgram(counts, singles)
	r.worth, r.own = make([]int64, len(sizes)), make([]float64, len(sizes))
}

// row is the row of an item.
func (r *relaxation) row(i int) int {
	if r.group == nil {
		return i
	}
	return r.group[i]
}

// value is the dual of an item.
func (r *relaxation) value(dual []float64, i int) float64 {
	y := dual[r.row(i)]
	if r.share != nil {
		for k, s := range r.share[i] {
			y += float64(dual[r.rows+k] * s)
		}
	}
	return y
}

// seedWith adds the patterns of a packing of the instance, the ones with the most packs first. Every shape must
// be an item, unless it has no size.
func (r *relaxation) seedWith(patterns []Pattern) {
	patterns = slices.Clone(patterns)
	slices.SortStableFunc(patterns, func(a, b Pattern) int { return cmp.Compare(b.Packs, a.Packs) })
	patterns = patterns[:min(len(patterns), 4*len(r.counts))]
	item := slices.Repeat([]int{-1}, len(r.in.size))
	for i, s := range r.shapes {
		item[s] = i
	}
	for _, p := range patterns {
		r.parts = r.parts[:0]
		for _, part := range p.Parts {
			if at := item[part.Shape]; at >= 0 {
				r.parts = append(r.parts, Part{at, part.Copies})
			}
		}
		if r.parts = joined(r.parts); len(r.parts) > 0 {
			r.addParts()
		}
	}
}

// addParts adds the column of r.parts, which has each item once, if it is new. It reports whether it was new.
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
	r.entries = r.entries[:0]
	var filled [MaxComponents]float64
	for _, p := range r.parts {
		r.entries = append(r.entries, coefficient{int32(r.row(p.Shape)), float64(p.Copies)})
		if r.share != nil {
			for k, s := range r.share[p.Shape] {
				filled[k] += float64(s * float64(p.Copies))
			}
		}
	}
	slices.SortStableFunc(r.entries, func(a, b coefficient) int { return int(a.row - b.row) })
	c := column{}
	for _, e := range r.entries {
		if n := len(c.row); n > 0 && c.row[n-1] == e.row {
			c.copies[n-1] += e.value
			continue
		}
		c.row, c.copies = append(c.row, e.row), append(c.copies, e.value)
	}
	if r.share != nil {
		for k := range r.share[0] {
			if filled[k] > 0 {
				c.row, c.copies = append(c.row, int32(r.rows+k)), append(c.copies, filled[k])
			}
		}
	}
	r.lp.add(c)
	return true
}

// price finds the most valuable pattern for the given duals, raises the bound by what they prove, and adds a good
// column through each row that gains with the program's own duals.
func (r *relaxation) price(dual []float64) (added int) {
	for i := range r.counts {
		r.worth[i] = int64(max(r.value(dual, i), 0) * dualScale)
		r.own[i] = r.value(r.lp.dual, i)
	}
	before := r.work()
	var v int64
	if r.sack != nil {
		v = r.sack.solve(r.worth, r.halted)
	} else {
		r.tree.halted = r.halted
		v = r.tree.solve(r.worth, 0, r.probes)
	}
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
	try := func() {
		gain := -1.0
		for _, p := range r.parts {
			gain += float64(r.own[p.Shape] * float64(p.Copies))
		}
		if gain > epsilon && r.addParts() {
			added++
		}
	}
	if r.sack != nil {
		for i := range r.counts {
			r.parts = joined(r.sack.with(i, r.parts[:0]))
			try()
		}
	} else {
		for _, found := range append(r.tree.found, r.tree.top) {
			r.parts = joined(append(r.parts[:0], found...))
			try()
		}
	}
	r.steps += r.work() - before
	return added
}

// work is the number of steps of the pricing.
func (r *relaxation) work() int64 {
	if r.sack != nil {
		return r.sack.steps
	}
	return r.tree.steps
}

// run generates columns until none gains, the bound reaches stop, or the steps are used up. It reports whether
// the program was solved.
func (r *relaxation) run(stop, steps int64) bool {
	m := int64(r.lp.rows)
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
		bound := r.bound
		added := r.price(mixed)
		if added == 0 {
			added = r.price(slices.Clone(r.lp.dual))
			if added == 0 && whole {
				return true
			}
		}
		r.steps += 300 * m
		if r.bound >= stop || whole && float64(r.bound) >= r.lp.objective()*(1-1e-9)-1e-6 {
			return r.bound < stop
		}
		if whole && r.lp.objective() <= float64(r.known) {
			return true
		}
		if share = max(share-0.05, 0.5); r.bound > bound {
			share = 0.9
		}
		if len(r.lp.cols) > 8*r.lp.rows+4000 {
			r.lp.purge(4*r.lp.rows + 2000)
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

// groups divides items into at most most groups of similar sizes, by halving the group whose sizes and counts
// spread most. It returns the group of each item, and the number of groups.
func groups(sizes [][]int, counts []int64, limits []int, most int) (group []int, n int) {
	type cell struct {
		items  []int
		along  int
		spread float64
	}
	measure := func(items []int) cell {
		c := cell{items: items, spread: -1}
		total := 0.0
		for _, i := range items {
			total += float64(counts[i])
		}
		for k, l := range limits {
			low, high := math.MaxInt, 0
			for _, i := range items {
				low, high = min(low, sizes[i][k]), max(high, sizes[i][k])
			}
			if s := total * float64(high-low) / float64(max(l, 1)); s > c.spread {
				c.along, c.spread = k, s
			}
		}
		return c
	}
	all := make([]int, len(sizes))
	for i := range all {
		all[i] = i
	}
	cells := []cell{measure(all)}
	for len(cells) < most {
		at := 0
		for i := range cells {
			if cells[i].spread > cells[at].spread {
				at = i
			}
		}
		c := cells[at]
		if len(c.items) < 2 || c.spread <= 0 {
			break
		}
		slices.SortFunc(c.items, func(a, b int) int { return cmp.Or(sizes[a][c.along]-sizes[b][c.along], a-b) })
		half := len(c.items) / 2
		cells[at] = measure(c.items[:half:half])
		cells = append(cells, measure(c.items[half:]))
	}
	group = make([]int, len(sizes))
	for g, c := range cells {
		for _, i := range c.items {
			group[i] = g
		}
	}
	return group, len(cells)
}
