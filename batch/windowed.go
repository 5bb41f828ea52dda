package batch

import (
	"fmt"
	"math"
	"sync"

	"github.com/graphmill/graphmill/draw"
)

// windowed shuffles blocks, and the items within windows of blocks.
type windowed struct {
	n, block, blocks uint64
	window           uint64 // blocks per window
}

// Windowed is an order for data larger than memory. The n items are divided into blocks of block items. The blocks are
// shuffled, and so are the items within each window of the given number of blocks. An epoch reads each block at once, and holds one
// window (and the next one) in memory. Every item comes once per epoch.
func Windowed(n, block, window uint64) (Order, error) {
	if block < 1 || window < 1 || block > math.MaxUint32 || window > math.MaxUint32 {
		return nil, errOrder("found blocks of %d items and windows of %d blocks, expected 1 to 2^32-1 of each", block, window)
	}
	return &windowed{n: n, block: block, blocks: (n + block - 1) / block, window: window}, nil
}

func (w *windowed) Len() uint64   { return w.n }
func (w *windowed) Items() uint64 { return w.n }
func (w *windowed) String() string {
	return fmt.Sprintf("windowed(%d items, blocks of %d, windows of %d)", w.n, w.block, w.window)
}

func (w *windowed) Epoch(seed, epoch uint64) Items {
	e := &windowedItems{windowed: w, seed: seed, epoch: epoch, cache: map[uint64]*draw.Order{}}
	e.order = draw.NewOrder(w.blocks, draw.Key(seed, epoch, windowWord, 0))
	// The position of the last block, which may be shorter, in the order.
	e.short = w.blocks
	if w.n%w.block != 0 {
		for p := range w.blocks {
			if e.order.At(p) == w.blocks-1 {
				e.short = p
				break
			}
		}
	}
	return e
}

type windowedItems struct {
	*windowed
	seed, epoch uint64
	order       *draw.Order // of the blocks
	short       uint64      // position of the short block among the blocks; blocks if there is none

	mu    sync.Mutex
	cache map[uint64]*draw.Order // of windows
}

// start is the position of the first item of the block at place p of the order.
func (w *windowedItems) start(p uint64) uint64 {
	p = min(p, w.blocks)
	at := p * w.block
	if p > w.short {
		at -= w.block - w.n%w.block
	}
	return at
}

// windowOf is the window that has a position.
func (w *windowedItems) windowOf(position uint64) uint64 {
	p := position / (w.block * w.window)
	// The short block moves the positions after it forward by less than a block.
	if w.start((p+1)*w.window) <= position {
		p++
	}
	return p
}

// within is the order of the items of a window.
func (w *windowedItems) within(window uint64) *draw.Order {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := w.cache[window]
	if o == nil {
		// Workers are in one or two windows at a time. A small window costs little to compute again.
		if len(w.cache) >= 8 {
			clear(w.cache)
		}
		first := window * w.window
		o = draw.NewOrder(w.start(first+w.window)-w.start(first), draw.Key(w.seed, w.epoch, windowWord, window+1))
		w.cache[window] = o
	}
	return o
}

func (w *windowedItems) Fill(dst []uint64, first uint64) {
	for len(dst) > 0 {
		window := w.windowOf(first)
		begin, end := w.start(window*w.window), w.start((window+1)*w.window)
		part := dst[:min(uint64(len(dst)), end-first)]
		w.within(window).Fill(part, first-begin)
		for i, x := range part {
			x += begin
			p := x / w.block
			if w.start(p+1) <= x {
				p++
			}
			part[i] = w.order.At(p)*w.block + x - w.start(p)
		}
		dst, first = dst[len(part):], first+uint64(len(part))
	}
}

// blocksOf calls f with the items [from, to) of each block of a window, in the order in which they are first needed.
func (w *windowedItems) blocksOf(window uint64, f func(from, to uint64)) {
	for p := window * w.window; p < min((window+1)*w.window, w.blocks); p++ {
		b := w.order.At(p)
		f(b*w.block, min((b+1)*w.block, w.n))
	}
}
