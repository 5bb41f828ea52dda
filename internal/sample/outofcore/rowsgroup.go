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
			Work: func(ctx context.Context, k *emitWorker, i *wanted) error {
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
	x := p.newNodeMarks(w, tables)
	for ; done < n; done++ {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		p.batches.Get(first+done, &x.batch)
		if err := x.markBatch(first + done - w.first); err != nil {
			return 0, err
		}
		if err := keep(tables, limit, done == 0); err != nil {
			return done, err
		}
	}
	return done, nil
}

// nodeMarks marks the rows of the nodes of a batch.
type nodeMarks struct {
	p     *pipeline
	w     *window
	byOp  []*Rows // of the far ends of each op; nil where no column of theirs is wanted
	byEnd []*Rows // of each node of a seed: one, or two for links
	batch sample.Batch
	links *sample.Context // draws negatives; nil without any
}

// newNodeMarks finds the tables of the node types.
func (p *pipeline) newNodeMarks(w *window, tables []*Rows) *nodeMarks {
	g := p.sampler.Graph()
	tableOf := func(nodeType int) *Rows {
		if i := slices.IndexFunc(tables, func(r *Rows) bool { return r.number == nodeType }); i >= 0 {
			return tables[i]
		}
		return nil
	}
	x := &nodeMarks{p: p, w: w, byOp: make([]*Rows, p.ops+1)}
	for op := 1; op <= p.ops; op++ {
		edges, dir := p.sampler.Walk(op)
		x.byOp[op] = tableOf(g.NodeType(g.Edges[edges].Type.Far(dir)))
	}
	for _, t := range p.sampler.Plan().SeedType {
		x.byEnd = append(x.byEnd, tableOf(g.NodeType(t)))
	}
	if p.sampler.Plan().Negatives != nil {
		x.links = p.sampler.NewContext()
	}
	return x
}

// markBatch marks the rows of the batch at a place in the window.
func (x *nodeMarks) markBatch(at uint64) error {
	x.markEnds(x.batch.Seeds)
	for i := range x.p.sampler.Subgraphs(&x.batch) {
		if x.links != nil {
			nodes, err := x.links.DrawNegatives(x.p.sampler.Input(&x.batch, x.p.job.Seed, i))
			if err != nil {
				return err
			}
			x.markEnds(nodes)
		}
		for op := 1; op <= x.p.ops; op++ {
			if far := x.w.span(x.p.ops, at, i, op); x.byOp[op] != nil && far.n > 0 {
				x.byOp[op].mark(x.w.stages[x.p.waveOf[op]].far[far.start : far.start+far.n])
			}
		}
	}
	return nil
}

// markEnds marks the rows of seeds, or of the ends of negatives: for links, the ends take turns.
func (x *nodeMarks) markEnds(nodes []uint32) {
	for i, v := range nodes {
		if r := x.byEnd[i%len(x.byEnd)]; r != nil {
			r.mark([]uint32{v})
		}
	}
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
