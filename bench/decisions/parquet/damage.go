package main

import (
	"math/rand/v2"
	"slices"
)

// damage is copy k of a file: with one to four bits flipped, with a byte replaced by one that numbers in headers often
// turn on, with a run of bytes cut out, or cut at the end.
func damage(whole []byte, seed uint64, k int) []byte {
	r := rand.New(rand.NewPCG(seed, uint64(k)))
	b := slices.Clone(whole)
	switch p := r.IntN(100); {
	case p < 60:
		for range 1 + r.IntN(4) {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
	case p < 80:
		b[r.IntN(len(b))] = []byte{0, 1, 0x7f, 0x80, 0xfe, 0xff}[r.IntN(6)]
	case p < 95:
		at := r.IntN(len(b))
		b = slices.Delete(b, at, min(at+1+r.IntN(64), len(b)))
	default:
		b = b[:r.IntN(len(b))]
	}
	return b
}
