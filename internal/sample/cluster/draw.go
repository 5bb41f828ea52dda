package cluster

import (
	"cmp"
	"context"
	"slices"

	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/stages"
)

// drawRange draws for the requests to a range in a stage. records gives the records of the key. It emits answers, by
// group, and requests to the ranges of later stages.
func (h *Hand) drawRange(ctx context.Context, stage int, key int64, records func() ([]byte, bool), emit stages.Emit) error {
	s := h.s
	walk, first, err := s.rangeOf(key)
	if err != nil {
		return err
	}
	w := &s.steps.walks[walk]
	list := h.order[:0]
	for b, ok := records(); ok; b, ok = records() {
		if list, err = sections(list, b, len(s.steps.stage)-1); err != nil {
			return err
		}
	}
	h.order = list
	// Sections of a group and op together, so that repeats are found and records are large.
	slices.SortStableFunc(list, func(a, b section) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.op, b.op))
	})
	h.requests.emit = emit
	h.out.begin(emit)
	var drawn *sample.Range
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end].group == list[i].group && list[end].op == list[i].op {
			end++
		}
		run := list[i:end]
		i = end
		if op := run[0].op; uint64(run[0].group) >= s.Work.Groups() || op == 0 || s.steps.walkOf[op] != walk || s.steps.stage[op] != stage {
			return errRecord("requests")
		}
		if drawn == nil {
			if drawn, err = s.cut(walk, first/w.nodes); err != nil {
				return err
			}
		}
		if err := h.answer(ctx, drawn, first, min(w.nodes, w.count-first), run); err != nil {
			return err
		}
	}
	h.out.flush()
	h.requests.flush()
	return ctx.Err()
}

// answer draws for the requests of a group to an op, which are for n nodes from first on.
func (h *Hand) answer(ctx context.Context, r *sample.Range, first, n int, run []section) error {
	s := h.s
	group, op := uint64(run[0].group), int(run[0].op)
	batch, batches := s.Work.Group(group)
	each, scope := uint64(1), s.sampler.Plan().Scope
	if scope == sample.ScopeSeed {
		each = uint64(s.job.BatchSize)
	}
	h.repeats.Clear()
	h.out.section(group, op, uint32(first))
	var in sample.Input
	key, last := uint64(0), int64(-1)
	for i := range run {
		err := run[i].each(first, n, func(sub, v uint32) error {
			if uint64(sub) >= batches*each {
				return errRecord("requests")
			}
			if !h.repeats.Add(uint64(sub)<<32 | uint64(v)) {
				return nil
			}
			if int64(sub) != last {
				in = h.batches.Lone(scope, batch+uint64(sub)/each, int(uint64(sub)%each))
				key, last = s.sampler.Key(in, op), int64(sub)
				h.asked.Clear()
			}
			far, ids := h.draws.Take(r, op, key, in.Time, v)
			h.out.add(sub, v, far, ids)
			h.next(group, op, sub, far)
			return nil
		})
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	s.counts.answers.Add(uint64(h.repeats.Len()))
	return nil
}
