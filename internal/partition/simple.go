package partition

import (
	"github.com/graphmill/graphmill/draw"
)

// The words of the draws, after the epoch (0): those below are of sampling.
const (
	randomWord = 6
	hashWord   = 7
)

// random gives each part as many nodes of each type as the others, plus or minus
// one, by chance, and each trainer of a part as many as its others: pieces are numbered by part, then
// by trainer.
func random(part []uint16, types []string, starts []uint64, parts, trainers int, seed uint64) {
	pieces := uint64(parts * trainers)
	for t, name := range types {
		n := starts[t+1] - starts[t]
		if n == 0 {
			continue
		}
		key := absorb(draw.Key(seed, 0, randomWord), name)
		order := draw.NewOrder(n, key)
		// What is left over goes to other parts for each type.
		shift := draw.Below(draw.At(key, 0), pieces)
		for i := range n {
			at := (order.At(i) + shift) % pieces
			part[starts[t]+i] = uint16(at%uint64(parts)*uint64(trainers) + at/uint64(parts))
		}
	}
}

// hash gives each node a part by chance, that of its seed, type and id.
func hash(part []uint16, types []string, starts []uint64, parts, trainers int, seed uint64) {
	for t, name := range types {
		key := absorb(draw.Key(seed, 0, hashWord), name)
		for i := range starts[t+1] - starts[t] {
			part[starts[t]+i] = uint16(draw.Below(draw.At(key, i), uint64(parts*trainers)))
		}
	}
}

// absorb takes a name in, eight bytes a word, its length first.
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
