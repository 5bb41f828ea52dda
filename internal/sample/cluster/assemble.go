package cluster

import (
	"context"
	"fmt"

	"github.com/graphmill/graphmill/internal/sample"
)

// Assemble makes the piece of a group from its answers.
func (h *Hand) Assemble(ctx context.Context, group int64, records func() ([]byte, bool)) error {
	s := h.s
	if group < 0 || uint64(group) >= s.Work.Groups() {
		return fmt.Errorf("found group %d, expected less than %d; use the same version on all machines", group, s.Work.Groups())
	}
	_, n := s.Work.Group(uint64(group))
	subgraphs := int(n)
	if s.sampler.Plan().Scope == sample.ScopeSeed {
		subgraphs *= s.job.BatchSize
	}
	a := &h.group
	if err := a.read(records, subgraphs); err != nil {
		return err
	}
	return h.piece(ctx, uint64(group), func(in sample.Input, sub uint32) (*sample.Subgraph, error) {
		a.begin(in, sub)
		g, err := h.kernel.SampleGiven(in, a)
		if err == nil {
			err = a.err
		}
		return g, err
	})
}
