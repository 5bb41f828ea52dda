package pack

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// balancer packs few large graphs of many shapes in two components. Into a pack goes a large graph for which
// the ratio of its two sizes is near the ratio of the pack's remaining room.
type balancer struct {
	in     *instance
	f      [2]int // fields
	limit  [2]float64
	shapes []balanced // by the larger of their shares, descending
	left   []int64
	// buckets are ranges of the difference of the two shares, of equally many shapes. Each lists its shapes by
	// descending sum of the shares.
	buckets []bucket
	steps   int64
}

// balanced is a shape and its shares of the limits.
type balanced struct {
	shape     int
	diff, sum float64
}

type bucket struct {
	low, high float64 // of diff
	items     []int32 // indices in shapes
	dead      int
}

const (
	bucketCount = 200
	// The weight of a graph's size relative to its misfit; it is three times as high in a pack that is nearly
	// full.
	largeness = 0.2
	nearFull  = 0.15
)

// balance packs all graphs of a problem in two components. limit bounds the steps. It returns nil if the limit
// or halted ends it.
func (in *instance) balance(limit int64, halted func() bool) []Pattern {
	b := &balancer{in: in, f: [2]int{in.fields[0], in.fields[1]}}
	for j, f := range b.f {
		b.limit[j] = 1 / float64(max(in.limit.get(f), 1))
	}
	larger := make([]float64, len(in.size))
	for i := range in.size {
		x, y := b.shares(&in.size[i])
		larger[i] = max(x, y)
		b.shapes = append(b.shapes, balanced{i, x - y, x + y})
	}
	slices.SortFunc(b.shapes, func(p, q balanced) int {
		return cmp.Or(cmp.Compare(larger[q.shape], larger[p.shape]), cmp.Compare(q.sum, p.sum), q.shape-p.shape)
	})
	for _, s := range b.shapes {
		b.left = append(b.left, in.count[s.shape])
	}
	b.sort()
	var patterns []Pattern
	var parts []Part // Shape is the index in b.shapes
	look := int64(0) // the number of steps at which halted is asked again
	for first := 0; first < len(b.shapes); {
		if b.left[first] == 0 {
			first++
			continue
		}
		if b.steps >= look {
			if halted() {
				return nil
			}
			look = b.steps + 1<<20
		}
		if b.steps > limit {
			return nil
		}
		parts = parts[:0]
		room := in.limit
		for at := first; at >= 0; at = b.find(&room) {
			room, _ = room.minus(&in.size[b.shapes[at].shape])
			b.take(at, 1)
			if n := len(parts); n > 0 && parts[n-1].Shape == at {
				parts[n-1].Copies++
			} else {
				parts = append(parts, Part{at, 1})
			}
		}
		parts = joined(parts)
		repeat := int64(math.MaxInt64)
		for _, p := range parts {
			repeat = min(repeat, b.left[p.Shape]/int64(p.Copies))
		}
		out := make([]Part, len(parts))
		for i, p := range parts {
			b.take(p.Shape, repeat*int64(p.Copies))
			out[i] = Part{b.shapes[p.Shape].shape, p.Copies}
		}
		patterns = append(patterns, Pattern{out, 1 + repeat})
	}
	return patterns
}

func (b *balancer) shares(v *vec) (x, y float64) {
	return float64(v.get(b.f[0])) * b.limit[0], float64(v.get(b.f[1])) * b.limit[1]
}

// sort distributes all shapes over buckets.
func (b *balancer) sort() {
	order := make([]int32, len(b.shapes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(p, q int32) int {
		return cmp.Or(cmp.Compare(b.shapes[p].diff, b.shapes[q].diff), int(p-q))
	})
	n := min(bucketCount, len(order))
	for i := range n {
		items := order[len(order)*i/n : len(order)*(i+1)/n]
		bk := bucket{low: b.shapes[items[0]].diff, high: b.shapes[items[len(items)-1]].diff, items: items}
		slices.SortFunc(items, func(p, q int32) int { return cmp.Or(cmp.Compare(b.shapes[q].sum, b.shapes[p].sum), int(p-q)) })
		b.buckets = append(b.buckets, bk)
	}
}

// take removes n graphs of a shape.
func (b *balancer) take(at int, n int64) {
	if n == 0 {
		return
	}
	if b.left[at] -= n; b.left[at] > 0 {
		return
	}
	d := b.shapes[at].diff
	// Several buckets may have shapes of one diff.
	for i := sort.Search(len(b.buckets), func(i int) bool { return b.buckets[i].high >= d }); i < len(b.buckets) && b.buckets[i].low <= d; i++ {
		bk := &b.buckets[i]
		if bk.dead++; bk.dead*2 > len(bk.items) {
			bk.items = slices.DeleteFunc(bk.items, func(x int32) bool { return b.left[x] == 0 })
			bk.dead = 0
		}
	}
}

// find returns the index of the graph that suits a room best, -1 if none fits.
func (b *balancer) find(room *vec) int {
	x, y := b.shares(room)
	diff, sum, weight := x-y, x+y, largeness
	if sum < nearFull {
		weight *= 3
	}
	best, at := math.Inf(-1), -1
	try := func(bk *bucket, distance float64) {
		if len(bk.items) == 0 || weight*sum-distance <= best {
			return
		}
		// No graph with a larger sum fits.
		i := sort.Search(len(bk.items), func(i int) bool { return b.shapes[bk.items[i]].sum <= sum })
		for ; i < len(bk.items); i++ {
			b.steps++
			k := bk.items[i]
			s := &b.shapes[k]
			if float64(weight*s.sum)-distance <= best {
				return
			}
			if score := float64(weight*s.sum) - math.Abs(diff-s.diff); score > best && b.left[k] > 0 && room.fits(&b.in.size[s.shape]) {
				best, at = score, int(k)
			}
		}
	}
	from := sort.Search(len(b.buckets), func(i int) bool { return b.buckets[i].high >= diff })
	up, down := from, from-1
	for up < len(b.buckets) || down >= 0 {
		more := math.Inf(1)
		if up < len(b.buckets) {
			more = max(b.buckets[up].low-diff, 0)
		}
		less := math.Inf(1)
		if down >= 0 {
			less = max(diff-b.buckets[down].high, 0)
		}
		b.steps++
		if weight*sum-min(more, less) <= best {
			break
		}
		if more <= less {
			try(&b.buckets[up], more)
			up++
		} else {
			try(&b.buckets[down], less)
			down--
		}
	}
	return at
}
