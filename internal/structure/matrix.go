package structure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/vfs"
)

// form says which entries a matrix has for an edge.
type form uint8

const (
	outRows    form = iota // the destination, in the row of the source
	inRows                 // the source, in the row of the destination
	bothRows               // both of these
	simpleRows             // both of these, each once, and no loops
)

// matrix lists the edges of a square by row. The columns of a row ascend. Parallel edges are entries of their own, except in simpleRows.
type matrix struct {
	offsets []int64 // nodes + 1
	columns []uint32

	mapped  []byte       // the file of the columns; nil where they are in memory
	closing func() error // of the columns
	unread  atomic.Int64 // bytes that were swept since the last release of mapped
	room    int64        // bytes of mapped that rows of a block may hold
}

func (m *matrix) nodes() int            { return len(m.offsets) - 1 }
func (m *matrix) entries() int64        { return m.offsets[len(m.offsets)-1] }
func (m *matrix) row(v uint32) []uint32 { return m.columns[m.offsets[v]:m.offsets[v+1]] }
func (m *matrix) degree(v uint32) int64 { return m.offsets[v+1] - m.offsets[v] }

func (m *matrix) close() error {
	if m == nil || m.closing == nil {
		return nil
	}
	return m.closing()
}

// releaseEvery is the number of bytes of mapped rows that may be read before their memory is given back.
const releaseEvery = 4 << 20

// touched counts entries of a mapped matrix that were swept, one row after the other.
func (m *matrix) touched(entries int64) error {
	if m.mapped == nil || m.unread.Add(4*entries) < releaseEvery {
		return nil
	}
	m.unread.Store(0)
	return vfs.Release(m.mapped)
}

// pageBytes is what Linux maps around a byte that is read.
const pageBytes = 64 << 10

// blockEnd is the end of a block of rows from first on that room for mapped rows holds: at least one row.
func (m *matrix) blockEnd(first int) int {
	if m.mapped == nil {
		return m.nodes()
	}
	end := first + 1
	for end < m.nodes() && 4*(m.offsets[end+1]-m.offsets[first]) <= m.room {
		end++
	}
	return end
}

// matrixNeed is the memory of a matrix whose rows are in a file. Building it takes 8 bytes per node more, for which there is room because a
// structure allocates its vectors later.
func (q *square) matrixNeed() int64 { return 8*int64(q.nodes+1) + leastRows + releaseEvery }

// mostRows is the most bytes of rows in memory. A test lowers it, so that small graphs have rows in a file.
var mostRows int64 = math.MaxInt64

// rowBuilder builds a matrix.
type rowBuilder struct {
	*square
	form  form
	order []uint32 // the number of each node in the matrix; nil: its number in the square
	every int      // of equal entries of a row, one of so many is kept
	m     *matrix
	next  []int64 // by row: where its next entry goes
}

// newMatrix builds a matrix. Its rows are in memory where they take at most memory bytes, and otherwise in a temporary file, for which it takes
// a quarter of Options.Memory for a while, or memory. order, if not nil, gives nodes another number. The caller must close the matrix.
func (q *square) newMatrix(ctx context.Context, f form, order []uint32, memory int64) (*matrix, error) {
	m, err := q.buildMatrix(ctx, f, order, memory, 1)
	if err != nil || f != bothRows {
		return m, err
	}
	// A graph that lists each edge in both directions has each entry twice, and half the work without.
	every, err := m.divisor()
	if err == nil && every <= 1 {
		return m, nil
	}
	if err := errors.Join(err, m.close()); err != nil {
		return nil, err
	}
	return q.buildMatrix(ctx, f, order, memory, every)
}

// divisor is the greatest common divisor of the numbers of equal entries in rows.
func (m *matrix) divisor() (int, error) {
	all := 0
	for v := range m.nodes() {
		row := m.row(uint32(v))
		for i := 0; i < len(row); {
			n := equalAtStart(row[i:])
			for i += n; n > 0; {
				all, n = n, all%n
			}
			if all == 1 {
				return 1, nil
			}
		}
		if err := m.touched(int64(len(row))); err != nil {
			return 0, err
		}
	}
	return all, nil
}

// equalAtStart is the number of equal entries at the start of a row that has one.
func equalAtStart(row []uint32) int {
	n := 1
	for n < len(row) && row[n] == row[0] {
		n++
	}
	return n
}

func (q *square) buildMatrix(ctx context.Context, f form, order []uint32, memory int64, every int) (_ *matrix, err error) {
	b := &rowBuilder{square: q, form: f, order: order, every: every, m: &matrix{offsets: make([]int64, q.nodes+1)}, next: make([]int64, q.nodes)}
	counts := b.m.offsets[1:]
	if err := b.each(ctx, func(row, _ uint32) { counts[row]++ }); err != nil {
		return nil, err
	}
	total := int64(0)
	for v, n := range counts {
		total += n
		counts[v] = total
	}
	if 4*total <= min(memory, mostRows) {
		columns, free, err := direct.Array[uint32](int(total))
		if err != nil {
			return nil, err
		}
		b.m.columns, b.m.closing = columns, func() error { free(); return nil }
		n, err := b.fill(ctx, 0, q.nodes, columns)
		if err != nil {
			return nil, errors.Join(err, b.m.close())
		}
		b.m.columns = columns[:n:n]
		b.settle()
		return b.m, nil
	}
	b.m.room = max(min(memory, mostRows), releaseEvery)
	// Most of what a structure holds comes after its rows.
	if err := b.spillRows(ctx, min(max(memory, leastRows, q.options.Memory/4), mostRows)); err != nil {
		return nil, err
	}
	return b.m, nil
}

// each calls fn with each entry.
func (b *rowBuilder) each(ctx context.Context, fn func(row, column uint32)) error {
	return b.scanAll(ctx, func(src, dst []uint32) error {
		for i, u := range src {
			v := dst[i]
			if b.order != nil {
				u, v = b.order[u], b.order[v]
			}
			if b.form == simpleRows && u == v {
				continue
			}
			if b.form != inRows {
				fn(u, v)
			}
			if b.form != outRows {
				fn(v, u)
			}
		}
		return nil
	})
}

// fill puts the rows [from, to) into columns, which has room for all of their entries, and returns how many remain. It leaves the number of
// entries of each of these rows in next.
func (b *rowBuilder) fill(ctx context.Context, from, to int, columns []uint32) (int, error) {
	start := b.m.offsets[from]
	for v := from; v < to; v++ {
		b.next[v] = b.m.offsets[v] - start
	}
	err := b.each(ctx, func(row, column uint32) {
		if v := int(row); from <= v && v < to {
			columns[b.next[v]] = column
			b.next[v]++
		}
	})
	if err != nil {
		return 0, err
	}
	err = eachBlock(ctx, to-from, b.options.Threads, func(_, first, last int) error {
		for v := from + first; v < from+last; v++ {
			row := columns[b.m.offsets[v]-start : b.m.offsets[v+1]-start]
			slices.Sort(row)
			b.next[v] = int64(b.thin(row))
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	n := int64(0)
	for v := from; v < to; v++ {
		at := b.m.offsets[v] - start
		n += int64(copy(columns[n:], columns[at:at+b.next[v]]))
	}
	return int(n), nil
}

// thin keeps the entries of a sorted row that the matrix has, at its start, and returns their number.
func (b *rowBuilder) thin(row []uint32) int {
	if b.form != simpleRows && b.every == 1 {
		return len(row)
	}
	n := 0
	for i := 0; i < len(row); {
		same := equalAtStart(row[i:])
		kept := 1
		if b.form != simpleRows {
			kept = same / b.every
		}
		for range kept {
			row[n] = row[i]
			n++
		}
		i += same
	}
	return n
}

// settle makes offsets of the numbers of entries in next.
func (b *rowBuilder) settle() {
	total := int64(0)
	for v, n := range b.next {
		total += n
		b.m.offsets[v+1] = total
	}
}

// spillRows writes the rows to a temporary file, as many at a time as memory holds, and maps it. Each time it reads all edges.
func (b *rowBuilder) spillRows(ctx context.Context, memory int64) (err error) {
	file, err := b.options.FS.Temp(b.options.Temp)
	if err != nil {
		return err
	}
	// The map stays after the file is closed.
	defer func() { err = errors.Join(err, file.Close()) }()
	room := memory / 4
	var columns []uint32
	for from := 0; from < b.nodes; {
		to := from + 1
		for to < b.nodes && b.m.offsets[to+1]-b.m.offsets[from] <= room {
			to++
		}
		size := b.m.offsets[to] - b.m.offsets[from]
		if size > room {
			return b.tooLarge(size)
		}
		if columns == nil {
			columns = make([]uint32, room)
		}
		n, err := b.fill(ctx, from, to, columns[:size])
		if err != nil {
			return err
		}
		// Linux keeps what one call writes in pages as large as that, and a read of a map maps such a page whole.
		for piece := range slices.Chunk(graph.Bytes(columns[:n]), pageBytes) {
			if _, err := file.Write(piece); err != nil {
				return fmt.Errorf("temporary file in %s: %w", b.options.Temp, err)
			}
		}
		from = to
	}
	b.settle()
	if b.m.mapped, b.m.closing, err = file.Map(); err != nil {
		return err
	}
	b.m.columns = graph.View[uint32](b.m.mapped)
	return nil
}
