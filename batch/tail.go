package batch

import (
	"fmt"
	"slices"
	"strings"
)

// Tail is what becomes of items that do not fill a batch, and of batches that
// cannot be shared out evenly among the ranks.
type Tail uint8

// ByRanks, the default, is Fill where there are several ranks, else Short.
//
// Short gives the last batch as short as it is, and to some ranks one batch more than to others.
// Fill gives every rank as many batches as the rank with most of them has under Short: with n batches, batch b >= n
// holds the items of batch b mod n of the same epoch. Batches below n are those of Short.
// Drop takes full batches alone, and of these as many for every rank.
// Pad fills the last batch up with zeros, and gives ranks
// that have a batch less one of padding alone, so that all batches have one shape and all
// ranks as many. Error refuses items that need any of this.
const (
	ByRanks Tail = iota
	Short
	Fill
	Drop
	Pad
	Error
)

var tails = [...]string{"", "short", "fill", "drop", "pad", "error"}

func (t Tail) String() string { return tails[t] }

// ParseTail is the tail of a name, one of those allowed; that of "" is ByRanks.
func ParseTail(name string, allowed ...Tail) (Tail, error) {
	t := Tail(max(0, slices.Index(tails[:], name)))
	if name == "" || slices.Contains(allowed, t) {
		return t, nil
	}
	var names []string
	for _, a := range allowed {
		names = append(names, a.String())
	}
	return 0, fmt.Errorf("found tail %q, expected one of %s", name, strings.Join(names, ", "))
}

// Of is the tail for so many ranks: what ByRanks stands for, else t itself.
func (t Tail) Of(ranks int) Tail {
	switch {
	case t != ByRanks:
		return t
	case ranks > 1:
		return Fill
	}
	return Short
}

// End is the number, over all ranks, at which an epoch of n batches ends that is gone through from batch first on: rank r
// takes first + r, first + r + ranks, ... below it. With Drop n counts full batches alone.
func (t Tail) End(n, first, ranks int) int {
	left := max(0, n-first)
	switch t.Of(ranks) {
	case Drop:
		left -= left % ranks
	case Fill, Pad:
		left += (ranks - left%ranks) % ranks
	}
	return first + left
}
