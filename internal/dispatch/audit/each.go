package audit

import (
	"context"
	"io"

	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/internal/ordered"
)

// reading is one part while it is read.
type reading struct {
	*parts.Part
	count   Report  // what is counted in this part
	leaving []int64 // as in auditor, of this part's edges alone; nil: none
	ctx     context.Context
}

// each calls work for all parts, opt.Threads of them at a time, and then adds up what they counted, in the order of the parts, and
// calls after. Its error is the error of the first part, in
// order, that failed: the parts before it are read to their end, and the parts after it are cancelled.
func (a *auditor) each(ctx context.Context, work func(ctx context.Context, x *reading) error, after func(p *parts.Part) error) error {
	contexts, stops := make([]context.Context, len(a.Parts)), make([]context.CancelFunc, len(a.Parts))
	for i := range a.Parts {
		contexts[i], stops[i] = context.WithCancel(ctx)
		defer stops[i]()
	}
	next := 0
	return ordered.Run(ctx, min(max(a.opt.Threads, 1), max(len(a.Parts), 1)), func() struct{} { return struct{}{} }, func() *reading { return &reading{} }, ordered.Stages[struct{}, *reading]{
		Fill: func(x *reading) error {
			if next == len(a.Parts) {
				return io.EOF
			}
			*x = reading{Part: a.Parts[next], ctx: contexts[next]}
			next++
			return nil
		},
		Work: func(_ context.Context, _ struct{}, x *reading) error {
			whole := false
			defer func() { // also after a fault under a map
				if !whole {
					for _, stop := range stops[x.Index+1:] {
						stop()
					}
				}
			}()
			err := work(x.ctx, x)
			whole = err == nil
			return err
		},
		Sink: func(x *reading) error {
			r := a.report
			r.Leaving = r.Leaving || x.count.Leaving
			r.HaloNodes += x.count.HaloNodes
			r.HaloEdges += x.count.HaloEdges
			r.ComparedEdges += x.count.ComparedEdges
			r.ComparedRows += x.count.ComparedRows
			for q, n := range x.leaving {
				a.leaving[q] += n
			}
			return after(x.Part)
		},
	})
}

// nodeTouches and edgeTouches are the bytes of a part's arrays per node and per edge.
const nodeTouches, edgeTouches = 24, 96

// advance reports that a part was read, and releases its memory.
func (a *auditor) advance(p *parts.Part) error {
	a.done += p.Edges
	if a.opt.Progress != nil {
		a.opt.Progress(a.done, a.total)
	}
	return a.Touched(int64(nodeTouches)*p.Nodes + int64(edgeTouches)*p.Edges)
}
