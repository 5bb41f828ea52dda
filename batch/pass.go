package batch

import "slices"

// pass is one epoch: the items of each batch.
type pass interface {
	// batches is the number of batches. It includes batches that are not full, unless Tail is Drop.
	batches() int
	// items appends the items of batch b to dst.
	items(dst []uint64, b int) []uint64
}

// even divides an order into batches of one size.
type even struct {
	Items
	n     uint64 // positions that are used
	size  uint64
	count int
}

func newEven(o Order, e Items, size int, tail Tail) *even {
	p := &even{Items: e, n: o.Len(), size: uint64(size)}
	if tail == Drop {
		p.n -= p.n % p.size
	}
	p.count = int((p.n + p.size - 1) / p.size)
	return p
}

func (p *even) batches() int { return p.count }

func (p *even) items(dst []uint64, b int) []uint64 {
	first := uint64(b) * p.size
	return fill(p.Items, dst, first, min(p.size, p.n-first))
}

// fill appends n items from a position on.
func fill(e Items, dst []uint64, first, n uint64) []uint64 {
	at := len(dst)
	dst = slices.Grow(dst, int(n))[:at+int(n)]
	e.Fill(dst[at:], first)
	return dst
}

// capped puts as many groups into a batch as fit a number of rows.
type capped struct {
	Items
	starts []uint64 // positions at which batches begin, and the end
}

func newCapped(o Order, e Items, ptr []uint64, rows uint64) *capped {
	p := &capped{Items: e, starts: []uint64{0}}
	var block [1024]uint64
	n, held := o.Len(), uint64(0)
	for first := uint64(0); first < n; first += uint64(len(block)) {
		part := block[:min(uint64(len(block)), n-first)]
		e.Fill(part, first)
		for i, g := range part {
			size := ptr[g+1] - ptr[g]
			if at := first + uint64(i); held+size > rows && at > p.starts[len(p.starts)-1] {
				p.starts, held = append(p.starts, at), 0
			}
			held += size
		}
	}
	if n > 0 {
		p.starts = append(p.starts, n)
	}
	return p
}

func (p *capped) batches() int { return len(p.starts) - 1 }

func (p *capped) items(dst []uint64, b int) []uint64 {
	return fill(p.Items, dst, p.starts[b], p.starts[b+1]-p.starts[b])
}
