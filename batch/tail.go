package batch

import (
	"fmt"
	"slices"
	"strings"
)

// Tail says what happens to items that do not fill a batch, and to batches that
// cannot be shared evenly among the ranks.
type Tail uint8

// ByRanks, the default, is Fill with several ranks and Short with one.
//
//   - Short keeps the last batch, which may have fewer items. Some ranks may get one batch more than others.
//   - Fill gives every rank the same number of batches, by repeating some: with n batches in the epoch, batch b >= n
//     has the items of batch b mod n. The batches below n are as with Short.
//   - Drop takes only full batches, and the same number of them for every rank.
//   - Pad fills the last batch up with zeros, and gives each rank that has one batch less a batch of zeros, so that all
//     batches have the same shape and all ranks the same number of them.
//   - Error refuses items for which any of this would be needed.
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

// ParseTail returns the tail with this name, which must be one of those allowed. The empty name is ByRanks.
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

// Of returns what t means with this number of ranks: Fill or Short for ByRanks, else t itself.
func (t Tail) Of(ranks int) Tail {
	switch {
	case t != ByRanks:
		return t
	case ranks > 1:
		return Fill
	}
	return Short
}

// End returns the batch number, over all ranks, at which a pass ends that starts with batch first of an epoch of n
// batches. Rank r takes the batches first + r, first + r + ranks, ... below End. With Drop, n counts only full batches.
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
