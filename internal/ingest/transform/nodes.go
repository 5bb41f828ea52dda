package transform

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// Names of the fields that are not columns. No column of a store has such a name.
const (
	idField  = "\x00id"
	rowField = "\x00row"
	srcField = "\x00src"
	dstField = "\x00dst"
)

// chunkRows is the number of nodes, or of edges, of a chunk.
const chunkRows = 16 << 10

// nodeTable is the table of the nodes that are kept, in the order of their old ids. It implements table.Table, also for
// the context, which has no n.
type nodeTable struct {
	rows
	t *Transform
	n *graph.Nodes
	// to has the new id of each node, or gone; nil: all are kept.
	to []uint32
	// kept counts the nodes that are kept before each run of keptRun nodes.
	kept []uint64
}

// gone marks a node that is left out.
const gone = ^uint32(0)

// keptRun is the number of nodes between two counts.
const keptRun = chunkRows

// below returns the number of nodes that are kept among the first nodes.
func (t *nodeTable) below(nodes int) uint64 {
	if t.to == nil {
		return uint64(nodes)
	}
	n := t.kept[nodes/keptRun]
	for _, x := range t.to[nodes/keptRun*keptRun : nodes] {
		if x != gone {
			n++
		}
	}
	return n
}

// Fields implements table.Table.
func (t *nodeTable) Fields() []table.Field { return t.fields() }

// Files implements table.Table.
func (t *nodeTable) Files() []string { return []string{"the graph"} }

// Bytes implements table.Table.
func (t *nodeTable) Bytes() int64 { return bytesOf(t.columns, t.count) }

func bytesOf(columns []*graph.Column, rows int) int64 {
	n := int64(8 * rows)
	for _, c := range columns {
		n += int64(len(c.Values))
	}
	return n
}

// Where implements table.Table.
func (t *nodeTable) Where(row uint64, _ string) string {
	if t.n == nil {
		return fmt.Sprintf("context: row %d", row)
	}
	return rowPlace(t.n.Type, row)
}

// Scan implements table.Table.
func (t *nodeTable) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	units := (t.count + chunkRows - 1) / chunkRows
	err := eachUnit(ctx, units, threads, func() func(worker, unit int) error {
		vs := t.vectors(columns)
		chunk := table.Chunk{Columns: make([]table.Vector, len(columns))}
		return func(worker, unit int) error {
			from, to := unit*chunkRows, min((unit+1)*chunkRows, t.count)
			for i := range vs {
				vs[i].reset()
			}
			chunk.First, chunk.Rows = t.below(from), 0
			for row := from; row < to; row++ {
				if t.to != nil && t.to[row] == gone {
					continue
				}
				chunk.Rows++
				for i := range vs {
					switch columns[i].Name {
					case idField:
						vs[i].c = t.n.IDs
						vs[i].add(row)
					case rowField:
						vs[i].addU64(uint64(row))
					default:
						vs[i].add(row)
					}
				}
			}
			if chunk.Rows == 0 {
				return nil
			}
			for i := range vs {
				chunk.Columns[i] = vs[i].vector()
				chunk.Columns[i].Data = aligned(chunk.Columns[i].Data)
			}
			return errors.Join(fn(worker, &chunk), t.t.touched(chunkBytes(&chunk)))
		}
	})
	if err != nil {
		return 0, err
	}
	return t.below(t.count), nil
}

// chunkBytes is the number of bytes of a chunk.
func chunkBytes(c *table.Chunk) int64 {
	n := int64(8 * c.Rows)
	for i := range c.Columns {
		n += int64(len(c.Columns[i].Data))
	}
	return n
}

// eachUnit calls the functions of up to threads workers for the units 0 .. n-1. make makes the function of a worker. The
// error of the first unit that fails is returned.
func eachUnit(ctx context.Context, n, threads int, make func() func(worker, unit int) error) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	var next atomic.Int64
	var mu sync.Mutex
	var first error
	at := n
	for w := range max(1, min(threads, n)) {
		group.Go(func() {
			do := make()
			for {
				unit := int(next.Add(1) - 1)
				if unit >= n || inner.Err() != nil {
					return
				}
				if err := guard.Do(func() error { return do(w, unit) }); err != nil {
					mu.Lock()
					if unit < at {
						first, at = err, unit
					}
					mu.Unlock()
					cancel()
					return
				}
			}
		})
	}
	group.Wait()
	if first == nil {
		return context.Cause(ctx)
	}
	return first
}
