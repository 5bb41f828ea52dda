package views

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Numbers finds the numbers of the ids in a column.
type Numbers struct {
	// Column is the column of ids: Uint64 or String. An empty name stands for the numbers of the rows.
	Column table.Column
	// As is the name of the column of numbers, which is asked for as Uint64 and which t does not have.
	As string
	// Find returns the number of an id: of a string, or of the eight little-endian bytes of an integer. It is called by several goroutines. Nil: the integers below Below are the numbers.
	Find  func(id []byte) (number uint64, ok bool)
	Below uint64
	// FindAll, if it is not nil, does what Find does for all ids of a chunk, and gives those that it does not find the number ^0.
	FindAll func(id func(i int) []byte, numbers []uint64)
	// Of says what has the ids: "the nodes of type paper". Unknown is the number of an id that Find does not find; nil: such an id is an error of the scan.
	Of      string
	Unknown *uint64
}

// numberedTable is a table with columns of numbers in place of ids.
type numberedTable struct {
	table.Table
	columns []Numbers
}

// Numbered makes a table with more columns: the numbers of the ids in columns of t.
func Numbered(t table.Table, columns ...Numbers) table.Table { return &numberedTable{t, columns} }

// Scan implements Table. Each worker holds the numbers of a chunk once more.
func (t *numberedTable) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	asked := make([]table.Column, 0, len(columns))
	from := make([]*Numbers, len(columns)) // of the columns asked for
	at := make([]int, len(columns))        // their places in what t is asked for
	for i, c := range columns {
		k := slices.IndexFunc(t.columns, func(n Numbers) bool { return n.As == c.Name })
		at[i] = len(asked)
		if k < 0 {
			asked = append(asked, c)
			continue
		}
		if c.DType != graph.Uint64 || len(c.Shape) > 0 {
			return 0, tagged.Errorf(table.ErrFormat, "%s: found a request for the numbers %q as %s, expected uint64; ask for it so", t.Files()[0], c.Name, c.DType)
		}
		from[i] = &t.columns[k]
		if from[i].Column.Name != "" {
			asked = append(asked, from[i].Column)
		}
	}
	chunks := make([]table.Chunk, max(threads, 1))
	numbers := make([]buffer, len(chunks)*len(columns))
	return t.Table.Scan(ctx, asked, threads, func(worker int, c *table.Chunk) error {
		out := &chunks[worker]
		vectors := out.Columns[:0]
		*out = *c
		for i, n := range from {
			if n == nil {
				vectors = append(vectors, c.Columns[at[i]])
				continue
			}
			var ids *table.Vector
			if n.Column.Name != "" {
				ids = &c.Columns[at[i]]
			}
			if n.Find == nil && ids != nil && c.Absent == nil && allBelow(graph.View[uint64](ids.Data)[:c.Rows], n.Below) {
				vectors = append(vectors, *ids)
				continue
			}
			data := numbers[worker*len(columns)+i].take(8 * c.Rows)
			if err := t.number(n, c, ids, graph.View[uint64](data)); err != nil {
				return err
			}
			vectors = append(vectors, table.Vector{Data: data})
		}
		out.Columns = vectors
		return fn(worker, out)
	})
}

// allBelow says whether all integers are below a number.
func allBelow(ids []uint64, below uint64) bool {
	most := uint64(0)
	for _, v := range ids {
		most = max(most, v)
	}
	return len(ids) == 0 || most < below
}

// number finds the numbers of the ids of a chunk; nil: of its rows.
func (t *numberedTable) number(n *Numbers, c *table.Chunk, ids *table.Vector, out []uint64) error {
	find := n.Find
	if find == nil {
		find = func(id []byte) (uint64, bool) {
			v := binary.LittleEndian.Uint64(id)
			return v, v < n.Below
		}
	}
	if n.FindAll != nil && ids != nil {
		n.FindAll(func(i int) []byte { return ids.ID(i, n.Column.DType) }, out)
		find = nil
	}
	var integer [8]byte
	for i := range out {
		var id []byte
		if ids == nil {
			binary.LittleEndian.PutUint64(integer[:], c.First+uint64(i))
			id = integer[:]
		} else {
			id = ids.ID(i, n.Column.DType)
		}
		if c.Absent != nil && c.Absent[i] {
			out[i] = 0
			continue
		}
		v, ok := out[i], out[i] != ^uint64(0)
		if find != nil {
			v, ok = find(id)
		}
		switch {
		case ok:
		case n.Unknown != nil:
			v = *n.Unknown
		default:
			text := fmt.Sprintf("%q", id)
			if ids == nil || n.Column.DType != graph.String {
				text = fmt.Sprint(binary.LittleEndian.Uint64(id))
			}
			return tagged.Errorf(table.ErrFormat, "%s: found the id %s, which none of %s has, expected a node of the store or of the tables; add it to the table of its type, or correct it", t.Where(c.First+uint64(i), n.Column.Name), text, n.Of)
		}
		out[i] = v
	}
	return nil
}

// Where implements Table.
func (t *numberedTable) Where(row uint64, column string) string {
	for i := range t.columns {
		if t.columns[i].As == column {
			column = t.columns[i].Column.Name
		}
	}
	return t.Table.Where(row, column)
}
