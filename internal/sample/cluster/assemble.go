package cluster

import (
	"context"
	"fmt"

	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/output"
)

// Assemble makes the piece of a group from its answers, and from its rows where there is a stage Rows.
func (h *Hand) Assemble(ctx context.Context, group int64, records func() ([]byte, bool)) error {
	if err := h.readGroup(group, records); err != nil {
		return err
	}
	writer := h.writer
	rows := h.group.rows
	if rows != nil {
		// The tables of a group differ from those of the one before, so the group has an encoding of its own.
		opt, err := h.s.records()
		if err != nil {
			return err
		}
		opt.Rows = rows
		pieces, err := output.RecordPieces(h.s.sampler, opt, h.s.job)
		if err != nil {
			return err
		}
		if writer, err = pieces.NewWriter(); err != nil {
			return err
		}
	}
	return h.piece(ctx, writer, uint64(group), h.assemble, func() error { return rows.check() })
}

// readGroup reads the answers of a group, and its rows.
func (h *Hand) readGroup(group int64, records func() ([]byte, bool)) error {
	s := h.s
	if group < 0 || uint64(group) >= s.Work.Groups() {
		return fmt.Errorf("found group %d, expected less than %d; use the same version on all machines", group, s.Work.Groups())
	}
	_, n := s.Work.Group(uint64(group))
	subgraphs := int(n)
	if s.sampler.Plan().Scope == sample.ScopeSeed {
		subgraphs *= s.job.BatchSize
	}
	return h.group.read(records, subgraphs)
}

// assemble makes the subgraph with a number in the group.
func (h *Hand) assemble(in sample.Input, sub uint32) (*sample.Subgraph, error) {
	a := &h.group
	a.begin(in, sub)
	g, err := h.kernel.SampleGiven(in, a)
	if err == nil {
		err = a.err
	}
	return g, err
}
