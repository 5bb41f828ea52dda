package assemble

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// cell is the value of a column in a row.
type cell struct {
	absent  bool
	lengths [][]uint32 // one list per variable dimension
	texts   []string   // for a string column
	data    []byte     // for a column of numbers
}

// memTable is a table in memory. Several workers deliver chunks of about chunk rows, in order or shuffled.
type memTable struct {
	name    string
	rows    int
	fields  []table.Column
	cells   map[string][]cell
	chunk   int
	shuffle uint64 // 0: in order
	failAt  int64  // number of the chunk that fails, from 1; 0: none
	scans   atomic.Int64
}

func (t *memTable) Fields() []table.Field {
	var fs []table.Field
	for _, c := range t.fields {
		fs = append(fs, table.Field{Name: c.Name, DType: c.DType, Shape: c.Shape})
	}
	return fs
}
func (t *memTable) Files() []string                   { return []string{t.name} }
func (t *memTable) Bytes() int64                      { return int64(t.rows) * 16 }
func (t *memTable) Where(row uint64, _ string) string { return fmt.Sprintf("%s:%d", t.name, row+2) }

func (t *memTable) add(c table.Column, cells []cell) {
	t.fields = append(t.fields, c)
	if t.cells == nil {
		t.cells = map[string][]cell{}
	}
	t.cells[c.Name] = cells
	t.rows = len(cells)
}

func (t *memTable) vector(c *table.Column, from, to int) (v table.Vector, absent []bool) {
	cells, ok := t.cells[c.Name]
	if !ok {
		panic("no column " + c.Name)
	}
	if isVariable(c) {
		v.Lengths = make([][]uint32, dimensions(c))
	}
	absent = make([]bool, to-from)
	for i, x := range cells[from:to] {
		if x.absent {
			absent[i] = true
			if c.DType == graph.String {
				v.Ends = append(v.Ends, uint32(len(v.Data)))
			} else {
				v.Data = append(v.Data, make([]byte, rowBytes(c))...)
			}
			continue
		}
		for k, l := range x.lengths {
			v.Lengths[k] = append(v.Lengths[k], l...)
		}
		texts := x.texts
		if c.DType == graph.String && texts == nil && len(x.data) == 8 {
			texts = []string{strconv.FormatUint(binary.LittleEndian.Uint64(x.data), 10)}
		}
		for _, s := range texts {
			v.Data = append(v.Data, s...)
			v.Ends = append(v.Ends, uint32(len(v.Data)))
		}
		if c.DType != graph.String {
			v.Data = append(v.Data, x.data...)
		}
	}
	return v, absent
}

func (t *memTable) Scan(ctx context.Context, columns []table.Column, threads int, fn func(int, *table.Chunk) error) (uint64, error) {
	t.scans.Add(1)
	chunk := max(t.chunk, 1)
	n := (t.rows + chunk - 1) / chunk
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if t.shuffle != 0 {
		r := rand.New(rand.NewPCG(t.shuffle, 1))
		r.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	var next atomic.Int64
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for w := range threads {
		wg.Go(func() {
			for {
				k := next.Add(1)
				if int(k) > n || ctx.Err() != nil {
					return
				}
				if k == t.failAt {
					cancel(fmt.Errorf("%s: failed", t.name))
					return
				}
				from := order[k-1] * chunk
				to := min(from+chunk, t.rows)
				c := &table.Chunk{First: uint64(from), Rows: to - from}
				for i := range columns {
					v, absent := t.vector(&columns[i], from, to)
					c.Columns = append(c.Columns, v)
					for j, a := range absent {
						if a && columns[i].Empty == table.EmptyAbsent {
							if c.Absent == nil {
								c.Absent = make([]bool, c.Rows)
							}
							c.Absent[j] = true
						}
					}
				}
				if err := fn(w, c); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return uint64(t.rows), nil
}
