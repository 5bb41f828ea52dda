package outofcore

import (
	"iter"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/graphmill/graphmill/internal/prefetch"
)

// cells is a set of nodes that knows how many of them are below any node: cells of two
// words, in one cache line, for 96 nodes each. Those are the bits of the first word and
// of the lower half of the second; the upper half counts the nodes in the cells ahead.
type cells []uint64

const cellNodes = 96

// cellsOf is the words for so many nodes: with a cell behind the last one.
func cellsOf(nodes int) int { return 2 * (nodes/cellNodes + 1) }

func (c cells) count() int { return len(c) / 2 }

// mark adds nodes, beside others that do. The counts must be 0.
func (c cells) mark(nodes []uint32) {
	var at [128]uint32
	for len(nodes) > 0 {
		part := nodes[:min(len(nodes), len(at))]
		nodes = nodes[len(part):]
		for i, v := range part {
			at[i] = v/cellNodes*2 + v%cellNodes/64
		}
		// An atomic store waits for all loads ahead of it.
		prefetch.Wide((*float64)(unsafe.Pointer(unsafe.SliceData(c))), at[:len(part)])
		for i, v := range part {
			word, bit := &c[at[i]], uint64(1)<<(v%cellNodes%64)
			if atomic.LoadUint64(word)&bit == 0 {
				atomic.OrUint64(word, bit)
			}
		}
	}
}

// rank sets the counts of the cells from first to end, and returns that of the next
// cell; below is that of the first.
func (c cells) rank(first, end int, below uint32) uint32 {
	for at := 2 * first; at < 2*end; at += 2 {
		marks := c[at+1] & (1<<32 - 1)
		c[at+1] = uint64(below)<<32 | marks
		below += uint32(bits.OnesCount64(c[at]) + bits.OnesCount64(marks))
	}
	return below
}

// first is the number of nodes ahead of a cell.
func (c cells) first(cell int) uint32 { return uint32(c[2*cell+1] >> 32) }

// below is the number of nodes below v, which may be one behind the last.
func (c cells) below(v uint32) uint32 {
	cell, at := v/cellNodes*2, v%cellNodes
	mask, second := uint64(1)<<(at%64)-1, -uint64(at/64)
	return uint32(c[cell+1]>>32) + uint32(bits.OnesCount64(c[cell]&(mask|second))+bits.OnesCount64(c[cell+1]&mask&second&(1<<32-1)))
}

// nodes is the nodes from first to end, and the number of those below each.
func (c cells) nodes(first, end uint32) iter.Seq2[uint32, uint32] {
	return func(yield func(rank, v uint32) bool) {
		rank := c.below(first)
		for cell := first / cellNodes; cell < uint32(c.count()) && cell*cellNodes < end; cell++ {
			for half, word := range [2]uint64{c[2*cell], c[2*cell+1] & (1<<32 - 1)} {
				for ; word != 0; word &= word - 1 {
					v := cell*cellNodes + uint32(half*64+bits.TrailingZeros64(word))
					if v < first {
						continue
					}
					if v >= end || !yield(rank, v) {
						return
					}
					rank++
				}
			}
		}
	}
}
