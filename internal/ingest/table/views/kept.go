package views

import (
	"context"
	"sort"
	"sync"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Marks are the kinds of the rows of a table: a number for each row, from 0. They take two bytes per row, and a little for the counts.
type Marks struct {
	kinds []uint16
	// counts has, for each kind, the number of its rows before each block of markBlock rows.
	counts [][]uint64
}

// markBlock is the number of rows between two counts.
const markBlock = 4096

// NewMarks counts the kinds of rows, of which there are n. It keeps kinds.
func NewMarks(kinds []uint16, n int) *Marks {
	m := &Marks{kinds: kinds, counts: make([][]uint64, n)}
	blocks := len(kinds)/markBlock + 1
	for k := range m.counts {
		m.counts[k] = make([]uint64, 0, blocks)
	}
	seen := make([]uint64, n)
	for b := range blocks {
		for k := range seen {
			m.counts[k] = append(m.counts[k], seen[k])
		}
		for _, k := range kinds[b*markBlock : min((b+1)*markBlock, len(kinds))] {
			seen[k]++
		}
	}
	return m
}

// Bytes is the memory of the marks.
func (m *Marks) Bytes() int64 {
	return 2*int64(len(m.kinds)) + 8*int64(len(m.counts))*int64(len(m.kinds)/markBlock+1)
}

// before is the number of rows of a kind before a row.
func (m *Marks) before(kind int, row uint64) uint64 {
	block := row / markBlock
	n := m.counts[kind][block]
	for _, k := range m.kinds[block*markBlock : row] {
		if int(k) == kind {
			n++
		}
	}
	return n
}

// row is the row of the nth row of a kind, from 0.
func (m *Marks) row(kind int, n uint64) uint64 {
	counts := m.counts[kind]
	block := sort.Search(len(counts), func(i int) bool { return counts[i] > n }) - 1
	left := n - counts[block]
	for row := uint64(block) * markBlock; row < uint64(len(m.kinds)); row++ {
		if int(m.kinds[row]) == kind {
			if left == 0 {
				return row
			}
			left--
		}
	}
	return uint64(len(m.kinds))
}

// kept is the rows of one kind of a table.
type kept struct {
	table.Table
	marks *Marks
	kind  int
}

// Kept makes a table of the rows of a kind, which have the numbers 0, 1 and so on. A table that has other rows than when it was marked is an
// error of the scan. Scans copy the values.
func Kept(t table.Table, marks *Marks, kind int) table.Table { return &kept{t, marks, kind} }

// Guess describes the fields of all rows.
func (t *kept) Guess() ([]table.Guess, error) {
	if g, ok := t.Table.(interface{ Guess() ([]table.Guess, error) }); ok {
		return g.Guess()
	}
	return make([]table.Guess, len(t.Fields())), nil
}

// Where implements Table.
func (t *kept) Where(row uint64, column string) string {
	return t.Table.Where(t.marks.row(t.kind, row), column)
}

// Scan implements Table. Empty cells of other rows are no errors.
func (t *kept) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *kept) plain(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	workers := make([]selection, max(threads, 1))
	columns, lenient := Lenient(columns)
	rows, err := t.Table.Scan(ctx, columns, threads, func(id int, c *table.Chunk) error {
		end := c.First + uint64(c.Rows)
		if end > uint64(len(t.marks.kinds)) {
			return t.differ()
		}
		w := &workers[id]
		w.rows = w.rows[:0]
		for i, k := range t.marks.kinds[c.First:end] {
			if int(k) == t.kind {
				w.rows = append(w.rows, uint32(i))
			}
		}
		if len(w.rows) == 0 {
			return nil
		}
		w.choose(columns, c)
		w.chunk.First = t.marks.before(t.kind, c.First)
		for _, i := range lenient {
			if empty := w.chunk.Columns[i].Empty; len(empty) > 0 {
				return NoValue(t, w.chunk.First+uint64(empty[0]), &columns[i])
			}
		}
		return fn(id, &w.chunk)
	})
	if err != nil {
		return 0, err
	}
	if rows != uint64(len(t.marks.kinds)) {
		return 0, t.differ()
	}
	return t.marks.before(t.kind, rows), nil
}

func (t *kept) differ() error {
	return tagged.Errorf(table.ErrFormat, "%s: found another number of rows than before; is the file being written?", t.Files()[0])
}

// Kind is the kind of a row.
func (m *Marks) Kind(row uint64) int {
	if row >= uint64(len(m.kinds)) {
		return 0 // the table has grown, which a scan of Kept finds
	}
	return int(m.kinds[row])
}

// Mark finds the kind of each row of a table.
func Mark(ctx context.Context, t table.Table, columns []table.Column, threads int, kind func(c *table.Chunk, row int) (uint16, error)) ([]uint16, error) {
	var mu sync.Mutex
	var marks []uint16
	_, err := t.Scan(ctx, columns, threads, func(_ int, c *table.Chunk) error {
		kinds := make([]uint16, c.Rows)
		for i := range kinds {
			var err error
			if kinds[i], err = kind(c, i); err != nil {
				return err
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if end := int(c.First) + c.Rows; end > len(marks) {
			marks = append(marks, make([]uint16, end-len(marks))...)
		}
		copy(marks[c.First:], kinds)
		return nil
	})
	return marks, err
}
