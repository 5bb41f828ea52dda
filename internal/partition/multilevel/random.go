package multilevel

import "math/bits"

// random is a stream of random numbers (splitmix64).
type random uint64

// stream returns a separate stream for each random seed and place in the work.
func stream(seed uint64, place ...uint64) random {
	for _, p := range place {
		seed = mix(seed + 0x9e3779b97f4a7c15*(p+1))
	}
	return random(seed)
}

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return mix(uint64(*r))
}

// below returns a number below n, which must be positive.
func (r *random) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// mix is splitmix64's finisher: a bijection that spreads every bit.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// spread is a cheap hash of two numbers, for breaking ties.
func spread(a, b uint32) uint32 {
	h := (a ^ b) * 0x9e3779b1
	h ^= h >> 15
	h *= 0x85ebca6b
	return h ^ h>>13
}
