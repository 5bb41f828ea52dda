package sample

import (
	"slices"

	"github.com/graphmill/graphmill/draw"
)

// seeds is op 0: it visits all seeds in order. Of link seeds it visits all sources first. The ends of negatives come after
// the ends of the links.
func (c *Context) seeds(in Input) error {
	width := c.s.SeedWidth()
	var pairs [2][]uint32 // nodes of the seeds and of the negatives
	var local [2]*[]uint32
	pairs[0], local[0] = in.Seeds, &c.sub.SeedLocal
	if c.s.negatives != nil {
		if err := c.drawNegatives(in); err != nil {
			return err
		}
		pairs[1], local[1] = c.sub.Negatives.Nodes, &c.sub.Negatives.Local
	}
	for i, ids := range pairs {
		if local[i] != nil {
			*local[i] = slices.Grow((*local[i])[:0], len(ids))[:len(ids)]
		}
	}
	for end, t := range c.s.seedTypes {
		for k, ids := range pairs {
			ends := c.ends[:0]
			for i := end; i < len(ids); i += width {
				ends = append(ends, ids[i])
			}
			c.ends = ends
			if len(ends) == 0 {
				continue
			}
			c.local[t].visit(ends)
			for i, v := range ends {
				(*local[k])[i*width+end] = v
			}
		}
	}
	for _, t := range c.s.seedTypes {
		c.sub.NodesByHop[t][0] = c.local[t].n
	}
	if c.s.plan.Exclude != nil {
		for end, t := range c.s.seedTypes {
			c.partners[end].fill(in.Seeds, c.sub.SeedLocal, end, c.local[t].n)
		}
	}
	return nil
}

// prefixKey is the state of the draw law that the number of an op is absorbed into.
func (s *Sampler) prefixKey(in Input) uint64 {
	word := uint64(0)
	switch s.plan.Scope {
	case ScopeBatch:
		word = in.Unit
	case ScopeSeed:
		word = uint64(in.Seeds[0])
		if len(in.Seeds) == 2 {
			word = draw.Absorb(draw.Absorb(0, uint64(in.Seeds[0])), uint64(in.Seeds[1]))
		}
	}
	return draw.Key(in.Seed, in.Epoch, uint64(s.plan.Scope), word)
}
