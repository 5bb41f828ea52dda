package batch

import (
	"math/bits"
	"slices"
	"sort"

	"github.com/graphmill/graphmill/draw"
)

// buckets are the groups by size: 0 and 1 rows, 2, 3 and 4, 5 to 8, and so on. Buckets without a group are left out.
type buckets struct {
	groups  [][]uint64 // ascending
	longest []uint64   // rows of the longest group
}

func newBuckets(ptr []uint64) *buckets {
	var all [65][]uint64
	for g := range len(ptr) - 1 {
		size := ptr[g+1] - ptr[g]
		k := 0
		if size > 1 {
			k = bits.Len64(size - 1)
		}
		all[k] = append(all[k], uint64(g))
	}
	b := &buckets{}
	for _, groups := range all {
		if len(groups) == 0 {
			continue
		}
		longest := uint64(0)
		for _, g := range groups {
			longest = max(longest, ptr[g+1]-ptr[g])
		}
		b.groups, b.longest = append(b.groups, groups), append(b.longest, longest)
	}
	return b
}

// bucketed is an epoch in which each batch has groups of one bucket.
type bucketed struct {
	*buckets
	orders []*draw.Order
	order  *draw.Order // of the batches
	first  []int       // first batch of each bucket, bucket after bucket, and the end
	size   uint64
}

// newBucketed makes the batches of an epoch: the groups of each bucket are shuffled and divided into batches, and all
// batches are shuffled.
func newBucketed(b *buckets, seed, epoch uint64, size int, tail Tail) *bucketed {
	p := &bucketed{buckets: b, first: []int{0}, size: uint64(size)}
	for k, groups := range b.groups {
		n := len(groups) + size - 1
		if tail == Drop {
			n = len(groups)
		}
		p.first = append(p.first, p.first[k]+n/size)
		p.orders = append(p.orders, draw.NewOrder(uint64(len(groups)), draw.Key(seed, epoch, bucketWord, uint64(k)+1)))
	}
	p.order = draw.NewOrder(uint64(p.batches()), draw.Key(seed, epoch, bucketWord, 0))
	return p
}

func (p *bucketed) batches() int { return p.first[len(p.first)-1] }

// bucketOf is the bucket of a batch, and the number of the batch within it.
func (p *bucketed) bucketOf(b int) (k, within int) {
	at := int(p.order.At(uint64(b)))
	k = sort.SearchInts(p.first, at+1) - 1
	return k, at - p.first[k]
}

func (p *bucketed) items(dst []uint64, b int) []uint64 {
	k, within := p.bucketOf(b)
	first := uint64(within) * p.size
	n := min(p.size, uint64(len(p.groups[k]))-first)
	from := len(dst)
	dst = fill(p.orders[k], slices.Grow(dst, int(n)), first, n)
	for i, g := range dst[from:] {
		dst[from+i] = p.groups[k][g]
	}
	return dst
}
