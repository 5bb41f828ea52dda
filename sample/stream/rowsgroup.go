package stream

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/sample"
)

// errFull ends a group of batches: the table does not hold the rows of the next one.
var errFull = errors.New("full")

// wanted is the nodes and edges of a batch, by table.
type wanted struct {
	ids   [][]uint32
	batch uint64
	stats sample.Stats // not used
}

// group reads the rows that batches of the run want, from first on: of n of them, or
// of as many as the tables hold. It returns how many.
func (p *pipeline) group(ctx context.Context, workers []*emitWorker, tables []*Rows, first, n uint64, from fetched) (uint64, error) {
	for _, r := range tables {
		r.reset()
	}
	next, done := uint64(0), uint64(0)
	err := ordered.Run(ctx, p.threads,
		func() *emitWorker { k := workers[0]; workers = workers[1:]; return k },
		func() *wanted { return &wanted{ids: make([][]uint32, len(tables))} },
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
					i.ids[t] = i.ids[t][:0]
				}
				return k.run(ctx, from, i.batch, p.job.Seed, &i.stats, func(_ *sample.Batch, sub *sample.Subgraph) error {
					for t, r := range tables {
						if r.edges {
							i.ids[t] = append(i.ids[t], sub.Edges[r.number].ID...)
						} else {
							i.ids[t] = append(i.ids[t], sub.Nodes[r.number]...)
						}
					}
					return nil
				})
			},
			Sink: func(i *wanted) error {
				if err := p.x.want(tables, i.ids, done == 0); err != nil {
					return err
				}
				done++
				return nil
			},
		})
	if err != nil && !errors.Is(err, errFull) {
		return 0, err
	}
	return done, p.x.readRows(ctx, tables)
}

// want marks the rows of a batch, or none where they do not fit: errFull, or an error
// where the batch is alone.
func (x *Executor) want(tables []*Rows, ids [][]uint32, alone bool) error {
	bytes := int64(0)
	for t, r := range tables {
		r.mark(ids[t])
		bytes += int64(r.marked+len(r.fresh)) * int64(r.rowBytes())
	}
	if x.rows.limit > 0 && bytes > x.rows.limit {
		for _, r := range tables {
			r.unmark()
		}
		if !alone {
			return errFull
		}
		return tagged.Errorf(ErrMemory, "found %s of rows of the columns %s in one batch, expected at most %s; give more memory, or take smaller batches",
			human.Bytes(bytes), strings.Join(columnNames(tables), ", "), human.Bytes(x.rows.limit))
	}
	for _, r := range tables {
		r.keep()
	}
	return nil
}
