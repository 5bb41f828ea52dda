package cluster

import (
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/sample"
)

// rangeCache keeps ranges that were cut and checked, by number. Near ops come back to the same ranges for each group, once for each seed, so
// finding one is two loads.
type rangeCache struct {
	have []atomic.Pointer[sample.Range]
	kept atomic.Int64
}

// keptRanges bounds the ranges that are kept. Those of a mapped store take 4 bytes per node.
const keptRanges = 4096

// cut is a range of a walk, given by its place among those of the walk.
func (s *Site) cut(walk, n int) (*sample.Range, error) {
	w := &s.steps.walks[walk]
	c := &s.ranges
	at := &c.have[w.first+int64(n)]
	if r := at.Load(); r != nil {
		return r, nil
	}
	first := n * w.nodes
	e, err := s.sampler.Cut(w.edges, w.dir, first, min(w.nodes, w.count-first))
	if err != nil {
		return nil, err
	}
	r, err := s.sampler.Range(w.edges, w.dir, e)
	if err != nil {
		return nil, err
	}
	if c.kept.Add(1) > keptRanges {
		c.kept.Store(1)
		for i := range c.have {
			c.have[i].Store(nil)
		}
	}
	at.Store(r)
	return r, nil
}

// near is the range of a node that a near op expands.
func (s *Site) near(op int, v uint32) (*sample.Range, error) {
	walk := s.steps.walkOf[op]
	return s.cut(walk, int(v)/s.steps.walks[walk].nodes)
}
