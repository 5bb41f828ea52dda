package views

import (
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// selection copies some rows of a chunk.
type selection struct {
	rows  []uint32 // of the chunk, ascending
	chunk table.Chunk
	cols  []selectedColumn
	none  []bool
}

type selectedColumn struct {
	data    buffer
	ends    []uint32
	lengths [][]uint32
	starts  [][]uint32 // sums of the lengths of the chunk, by dimension
	empty   []uint32
}

// choose sets chunk to the rows of a chunk.
func (s *selection) choose(columns []table.Column, c *table.Chunk) {
	if s.cols == nil {
		s.cols = make([]selectedColumn, len(columns))
		s.chunk.Columns = make([]table.Vector, len(columns))
	}
	s.chunk.File, s.chunk.Rows, s.chunk.Absent, s.chunk.Ragged = c.File, len(s.rows), nil, nil
	s.chunk.Bytes = c.Bytes * int64(len(s.rows)) / int64(max(c.Rows, 1))
	if c.Absent != nil {
		s.none = s.none[:0]
		for _, r := range s.rows {
			s.none = append(s.none, c.Absent[r])
		}
		s.chunk.Absent = s.none
	}
	for i := range columns {
		s.chunk.Columns[i] = s.cols[i].choose(&columns[i], &c.Columns[i], c.Rows, s.rows)
	}
}

// choose is the values of some of the rows of a vector.
func (s *selectedColumn) choose(c *table.Column, v *table.Vector, all int, rows []uint32) table.Vector {
	s.sum(c, v, all)
	s.ends = s.ends[:0]
	for k := range s.lengths {
		s.lengths[k] = s.lengths[k][:0]
	}
	size := c.DType.Size()
	if c.DType == graph.String {
		size = 1
	}
	data := s.data.take(len(v.Data))
	n := 0
	for _, r := range rows {
		from, to := s.span(c, v, r)
		if c.DType == graph.String {
			from, to = s.texts(v, from, to, n)
		}
		n += copy(data[n:], v.Data[int(from)*size:int(to)*size])
	}
	out := table.Vector{Data: data[:n:n], Ends: s.ends}
	if c.DType != graph.String {
		out.Ends = nil
	}
	if v.Lengths != nil {
		out.Lengths = s.lengths
	}
	if v.Empty != nil {
		out.Empty = s.empties(v.Empty, rows)
	}
	return out
}

// sum makes the sums of the lengths of each variable dimension.
func (s *selectedColumn) sum(c *table.Column, v *table.Vector, all int) {
	k := 0
	for _, d := range c.Shape {
		if d >= 0 || v.Lengths == nil {
			continue
		}
		if k == len(s.starts) {
			s.starts, s.lengths = append(s.starts, nil), append(s.lengths, nil)
		}
		sums, n := s.starts[k][:0], uint32(0)
		for _, length := range v.Lengths[k] {
			sums = append(sums, n)
			n += length
		}
		s.starts[k] = append(sums, n)
		k++
	}
}

// span is the values of a row, whose lengths it notes.
func (s *selectedColumn) span(c *table.Column, v *table.Vector, row uint32) (from, to uint32) {
	from, to = row, row+1
	k := 0
	for _, d := range c.Shape {
		if d >= 0 {
			from, to = from*uint32(d), to*uint32(d)
			continue
		}
		s.lengths[k] = append(s.lengths[k], v.Lengths[k][from:to]...)
		from, to = s.starts[k][from], s.starts[k][to]
		k++
	}
	return from, to
}

// texts notes the ends of texts that are copied to an offset, and returns the bytes of them all.
func (s *selectedColumn) texts(v *table.Vector, from, to uint32, at int) (first, last uint32) {
	if from > 0 {
		first = v.Ends[from-1]
	}
	last = first
	for _, end := range v.Ends[from:to] {
		s.ends = append(s.ends, uint32(at)+end-first)
		last = end
	}
	return first, last
}

// empties are the numbers of the chosen rows among those that are empty.
func (s *selectedColumn) empties(empty, rows []uint32) []uint32 {
	s.empty = s.empty[:0]
	k := 0
	for i, r := range rows {
		for k < len(empty) && empty[k] < r {
			k++
		}
		if k < len(empty) && empty[k] == r {
			s.empty = append(s.empty, uint32(i))
		}
	}
	return s.empty
}
