package partition

import (
	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/partition/assign"
)

// Key words of the draws. The first word, the epoch, is 0; the words below these are used for sampling.
const (
	randomWord = 6
	hashWord   = 7
)

// Deal divides nodes by Random or Hash, without their edges. types are the node types in byte order, and counts their numbers of
// nodes. Run gives the same parts.
func Deal(method string, types []string, counts []uint64, parts int, seed uint64) *assign.Assignment {
	a := &assign.Assignment{Parts: parts, Types: types, Start: make([]uint64, len(types)+1), Method: method}
	for t, n := range counts {
		a.Start[t+1] = a.Start[t] + n
	}
	a.Part = deal(method, a.Types, a.Start, parts, 1, seed)
	return a
}

// deal divides nodes among the trainers of parts.
func deal(method string, types []string, starts []uint64, parts, trainers int, seed uint64) []uint16 {
	part := make([]uint16, starts[len(types)])
	if method == Hash {
		hash(part, types, starts, parts, trainers, seed)
	} else {
		random(part, types, starts, parts, trainers, seed)
	}
	return part
}

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
