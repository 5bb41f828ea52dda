package partition

import (
	"github.com/graphmill/graphmill/draw"
)

// Key words of the draws. The first word, the epoch, is 0; the words below these are used for sampling.
const (
	randomWord = 6
	hashWord   = 7
)

// random draws a division in which all parts have the same number of nodes of each type, plus or minus one,
// and so have the trainers of a part. Pieces are numbered by part, then by trainer.
func random(part []uint16, types []string, starts []uint64, parts, trainers int, seed uint64) {
	pieces := uint64(parts * trainers)
	for t, name := range types {
		n := starts[t+1] - starts[t]
		if n == 0 {
			continue
		}
		key := absorb(draw.Key(seed, 0, randomWord), name)
		order := draw.NewOrder(n, key)
		// The remainder of each type goes to other parts.
		shift := draw.Below(draw.At(key, 0), pieces)
		for i := range n {
			at := (order.At(i) + shift) % pieces
			part[starts[t]+i] = uint16(at%uint64(parts)*uint64(trainers) + at/uint64(parts))
		}
	}
}

// hash draws the part of each node from the random seed, its type and its id.
func hash(part []uint16, types []string, starts []uint64, parts, trainers int, seed uint64) {
	for t, name := range types {
		key := absorb(draw.Key(seed, 0, hashWord), name)
		for i := range starts[t+1] - starts[t] {
			part[starts[t]+i] = uint16(draw.Below(draw.At(key, i), uint64(parts*trainers)))
		}
	}
}

// absorb hashes a name into h: first its length, then eight bytes at a time.
func absorb(h uint64, name string) uint64 {
	h = draw.Absorb(h, uint64(len(name)))
	for len(name) > 0 {
		var word uint64
		for i := range min(8, len(name)) {
			word |= uint64(name[i]) << (8 * i)
		}
		h = draw.Absorb(h, word)
		name = name[min(8, len(name)):]
	}
	return h
}
