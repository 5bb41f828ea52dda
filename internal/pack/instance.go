package pack

import (
	"math"
	"slices"
)

// vec has the sizes of up to seven components and the number of graphs, two per word: 31 bits each and a guard
// bit above, so that one subtraction compares two. The number of graphs is field 3, so that three components
// and it take two words.
type vec [4]uint64

const (
	guard  = 1<<31 | 1<<63
	graphs = 3 // the field of the number of graphs
)

// field is the field of component j.
func field(j int) int {
	if j >= graphs {
		return j + 1
	}
	return j
}

// vecOf makes a vec from sizes and a number of graphs.
func vecOf(sizes []int, n int) vec {
	var v vec
	for j, s := range sizes {
		f := field(j)
		v[f/2] |= uint64(s) << (32 * (f % 2))
	}
	v[graphs/2] |= uint64(n) << 32
	return v
}

// get returns field f.
func (v *vec) get(f int) int { return int(v[f/2] >> (32 * (f % 2)) & maxSize) }

// minus is v - u, if u fits into v.
func (v *vec) minus(u *vec) (vec, bool) {
	a, b := (v[0]|guard)-u[0], (v[1]|guard)-u[1]
	if a&b&guard != guard {
		return vec{}, false
	}
	c, d := (v[2]|guard)-u[2], (v[3]|guard)-u[3]
	if c&d&guard != guard {
		return vec{}, false
	}
	return vec{a &^ guard, b &^ guard, c &^ guard, d &^ guard}, true
}

// fits reports whether u fits into v.
func (v *vec) fits(u *vec) bool {
	return ((v[0]|guard)-u[0])&((v[1]|guard)-u[1])&((v[2]|guard)-u[2])&((v[3]|guard)-u[3])&guard == guard
}

// times is n times v; no field of the result overflows.
func (v *vec) times(n int) vec {
	m := uint64(n)
	return vec{v[0] * m, v[1] * m, v[2] * m, v[3] * m}
}

// least is the minimum of v and u in every field.
func (v *vec) least(u *vec) vec {
	var out vec
	for f := range 8 {
		out[f/2] |= uint64(min(v.get(f), u.get(f))) << (32 * (f % 2))
	}
	return out
}

// instance is a problem prepared for the search: the fields that can bind, and the shapes as vecs.
type instance struct {
	fields []int // the fields of the components, and graphs if there is a cap
	limit  vec
	size   []vec
	count  []int64
	// demand is, by index of fields, the least number of packs that the field requires.
	demand []float64
}

func newInstance(p *Problem) *instance {
	in := &instance{count: slices.Clone(p.Counts)}
	most := maxSize
	if p.MaxGraphs > 0 {
		most = p.MaxGraphs
	}
	in.limit = vecOf(p.Limits, most)
	for i := range p.Counts {
		in.size = append(in.size, vecOf(p.Shape(i), 1))
	}
	for j, l := range p.Limits {
		in.fields = append(in.fields, field(j))
		in.demand = append(in.demand, float64(p.Total(j))/float64(max(l, 1)))
	}
	if p.MaxGraphs > 0 {
		in.fields = append(in.fields, graphs)
		in.demand = append(in.demand, float64(p.Graphs())/float64(p.MaxGraphs))
	}
	return in
}

// most is the number of times that u fits into room, at most n.
func (in *instance) most(room, u *vec, n int64) int {
	n = min(n, int64(room.get(graphs)))
	for _, f := range in.fields {
		if s := u.get(f); s > 0 {
			n = min(n, int64(room.get(f)/s))
		}
	}
	return int(n)
}

// scale is the weight of a full pack in the component that binds.
const scale = 1 << 40

// weights returns the weight of a unit of each field: a pack that is full in a component weighs that
// component's demand relative to the binding one, to the power of p. Integers make sums exact.
func (in *instance) weights(p int) []int64 {
	worst := slices.Max(in.demand)
	w := make([]int64, len(in.fields))
	for i, f := range in.fields {
		share := 1.0
		for range p {
			share *= in.demand[i] / max(worst, math.SmallestNonzeroFloat64)
		}
		if l := in.limit.get(f); l > 0 && l < maxSize {
			w[i] = max(int64(share*scale)/int64(l), 0)
		}
	}
	if slices.Max(w) == 0 {
		w[0] = 1
	}
	return w
}

// weight is the weight of v.
func (in *instance) weight(v *vec, w []int64) int64 {
	sum := int64(0)
	for i, f := range in.fields {
		sum += w[i] * int64(v.get(f))
	}
	return sum
}
