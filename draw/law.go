package draw

import "math/bits"

// Gamma is the increment of SplitMix64. Draw j of state h is Mix(h + (j+1)*Gamma), which a loop over draws computes by
// adding.
const Gamma = 0x9E3779B97F4A7C15

// Version is the number of the law. It increases with every change that gives a draw another value, so that files and
// states can record which law they follow.
const Version = 2

// root distinguishes a seed from a word. Without it Key would be symmetric in the seed and the first word, and seed 0
// in epoch 1 would have the draws of seed 1 in epoch 0. Its bits are the fraction of the square root of 2.
const root = 0x6A09E667F3BCC909

// Multipliers of SplitMix64.
const (
	mul1 = 0xBF58476D1CE4E5B9
	mul2 = 0x94D049BB133111EB
)

// The word that is absorbed after the epoch: what a draw belongs to. The scopes of sampling have the numbers 0 to 2;
// these are other uses.
const (
	// OrderWord is the word of a shuffled order: Key(seed, epoch, OrderWord).
	OrderWord  = 3
	rmatEdge   = 4
	rmatLabels = 5
)

// Mix is the finaliser of SplitMix64, a bijection of 64 bits.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * mul1
	x = (x ^ x>>27) * mul2
	return x ^ x>>31
}

// Absorb is the state h after one more word.
func Absorb(h, v uint64) uint64 { return Mix((h ^ Mix(v+Gamma)) + Gamma) }

// Key is the state after a seed and a list of words.
func Key(seed uint64, words ...uint64) uint64 {
	h := Mix(seed ^ root)
	for _, w := range words {
		h = Absorb(h, w)
	}
	return h
}

// At is draw number j, from 0, of state h: 64 random bits.
func At(h, j uint64) uint64 { return Mix(h + (j+1)*Gamma) }

// Below is an integer in [0, n) from 64 random bits.
func Below(r, n uint64) uint64 {
	hi, _ := bits.Mul64(r, n)
	return hi
}

// Unit is a float64 in (0, 1] from 64 random bits; it is 1 only by rounding.
func Unit(r uint64) float64 { return (float64(r>>11) + 0.5) * (1.0 / (1 << 53)) }
