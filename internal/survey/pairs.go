package survey

import (
	"cmp"
	"slices"
)

// maxPairs bounds the sizes of GraphTensors that are kept: all of them, or a sample.
const maxPairs = 1000

// pairs samples the sizes of GraphTensors. It keeps those whose numbers have the smallest hashes, so that the sample
// does not depend on which worker counted which GraphTensor.
type pairs struct{ kept []numbered }

type numbered struct {
	hash, number uint64
	pair         Pair
}

// hash is the output function of splitmix64.
func hash(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (p *pairs) add(number uint64, pair Pair) {
	h := hash(number)
	if len(p.kept) >= maxPairs && h > p.kept[maxPairs-1].hash {
		return
	}
	p.kept = append(p.kept, numbered{h, number, pair})
	// The first maxPairs are in order as soon as there are that many.
	if len(p.kept) == maxPairs || len(p.kept) == 2*maxPairs {
		p.cut()
	}
}

func (p *pairs) cut() {
	slices.SortFunc(p.kept, func(a, b numbered) int { return cmp.Compare(a.hash, b.hash) })
	p.kept = p.kept[:min(len(p.kept), maxPairs)]
}

func (p *pairs) merge(o *pairs) {
	p.kept = append(p.kept, o.kept...)
	p.cut()
}

// sample returns the pairs in the order of their GraphTensors.
func (p *pairs) sample() []Pair {
	p.cut()
	slices.SortFunc(p.kept, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	all := make([]Pair, 0, len(p.kept))
	for _, k := range p.kept {
		all = append(all, k.pair)
	}
	return all
}
