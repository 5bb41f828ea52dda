package cluster

import (
	"context"

	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/stages"
)

// startGroup draws the near ops of the subgraphs of a group, and asks the ranges of the nodes that they found. An empty record
// with the key of the group makes sure that the group is assembled, also where it asks nothing.
func (h *Hand) startGroup(ctx context.Context, group uint64, emit stages.Emit) error {
	s := h.s
	h.requests.emit = emit
	emit(s.groups, groupKey(group), nil)
	first, n := s.Work.Group(group)
	var batch sample.Batch
	sub := uint32(0)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		h.batches.Get(first+i, &batch)
		for at := range s.sampler.Subgraphs(&batch) {
			if err := h.start(group, sub, s.sampler.Input(&batch, s.job.Seed, at)); err != nil {
				return err
			}
			sub++
		}
	}
	h.requests.flush()
	s.counts.started.Add(1)
	return nil
}

// start is startGroup for one subgraph.
func (h *Hand) start(group uint64, sub uint32, in sample.Input) error {
	s := h.s
	p, width := s.sampler.Plan(), s.sampler.SeedWidth()
	negatives, err := h.draws.DrawNegatives(in)
	if err != nil {
		return err
	}
	h.ends = append(append(h.ends[:0], in.Seeds...), negatives...)
	h.asked.Clear()
	for op := 1; op <= len(p.Ops); op++ {
		if s.steps.stage[op] > 0 {
			continue
		}
		w := &s.steps.walks[s.steps.walkOf[op]]
		key := s.sampler.Key(in, op)
		for i, v := range h.ends {
			if !s.starts(w, i%width) || !h.asked.Add(uint64(op)<<32|uint64(v)) {
				continue
			}
			r, err := s.near(op, v)
			if err != nil {
				return err
			}
			far, _ := h.draws.Take(r, op, key, in.Time, v)
			h.next(group, op, sub, far)
		}
	}
	for _, op := range s.steps.next[0] {
		w := &s.steps.walks[s.steps.walkOf[op]]
		for i, v := range h.ends {
			if s.starts(w, i%width) && h.asked.Add(uint64(op)<<32|uint64(v)) {
				h.requests.add(group, int(op), sub, v)
			}
		}
	}
	return nil
}

// starts says whether a walk starts from the seeds at an end: 0, or 1 for the targets of links.
func (s *Site) starts(w *walk, end int) bool {
	return s.sampler.Plan().SeedType[end] == s.graph().Edges[w.edges].Type.Near(w.dir)
}

// next asks the ranges of the nodes that an op found, for the ops that start from it.
func (h *Hand) next(group uint64, op int, sub uint32, far []uint32) {
	for _, next := range h.s.steps.next[op] {
		for _, v := range far {
			if h.asked.Add(uint64(next)<<32 | uint64(v)) {
				h.requests.add(group, int(next), sub, v)
			}
		}
	}
}
