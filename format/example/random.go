package example

import (
	"strings"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

// Random returns a small random GraphTensor of the schema with one component. The same schema, random seed and number
// give the same GraphTensor. It is meant for trying out a schema, as tfgnn.random_graph_tensor is, and has the same
// ranges:
//   - 2 to 7 nodes per set; one to two times as many edges as nodes, between uniformly drawn ends;
//   - 2 to 7 elements in an outermost variable dimension, 0 to 2 in inner ones;
//   - 64-bit integers from 100 to 998, others from 10 to 99; floats from 0 to 1; strings of one letter from A to Z.
//
// Readout sets are such that tfgnn.validate_graph_tensor_for_readout accepts them: for each key every node of
// _readout has one edge, in order. A set _shadow/E has one node per edge of E.
//
// Every value is a function of the random seed, the number, its key and its position, by splitmix64. Adding a feature
// to the schema, or removing one, does not change the others.
func (c *Codec) Random(seed, number uint64) *GraphTensor {
	g := c.New()
	r := randomizer{binding: g.bound, base: mix(mix(seed) + number), known: make([]bool, len(c.sets))}
	r.counts()
	for i := range c.sets {
		s := &c.sets[i]
		if sizes := r.sizes(i); sizes != nil {
			*sizes = []int64{int64(r.totals[i])}
		}
		if s.piece == Edges && r.edges[i-c.nodes].SourceIndex == nil {
			e := r.edges[i-c.nodes]
			e.SourceIndex = r.ends(s.source, r.totals[i], r.totals[s.from])
			e.TargetIndex = r.ends(s.target, r.totals[i], r.totals[s.to])
		}
		for j := s.first; j < s.last; j++ {
			r.fill(&c.feats[j], r.tensors[j], r.totals[i])
		}
	}
	return g
}

// randomizer draws the parts of one GraphTensor.
type randomizer struct {
	*binding
	base  uint64
	known []bool // per set: its total is known
}

// mix is the output function of splitmix64, applied to the state after x.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// draws yields the random numbers of one key.
type draws uint64

func (r *randomizer) draws(slot int) draws {
	h := uint64(0xcbf29ce484222325) // FNV-1a
	for _, b := range []byte(r.codec.keys[slot].Key) {
		h = (h ^ uint64(b)) * 0x100000001b3
	}
	return draws(mix(r.base ^ h))
}

// at returns the i-th number. The constant is the increment of splitmix64's state.
func (d draws) at(i int) uint64 { return mix(uint64(d) + uint64(i)*0x9e3779b97f4a7c15) }

// below returns the i-th number in [0, n).
func (d draws) below(i, n int) int { return int(d.at(i) >> 32 * uint64(n) >> 32) }

// ends draws endpoints.
func (r *randomizer) ends(slot, edges, nodes int) []int64 {
	index, d := make([]int64, edges), r.draws(slot)
	for i := range index {
		index[i] = int64(d.below(i, nodes))
	}
	return index
}

// counts decides how many items each set has. Some counts follow from others. A set whose count would follow from
// itself has none.
func (r *randomizer) counts() {
	r.totals[0], r.known[0] = 1, true
	for progress := true; progress; {
		progress = false
		for i := range r.known {
			if !r.known[i] && r.count(i) {
				r.known[i], progress = true, true
			}
		}
	}
	for i, known := range r.known {
		if !known {
			r.totals[i] = 0
		}
	}
}

// count decides the number of items of one set if the counts that it follows from are known.
func (r *randomizer) count(i int) bool {
	c := r.codec
	s := &c.sets[i]
	d := r.draws(s.size)
	if s.piece == Nodes {
		if of, ok := strings.CutPrefix(s.name, "_shadow/"); ok {
			for j := c.nodes; j < len(c.sets); j++ {
				if c.sets[j].name == of {
					r.totals[i] = r.totals[j]
					return r.known[j]
				}
			}
		}
		r.totals[i] = 2 + d.below(0, 6)
		return !readout(s.name) || r.readout(i)
	}
	if !r.known[s.from] || !r.known[s.to] {
		return false
	}
	if _, ok := c.readoutKey(i); ok {
		// The count was drawn with the node set.
		return true
	}
	from, to := r.totals[s.from], r.totals[s.to]
	if from == 0 || to == 0 {
		return true
	}
	least, most := (from+to)*2/3, (from+to)*9/4
	r.totals[i] = least + d.below(0, most-least)
	return true
}

// readout says whether a node set is a readout set.
func readout(name string) bool {
	return name == "_readout" || strings.HasPrefix(name, "_readout:")
}

// readoutKey returns the key of an edge set that leads into a readout set.
func (c *Codec) readoutKey(i int) (string, bool) {
	s := &c.sets[i]
	into := c.sets[s.to].name
	rest, ok := strings.CutPrefix(s.name, into+"/")
	if s.piece != Edges || !readout(into) || !ok {
		return "", false
	}
	key, _, _ := strings.Cut(rest, "/")
	return key, true
}

// readout draws the edges into a readout set: for each key one edge into each node, from any of the key's node sets
// that have nodes. Without such a node set there are no edges.
func (r *randomizer) readout(i int) bool {
	c := r.codec
	keys := map[string][]int{} // edge sets with source nodes
	for j := c.nodes; j < len(c.sets); j++ {
		key, ok := c.readoutKey(j)
		if !ok || c.sets[j].to != i {
			continue
		}
		if !r.known[c.sets[j].from] {
			return false
		}
		keys[key] = append(keys[key], j)
	}
	for key, sets := range keys {
		full := sets[:0]
		for _, j := range sets {
			if r.totals[c.sets[j].from] > 0 {
				full = append(full, j)
			}
		}
		if keys[key] = full; len(full) == 0 {
			r.totals[i] = 0
		}
	}
	for _, sets := range keys {
		if len(sets) == 0 {
			continue
		}
		d := r.draws(c.sets[sets[0]].size)
		for node := range r.totals[i] {
			j := sets[d.below(node, len(sets))]
			e := r.edges[j-c.nodes]
			from := r.draws(c.sets[j].source).below(node, r.totals[c.sets[j].from])
			e.SourceIndex, e.TargetIndex = append(e.SourceIndex, int64(from)), append(e.TargetIndex, int64(node))
			r.totals[j]++
		}
	}
	return true
}

// letters are the possible strings.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// fill draws the values of a feature.
func (r *randomizer) fill(f *feature, t *Tensor, items int) {
	t.Items = items
	rows, level := items, 0
	for _, d := range f.shape {
		if d != -1 {
			rows *= d
			continue
		}
		d, lengths, sum := r.draws(f.lengths[level]), make([]int64, rows), 0
		for i := range lengths {
			n := 2 + d.below(i, 6)
			if level > 0 {
				n = d.below(i, 3)
			}
			lengths[i] = int64(n)
			sum += n
		}
		t.Lengths[level] = lengths
		rows = sum
		level++
	}
	d := r.draws(f.values)
	switch f.list {
	case BytesList:
		t.Texts = make([][]byte, rows)
		text := []byte(letters)
		for i := range t.Texts {
			k := d.below(i, len(text))
			t.Texts[i] = text[k : k+1 : k+1]
		}
	case FloatList:
		// Use twice as many steps as the dtype has between 1/2 and 1.
		steps := 1 << 24
		switch f.dtype {
		case tfgnnpb.DataType_DT_HALF:
			steps = 1 << 11
		case tfgnnpb.DataType_DT_BFLOAT16:
			steps = 1 << 8
		}
		t.Floats = make([]float32, rows)
		for i := range t.Floats {
			t.Floats[i] = float32(d.below(i, steps)) / float32(steps)
		}
	case Int64List:
		least, most := 10, 100
		switch {
		case f.hi == 1:
			least, most = 0, 2
		case f.lo < -1<<31:
			least, most = 100, 999
		}
		t.Ints = make([]int64, rows)
		for i := range t.Ints {
			t.Ints[i] = int64(least + d.below(i, most-least))
		}
	}
}
