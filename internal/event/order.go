package event

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graphmill/graphmill/graph"
)

// order is the places of the input in the order of their times; those of one time stay as they are.
func (in *input) order(ctx context.Context, float bool) ([]uint32, error) {
	places := make([]uint32, len(in.times))
	sorted := true
	last := uint64(0)
	for i := range places {
		places[i] = uint32(i)
		k := sortKey(in.times[i], float)
		sorted = sorted && k >= last
		last = k
	}
	if sorted {
		return places, nil
	}
	return sortByKey(ctx, places, func(place uint32) uint64 { return sortKey(in.times[place], float) })
}

// sortKey maps times to whole numbers of the same order.
func sortKey(t int64, float bool) uint64 {
	const sign = 1 << 63
	if float && t < 0 {
		return ^uint64(t)
	}
	return uint64(t) ^ sign
}

// sortByKey sorts items by their keys, by 16 bits at a time from the lowest. It is stable.
func sortByKey(ctx context.Context, items []uint32, key func(uint32) uint64) ([]uint32, error) {
	const digits = 1 << 16
	differ, first := uint64(0), uint64(0) // the bits in which keys differ
	for i, x := range items {
		if i == 0 {
			first = key(x)
		}
		differ |= key(x) ^ first
	}
	to, counts := make([]uint32, len(items)), make([]uint32, digits)
	for shift := 0; shift < 64; shift += 16 {
		if differ>>shift%digits == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(counts)
		for _, x := range items {
			counts[key(x)>>shift%digits]++
		}
		sum := uint32(0)
		for d, n := range counts {
			counts[d] = sum
			sum += n
		}
		for _, x := range items {
			d := key(x) >> shift % digits
			to[counts[d]] = x
			counts[d]++
		}
		items, to = to, items
	}
	return items, nil
}

// byPosition sets ids to the edge ids of a type in the order of their rows in the input.
func byPosition(ctx context.Context, ids []uint32, positions *graph.Column) error {
	var at func(id uint32) uint64
	switch {
	case len(positions.Values) == 4*len(ids):
		v := graph.View[uint32](positions.Values)
		at = func(id uint32) uint64 { return uint64(v[id]) }
	case len(positions.Values) == 8*len(ids):
		v := graph.View[uint64](positions.Values)
		at = func(id uint32) uint64 { return v[id] }
	default:
		return fmt.Errorf("found %d bytes of positions for %d edges, expected 4 or 8 per edge", len(positions.Values), len(ids))
	}
	// Where few rows were left out, an edge has its place at once.
	most := uint64(0)
	for i := range ids {
		most = max(most, at(uint32(i)))
	}
	if len(ids) > 0 && most < 4*uint64(len(ids)) && most < math.MaxUint32 {
		const none = math.MaxUint32
		places := slices.Repeat([]uint32{none}, int(most)+1)
		for i := range ids {
			places[at(uint32(i))] = uint32(i)
		}
		n := 0
		for _, id := range places {
			if id != none && n < len(ids) {
				ids[n] = id
				n++
			}
		}
		if n < len(ids) {
			return fmt.Errorf("found two edges with one position in the input, expected a position of its own for each edge; import the tables again")
		}
		return nil
	}
	for i := range ids {
		ids[i] = uint32(i)
	}
	sorted, err := sortByKey(ctx, ids, at)
	if err == nil {
		copy(ids, sorted)
	}
	return err
}
