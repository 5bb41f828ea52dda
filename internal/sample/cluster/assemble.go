package cluster

import (
	"context"
	"fmt"

	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/output"
)

// assembleGroup makes the piece of a group from its answers, and from its rows where there is a stage rows.
func (h *Hand) assembleGroup(ctx context.Context, key int64, records func() ([]byte, bool)) error {
	group, err := h.readGroup(key, records)
	if err != nil {
		return err
	}
	writer := h.writer
	rows := h.group.rows
	if rows != nil {
		// The tables of a group differ from the tables of the group before, so the group has an encoding of its own.
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
	return h.piece(ctx, writer, group, h.assemble, func() error { return rows.check() })
}

// readGroup reads the answers of the group of a key, and its rows.
func (h *Hand) readGroup(key int64, records func() ([]byte, bool)) (group uint64, err error) {
	s := h.s
	group, ok := groupOf(key)
	if !ok || group >= s.Work.Groups() {
		return 0, fmt.Errorf("found key %d, expected that of one of %d groups; use the same version on all machines", key, s.Work.Groups())
	}
	_, n := s.Work.Group(group)
	subgraphs := int(n)
	if s.sampler.Plan().Scope == sample.ScopeSeed {
		subgraphs *= s.job.BatchSize
	}
	return group, h.group.read(records, subgraphs)
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
