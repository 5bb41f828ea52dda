package batch

import (
	"fmt"

	"github.com/graphmill/graphmill/draw"
)

// The first words after the epoch in the keys of this package's orders.
const (
	weightedWord = 6
	strataWord   = 7
	windowWord   = 8
	bucketWord   = 9
)

// Items are the items of one epoch. They are safe for concurrent use.
type Items interface {
	// Fill sets dst[i] to the item at position first+i; all positions are below the
	// order's Len.
	Fill(dst []uint64, first uint64)
}

// Order is a law of orders: which item is at each position of each epoch.
type Order interface {
	// Len is the number of positions of every epoch.
	Len() uint64
	// Items is the number of items: what Fill gives is below it.
	Items() uint64
	// Epoch prepares the order of an epoch.
	Epoch(seed, epoch uint64) Items
	// String names the law and its parameters: what a State is compared by.
	String() string
}

// Sequential is the order of n items as they are.
func Sequential(n uint64) Order { return sequential(n) }

type sequential uint64

func (s sequential) Len() uint64                { return uint64(s) }
func (s sequential) Items() uint64              { return uint64(s) }
func (s sequential) Epoch(uint64, uint64) Items { return s }
func (s sequential) String() string             { return "sequential" }
func (s sequential) Fill(dst []uint64, first uint64) {
	for i := range dst {
		dst[i] = first + uint64(i)
	}
}

// Shuffled is the shuffled order of n items: each once an epoch, by draw.NewOrder of
// draw.Key(seed, epoch, draw.OrderWord).
func Shuffled(n uint64) Order { return shuffled(n) }

type shuffled uint64

func (s shuffled) Len() uint64    { return uint64(s) }
func (s shuffled) Items() uint64  { return uint64(s) }
func (s shuffled) String() string { return "shuffled" }
func (s shuffled) Epoch(seed, epoch uint64) Items {
	return draw.NewOrder(uint64(s), draw.Key(seed, epoch, draw.OrderWord))
}

// errOrder is an error about what an order is made of.
func errOrder(format string, args ...any) error { return fmt.Errorf("batch: "+format, args...) }
