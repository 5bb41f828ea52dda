package views

import (
	"context"
	"slices"
	"sync"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/tagged"
)

// inStep is a table of several tables side by side.
type inStep struct{ tables []table.Table }

// InStep joins tables side by side: row i has the columns of row i of all tables, which must have different names and
// equal numbers of rows. One goroutine reads each table, in order, and one goroutine calls the fn of a scan. arrayfiles.Beside is faster if the rows of one table can be read in any
// order.
func InStep(tables ...table.Table) table.Table { return &inStep{tables} }

// Fields implements Table.
func (t *inStep) Fields() []table.Field {
	var fields []table.Field
	for _, x := range t.tables {
		fields = append(fields, x.Fields()...)
	}
	return fields
}

// Files implements Table.
func (t *inStep) Files() []string {
	var files []string
	for _, x := range t.tables {
		files = append(files, x.Files()...)
	}
	return files
}

// Bytes implements Table.
func (t *inStep) Bytes() int64 {
	n := int64(0)
	for _, x := range t.tables {
		n += x.Bytes()
	}
	return n
}

// of returns the index of the table that has a column.
func (t *inStep) of(column string) int {
	return slices.IndexFunc(t.tables, func(x table.Table) bool {
		return slices.ContainsFunc(x.Fields(), func(f table.Field) bool { return f.Name == column })
	})
}

// Where implements Table.
func (t *inStep) Where(row uint64, column string) string {
	return t.tables[max(t.of(column), 0)].Where(row, column)
}

// side is a table that is being read.
type side struct {
	chunks chan *table.Chunk
	done   chan struct{} // signals that the chunk may be overwritten; has capacity 1
	err    error         // once chunks is closed
	chunk  *table.Chunk  // the current chunk; nil: none
	used   int           // number of its rows that were used
}

// Scan implements Table. Its memory is a chunk of each table and of the result.
func (t *inStep) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *inStep) plain(ctx context.Context, columns []table.Column, _ int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	asked := make([][]table.Column, len(t.tables))
	from, place := make([]int, len(columns)), make([]int, len(columns))
	for i, c := range columns {
		if from[i] = t.of(c.Name); from[i] < 0 {
			return 0, tagged.Errorf(table.ErrFormat, "%s: found a request for %q, expected a column of the tables", t.Files()[0], c.Name)
		}
		place[i] = len(asked[from[i]])
		asked[from[i]] = append(asked[from[i]], c)
	}
	inner, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	sides := make([]*side, len(t.tables))
	for i, x := range t.tables {
		s := &side{chunks: make(chan *table.Chunk), done: make(chan struct{}, 1)}
		sides[i] = s
		group.Go(func() {
			defer close(s.chunks)
			s.err = guard.Do(func() error {
				_, err := x.Scan(inner, asked[i], 1, func(_ int, c *table.Chunk) error {
					select {
					case s.chunks <- c:
					case <-inner.Done():
						return context.Cause(inner)
					}
					select {
					case <-s.done:
						return nil
					case <-inner.Done():
						return context.Cause(inner)
					}
				})
				return err
			})
		})
	}
	out := table.Chunk{Columns: make([]table.Vector, len(columns))}
	parts := make([]slice, len(columns))
	for {
		ended, err := t.step(sides, &out)
		if err != nil || ended {
			return out.First, err
		}
		for i, c := range columns {
			s := sides[from[i]]
			out.Columns[i] = parts[i].of(&s.chunk.Columns[place[i]], &c, s.used, out.Rows, s.chunk.Rows)
		}
		if err := fn(0, &out); err != nil {
			return 0, err
		}
		for _, s := range sides {
			if s.used += out.Rows; s.used == s.chunk.Rows {
				s.chunk = nil
				s.done <- struct{}{}
			}
		}
		out.First += uint64(out.Rows)
	}
}

// step makes sure that each side has rows, and takes as many rows as all of them have.
func (t *inStep) step(sides []*side, out *table.Chunk) (ended bool, err error) {
	out.Rows, out.Bytes = 0, 0
	ends := 0
	for i, s := range sides {
		for s.chunk == nil {
			c, ok := <-s.chunks
			if !ok {
				if s.err != nil {
					return false, s.err
				}
				ends++
				break
			}
			if out.Bytes += c.Bytes; c.Rows == 0 {
				s.done <- struct{}{}
				continue
			}
			s.chunk, s.used = c, 0
		}
		if s.chunk == nil {
			continue
		}
		if left := s.chunk.Rows - s.used; i == ends || left < out.Rows {
			out.Rows = left
		}
	}
	if ends == 0 || ends == len(sides) {
		return ends > 0, nil
	}
	short := slices.IndexFunc(sides, func(s *side) bool { return s.chunk == nil })
	long := slices.IndexFunc(sides, func(s *side) bool { return s.chunk != nil })
	return false, tagged.Errorf(table.ErrFormat, "%s: found %d rows, expected more, as in %s", t.tables[short].Files()[0], out.First, t.tables[long].Files()[0])
}

// slice returns rows of a vector as a vector. Those of a chunk are taken one after the other, from its first row on.
type slice struct {
	data    buffer
	ends    []uint32
	empty   []uint32
	lengths [][]uint32
	from    []int // per variable dimension: the lengths that were taken
	value   int   // the values that were taken
}

func (s *slice) of(v *table.Vector, c *table.Column, first, rows, of int) table.Vector {
	if rows == of {
		return *v
	}
	if first == 0 {
		s.from, s.value = make([]int, len(v.Lengths)), 0
	}
	values := s.count(v, c, rows)
	from, to := s.value, s.value+values
	s.value = to
	out := table.Vector{Lengths: s.lengths}
	if c.DType == graph.String {
		out.Ends = s.cut(v.Ends, from, to)
		from, to = endOf(v.Ends, from), endOf(v.Ends, to)
	} else {
		from, to = from*c.DType.Size(), to*c.DType.Size()
	}
	out.Data = s.data.take(to - from)
	copy(out.Data, v.Data[from:to])
	s.empty = s.empty[:0]
	for _, row := range v.Empty {
		if int(row) >= first && int(row) < first+rows {
			s.empty = append(s.empty, row-uint32(first))
		}
	}
	out.Empty = s.empty
	return out
}

// count is the number of values of the next rows, whose lengths it takes.
func (s *slice) count(v *table.Vector, c *table.Column, rows int) int {
	if s.lengths = nil; len(v.Lengths) > 0 {
		s.lengths = make([][]uint32, len(v.Lengths))
	}
	k := 0
	for _, d := range c.Shape {
		if d > 0 {
			rows *= d
			continue
		}
		s.lengths[k] = v.Lengths[k][s.from[k] : s.from[k]+rows]
		s.from[k] += rows
		rows = 0
		for _, n := range s.lengths[k] {
			rows += int(n)
		}
		k++
	}
	return rows
}

// endOf is the end of the first n strings.
func endOf(ends []uint32, n int) int {
	if n == 0 {
		return 0
	}
	return int(ends[n-1])
}

// cut returns the ends of strings [from, to), counted from the first byte of the first of them.
func (s *slice) cut(ends []uint32, from, to int) []uint32 {
	s.ends = s.ends[:0]
	for _, end := range ends[from:to] {
		s.ends = append(s.ends, end-uint32(endOf(ends, from)))
	}
	return s.ends
}
