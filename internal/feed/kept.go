package feed

import (
	"fmt"
	"math/bits"

	"github.com/graphmill/graphmill/graph"
)

// Kept are nodes of a type whose rows the consumer of batches keeps, so that batches leave their rows out. It is immutable.
type Kept struct {
	words  []uint64 // a bit per node
	before []uint32 // number of kept nodes before each word
	count  uint32
}

// NewKept returns the nodes ids of a type with the given number of nodes. The ids must ascend.
func NewKept(ids []uint32, nodes int) (*Kept, error) {
	k := &Kept{words: make([]uint64, (nodes+63)/64), before: make([]uint32, (nodes+63)/64), count: uint32(len(ids))}
	for i, v := range ids {
		switch {
		case int(v) >= nodes:
			return nil, fmt.Errorf("found node %d, expected 0 to %d", v, nodes-1)
		case i > 0 && v <= ids[i-1]:
			return nil, fmt.Errorf("found node %d after %d, expected ascending ids; give each id once, in their order", v, ids[i-1])
		}
		k.words[v/64] |= 1 << (v % 64)
	}
	n := uint32(0)
	for i, word := range k.words {
		k.before[i] = n
		n += uint32(bits.OnesCount64(word))
	}
	return k, nil
}

// Count is the number of nodes.
func (k *Kept) Count() int { return int(k.count) }

// rank is the number of kept nodes before v, and whether v is kept.
func (k *Kept) rank(v uint32) (uint32, bool) {
	word, bit := k.words[v/64], uint64(1)<<(v%64)
	return k.before[v/64] + uint32(bits.OnesCount64(word&(bit-1))), word&bit != 0
}

// divided are the nodes of a type in a batch, divided by whether their rows are kept.
type divided struct {
	// places are, for each node, the number of its row: among the kept rows, then among the rows of the batch.
	places []uint32
	sent   []uint32 // the nodes whose rows the batch has, by their place in it
	ids    []uint32 // of these
	found  bool
}

// divide divides the nodes of type t of a batch, at the first use.
func (m *made) divide(t int, k *Kept) *divided {
	if len(m.divided) <= t {
		m.divided = append(m.divided, make([]divided, t+1-len(m.divided))...)
	}
	d := &m.divided[t]
	if d.found {
		return d
	}
	d.places, d.sent, d.ids, d.found = d.places[:0], d.sent[:0], d.ids[:0], true
	for i, v := range m.sub.Nodes[t] {
		at, kept := k.rank(v)
		if !kept {
			at = k.count + uint32(len(d.sent))
			d.sent, d.ids = append(d.sent, uint32(i)), append(d.ids, v)
		}
		d.places = append(d.places, at)
	}
	return d
}

// undivide makes the nodes of all types ready for the next batch.
func (m *made) undivide() {
	for t := range m.divided {
		m.divided[t].found = false
	}
}

// addKept adds where the rows are of a node type of which k are kept, and returns the nodes whose rows batches have.
func (l *columnList) addKept(at string, t int, k *Kept, most func(*bounds) int64) func(*made) graph.Index {
	l.addColumns(l.ids(at+"place", func(m *made) []uint32 { return m.divide(t, k).places }, 2*l.g.Nodes[t].Count, most),
		l.ids(at+"sent", func(m *made) []uint32 { return m.divide(t, k).sent }, 0, most))
	return func(m *made) graph.Index { return graph.Index{U32: m.divide(t, k).ids} }
}
