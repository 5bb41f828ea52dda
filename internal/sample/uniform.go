package sample

import (
	"slices"

	"github.com/graphmill/graphmill/draw"
)

// Uniform takes edges without replacement, all with the same chance.
const Uniform How = 0

// uniform is the strategy and the drawer of Uniform.
type uniform struct{ edgewise }

func (uniform) name() string { return "uniform" }

func (uniform) traits(*Op) traits { return traits{} }

func (u uniform) compile(*op, *opSource) (drawer, error) { return u, nil }

func (u uniform) draw(c *Context, o *op, key uint64, r *run, dst []uint32) int {
	k := int(min(r.n, o.take))
	u.choose(&c.picker, key, r.node, r.n, dst[:k])
	return k
}

func (uniform) choose(p *Picker, key uint64, v, d uint32, out []uint32) {
	if d > uint32(len(out)) {
		p.Distinct(draw.Absorb(key, uint64(v)), d, out)
		return
	}
	for i := range out {
		out[i] = uint32(i)
	}
}

func (uniform) drawBlock(c *Context, o *op, key uint64, b block, pos, near []uint32) int {
	n, first := 0, o.adj.first
	for i, l := range b.local {
		start, d := b.start[i], b.degree[i]
		k := min(d, o.take)
		out, local := pos[n:n+int(k)], near[n:n+int(k)]
		if d <= o.take {
			for j := range out {
				out[j] = start + uint32(j)
				local[j] = l
			}
		} else {
			c.picker.Distinct(draw.Absorb(key, uint64(b.node[i]+first)), d, out)
			for j := range out {
				out[j] += start
				local[j] = l
			}
		}
		n += int(k)
	}
	return n
}

// floydTable is the size of the table in which a Picker looks for repeats.
const floydTable = 4096

// Picker draws without repeats, by the method of Floyd. Its zero value is ready. It is not safe for concurrent use.
type Picker struct {
	seen [floydTable]uint32
	tick uint32
}

// Distinct sets out to len(out) distinct numbers below n, in the order of the draw law. len(out) must be below n.
//
// The slot of a number in the table holds the tick of the call that took the number last. For n up to the size of the
// table this is exact. For larger n another number may have the same slot, so a hit is looked up.
func (p *Picker) Distinct(h uint64, n uint32, out []uint32) {
	p.tick++
	if p.tick == 0 {
		clear(p.seen[:])
		p.tick = 1
	}
	tick, seen := p.tick, &p.seen
	j := n - uint32(len(out))
	if n <= floydTable { // without a branch, because hits cannot be predicted
		for i := range out {
			h += draw.Gamma
			t := uint32(draw.Below(draw.Mix(h), uint64(j)+1))
			if seen[t%floydTable] == tick {
				t = j
			}
			seen[t%floydTable] = tick
			out[i] = t
			j++
		}
		return
	}
	for i := range out {
		h += draw.Gamma
		t := uint32(draw.Below(draw.Mix(h), uint64(j)+1))
		if seen[t%floydTable] == tick && slices.Contains(out[:i], t) {
			t = j
		}
		seen[t%floydTable] = tick
		out[i] = t
		j++
	}
}
