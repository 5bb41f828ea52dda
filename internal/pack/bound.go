package pack

import (
	"context"
	"math/bits"
	"slices"
)

// bound returns a lower bound on the number of packs of any packing: the highest bound that needs no effort.
// The linear program of Solve raises it. If the context is done early, the bound is lower.
func bound(ctx context.Context, p *Problem) int64 {
	b := p.continuous()
	for j, l := range p.Limits {
		sizes := make([]int, len(p.Counts))
		for i := range p.Counts {
			sizes[i] = p.Shape(i)[j]
		}
		b = max(b, dualFeasible(ctx, sizes, p.Counts, l))
	}
	return b
}

// continuous is the bound that follows from the sums of the sizes.
func (p *Problem) continuous() int64 {
	b := int64(1)
	for j, l := range p.Limits {
		if l > 0 {
			b = max(b, ceilDiv(p.Total(j), int64(l)))
		}
	}
	if p.MaxGraphs > 0 {
		b = max(b, ceilDiv(p.Graphs(), int64(p.MaxGraphs)))
	}
	return b
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// dualFeasible is the highest bound of one component by dual feasible functions: functions of the size under
// which graphs that fit together still fit. With the limit L, it uses the function of Martello and Toth, which for
// each k up to L/2 drops sizes below k and rounds sizes above L-k up to L, and the function of Fekete and Schepers,
// which for each k up to 100 rounds (k+1)s/L down if it is no integer. It computes in integers, exactly.
func dualFeasible(ctx context.Context, sizes []int, counts []int64, limit int) int64 {
	if limit <= 0 {
		return 0
	}
	type group struct {
		size  int64
		count int64
	}
	total := map[int]int64{}
	for i, s := range sizes {
		total[s] += counts[i]
	}
	groups := make([]group, 0, len(total))
	for s, c := range total {
		groups = append(groups, group{int64(s), c})
	}
	slices.SortFunc(groups, func(a, b group) int { return int(a.size - b.size) })
	l, best := int64(limit), int64(0)
	// Martello and Toth: only the sizes themselves are useful as k. For ascending k, two sums are updated: of
	// the sizes from k on, and of the graphs above L - k.
	above, sum := len(groups), fraction{}
	for _, g := range groups {
		sum.add(g.count, g.size)
	}
	for _, g := range groups {
		if 2*g.size > l {
			break
		}
		for above > 0 && groups[above-1].size > l-g.size {
			above--
			sum.add(groups[above].count, l-groups[above].size)
		}
		best = max(best, sum.ceil(l))
		sum.sub(g.count, g.size)
	}
	best = max(best, sum.ceil(l))
	for k := int64(1); k <= 100 && ctx.Err() == nil; k++ {
		var f fraction // in units of 1 / (k l)
		for _, g := range groups {
			if n := (k + 1) * g.size; n%l == 0 {
				f.add(g.count, g.size*k)
			} else {
				f.add(g.count, n/l*l)
			}
		}
		best = max(best, f.ceil(k*l))
	}
	return best
}

// fraction is a sum of 128 bits.
type fraction struct{ hi, lo uint64 }

func (f *fraction) add(count, each int64) {
	hi, lo := bits.Mul64(uint64(count), uint64(each))
	var carry uint64
	f.lo, carry = bits.Add64(f.lo, lo, 0)
	f.hi += hi + carry
}

func (f *fraction) sub(count, each int64) {
	hi, lo := bits.Mul64(uint64(count), uint64(each))
	var borrow uint64
	f.lo, borrow = bits.Sub64(f.lo, lo, 0)
	f.hi -= hi + borrow
}

// ceil is f / d, rounded up.
func (f *fraction) ceil(d int64) int64 {
	if f.hi >= uint64(d) { // beyond 64 bits: impossible, because counts stay below 2^62
		return 0
	}
	q, r := bits.Div64(f.hi, f.lo, uint64(d))
	if r > 0 {
		q++
	}
	return int64(q)
}
