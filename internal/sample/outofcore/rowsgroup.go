package outofcore

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

// errFull ends a pack of batches: the table does not hold the rows of the next batch.
var errFull = errors.New("full")

// wanted is the nodes or edges of a batch, by table.
type wanted struct {
	ids   []graph.Index
	batch uint64
	stats sample.Stats // not used
}

// wantSampled samples batches to find the rows that they want. done is the number of batches whose rows fit.
func (p *pipeline) wantSampled(ctx context.Context, workers []*emitWorker, tables []*Rows, first, n uint64, from fetched) (done uint64, err error) {
	next := uint64(0)
	err = ordered.Run(ctx, p.threads,
		func() *emitWorker { k := workers[0]; workers = workers[1:]; return k },
		func() *wanted { return &wanted{ids: make([]graph.Index, len(tables))} },
		ordered.Stages[*emitWorker, *wanted]{
			Fill: func(i *wanted) error {
				if next == n {
					return io.EOF
				}
				i.batch = first + next
				next++
				return nil
			},
			Work: func(k *emitWorker, i *wanted) error {
				for t := range i.ids {
					i.ids[t] = sample.EmptyIDs(i.ids[t])
				}
				return k.run(ctx, from, i.batch, p.job.Seed, &i.stats, func(_ *sample.Batch, sub *sample.Subgraph) error {
					for t, r := range tables {
						if r.edges {
							i.ids[t] = sample.AppendIDs(i.ids[t], sub.Edges[r.number].ID)
						} else {
							i.ids[t].U32 = append(i.ids[t].U32, sub.Nodes[r.number]...)
						}
					}
					return nil
				})
			},
			Sink: func(i *wanted) error {
				for t, r := range tables {
					r.markIDs(i.ids[t])
				}
				if err := keep(tables, p.share.limit, done == 0); err != nil {
					return err
				}
				done++
				return nil
			},
		})
	return done, err
}

// wantNodes finds the rows that batches of a window want from its far ends, which with the seeds and the ends of their
// negatives are all nodes of the subgraphs. limit bounds the bytes of the rows; 0 is no bound. done is the number of batches whose rows fit.
func (p *pipeline) wantNodes(ctx context.Context, w *window, tables []*Rows, first, n uint64, limit int64) (done uint64, err error) {
	g, source := p.sampler.Graph(), p.batches
	tableOf := func(nodeType int) *Rows {
		if i := slices.IndexFunc(tables, func(r *Rows) bool { return r.number == nodeType }); i >= 0 {
			return tables[i]
		}
		return nil
	}
	byOp := make([]*Rows, p.ops+1)
	for op := 1; op <= p.ops; op++ {
		edges, dir := p.sampler.Walk(op)
		byOp[op] = tableOf(g.NodeType(g.Edges[edges].Type.Far(dir)))
	}
	var byEnd []*Rows
	for _, t := range p.sampler.Plan().SeedType {
		byEnd = append(byEnd, tableOf(g.NodeType(t)))
	}
	var b sample.Batch
	var links *sample.Context
	if p.sampler.Plan().Negatives != nil {
		links = p.sampler.NewContext()
	}
	for ; done < n; done++ {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		source.Get(first+done, &b)
		for i, v := range b.Seeds {
			if r := byEnd[i%len(byEnd)]; r != nil {
				r.mark([]uint32{v})
			}
		}
		for i := range p.sampler.Subgraphs(&b) {
			if links != nil {
				nodes, err := links.DrawNegatives(p.sampler.Input(&b, p.job.Seed, i))
				if err != nil {
					return 0, err
				}
				for i, v := range nodes {
					if r := byEnd[i%len(byEnd)]; r != nil {
						r.mark([]uint32{v})
					}
				}
			}
			for op := 1; op <= p.ops; op++ {
				if at := w.span(p.ops, first+done-w.first, i, op); byOp[op] != nil && at.n > 0 {
					byOp[op].mark(w.stages[p.waveOf[op]].far[at.start : at.start+at.n])
				}
			}
		}
		if err := keep(tables, limit, done == 0); err != nil {
			return done, err
		}
	}
	return done, nil
}

// keep adds the rows that were marked for a batch to the wanted rows, unless all of them together exceed the limit.
// Then it takes the marks back and returns errFull or, where the batch is the only one (alone), an error that wraps
// ErrMemory.
func keep(tables []*Rows, limit int64, alone bool) error {
	bytes, many := int64(0), false
	for _, r := range tables {
		bytes += int64(r.marked+len(r.fresh)) * int64(r.rowBytes())
		many = many || r.marked+len(r.fresh) > math.MaxUint32 // places have 32 bits
	}
	if limit > 0 && bytes > limit || many {
		for _, r := range tables {
			r.unmark()
		}
		if !alone {
			return errFull
		}
		return tagged.Errorf(ErrMemory, "found %s of rows of the columns %s in one batch, expected at most %s; give more `Memory`, or take smaller batches",
			human.Bytes(bytes), strings.Join(columnNames(tables), ", "), human.Bytes(limit))
	}
	for _, r := range tables {
		r.keep()
	}
	return nil
}
