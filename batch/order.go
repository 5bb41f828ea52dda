package batch

import (
	"fmt"

	"github.com/graphmill/graphmill/draw"
)

// The words after the epoch in the keys of the orders of this package.
const (
	weightedWord = 6
	strataWord   = 7
	windowWord   = 8
	bucketWord   = 9
)

// Items are the items of one epoch. They are safe for concurrent use.
type Items interface {
	// Fill sets dst[i] to the item at position first+i. All positions must be below the Len of the order.
	Fill(dst []uint64, first uint64)
}

// Order is a law of orders: the item at each position of each epoch.
type Order interface {
	// Len is the number of positions of every epoch.
	Len() uint64
	// Items is the number of items. Fill returns items below it.
	Items() uint64
	// Epoch prepares the order of an epoch.
	Epoch(seed, epoch uint64) Items
	// String is the name of the law and its parameters. A State compares it.
	String() string
}

// Sequential is the order of n items as given.
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

// Shuffled is the shuffled order of n items. Each item comes once per epoch. It is draw.NewOrder of draw.Key(seed,
// epoch, draw.OrderWord).
func Shuffled(n uint64) Order { return shuffled(n) }

type shuffled uint64

func (s shuffled) Len() uint64    { return uint64(s) }
func (s shuffled) Items() uint64  { return uint64(s) }
func (s shuffled) String() string { return "shuffled" }
func (s shuffled) Epoch(seed, epoch uint64) Items {
	return draw.NewOrder(uint64(s), draw.Key(seed, epoch, draw.OrderWord))
}

// errOrder is an error about columns, groups or options.
func errOrder(format string, args ...any) error { return fmt.Errorf("batch: "+format, args...) }
