package cluster

import (
	"sync"

	"github.com/graphmill/graphmill/internal/sample"
)

// rangeCache keeps ranges that were cut and checked. Near ops come back to the same ranges for each group.
type rangeCache struct {
	mu   sync.Mutex
	have map[rangeKey]*sample.Range
}

type rangeKey struct {
	walk  int
	first int
}

// keptRanges bounds the ranges that are kept. Those of a mapped store take 4 bytes per node.
const keptRanges = 4096

// cut is the range of a walk that begins at a node.
func (s *Site) cut(walk, first int) (*sample.Range, error) {
	key := rangeKey{walk, first}
	c := &s.ranges
	c.mu.Lock()
	r := c.have[key]
	c.mu.Unlock()
	if r != nil {
		return r, nil
	}
	w := &s.steps.walks[walk]
	e, err := s.sampler.Cut(w.edges, w.dir, first, min(w.nodes, w.count-first))
	if err != nil {
		return nil, err
	}
	if r, err = s.sampler.Range(w.edges, w.dir, e); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.have == nil || len(c.have) >= keptRanges {
		c.have = map[rangeKey]*sample.Range{}
	}
	c.have[key] = r
	return r, nil
}

// near is the range of a node that a near op expands.
func (s *Site) near(op int, v uint32) (*sample.Range, error) {
	walk := s.steps.walkOf[op]
	nodes := s.steps.walks[walk].nodes
	return s.cut(walk, int(v)/nodes*nodes)
}
