package outofcore

import (
	"iter"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/graphmill/graphmill/internal/prefetch"
)

// cells is a set of nodes that finds quickly how many of its nodes are below any node. A cell is two words in one cache
// line for 96 nodes: the first word and the lower half of the second have a bit per node, and the upper half of the
// second counts the nodes of the set in the cells before.
type cells []uint64

const cellNodes = 96

// cellsOf is the number of words for the given number of nodes, with a cell after the last one.
func cellsOf(nodes int) int { return 2 * (nodes/cellNodes + 1) }

func (c cells) count() int { return len(c) / 2 }

// mark adds nodes. It may run in several goroutines at a time. The counts must be 0.
func (c cells) mark(nodes []uint32) {
	var at [128]uint32
	for len(nodes) > 0 {
		part := nodes[:min(len(nodes), len(at))]
		nodes = nodes[len(part):]
		for i, v := range part {
			at[i] = v/cellNodes*2 + v%cellNodes/64
		}
		// An atomic store waits for all earlier loads, so the cache lines are loaded first.
		prefetch.Wide((*float64)(unsafe.Pointer(unsafe.SliceData(c))), at[:len(part)])
		for i, v := range part {
			word, bit := &c[at[i]], uint64(1)<<(v%cellNodes%64)
			if atomic.LoadUint64(word)&bit == 0 {
				atomic.OrUint64(word, bit)
			}
		}
	}
}

// rank sets the counts of the cells from first to end, and returns the count of the next cell. below is the count of
// the first.
func (c cells) rank(first, end int, below uint32) uint32 {
	for at := 2 * first; at < 2*end; at += 2 {
		marks := c[at+1] & (1<<32 - 1)
		c[at+1] = uint64(below)<<32 | marks
		below += uint32(bits.OnesCount64(c[at]) + bits.OnesCount64(marks))
	}
	return below
}

// first is the number of nodes of the set before a cell.
func (c cells) first(cell int) uint32 { return uint32(c[2*cell+1] >> 32) }

// below is the number of nodes of the set below v, which may be one more than the last node.
func (c cells) below(v uint32) uint32 {
	cell, at := v/cellNodes*2, v%cellNodes
	mask, second := uint64(1)<<(at%64)-1, -uint64(at/64)
	return uint32(c[cell+1]>>32) + uint32(bits.OnesCount64(c[cell]&(mask|second))+bits.OnesCount64(c[cell+1]&mask&second&(1<<32-1)))
}

// nodes is the nodes of the set from first to end, each with the number of nodes of the set below it.
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
