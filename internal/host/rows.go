package host

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
)

// What rows are of.
const (
	ofNodes = 0
	ofEdges = 1
)

// IsServed says whether hosts give the rows of a column: numbers of a fixed shape.
func IsServed(c *graph.Column) bool { return c.DType != graph.String && !c.Ragged() }

// rowColumns are the columns whose rows a loader asks for, by type.
type rowColumns [2][][]*graph.Column

// newRowColumns finds the columns that a Hello names.
func newRowColumns(g *graph.Graph, hello *Hello) (*rowColumns, error) {
	x := &rowColumns{make([][]*graph.Column, len(g.Nodes)), make([][]*graph.Column, len(g.Edges))}
	for i, n := range g.Nodes {
		var err error
		if x[ofNodes][i], err = columnsNamed(n.Type, n.Columns, hello.Nodes[n.Type]); err != nil {
			return nil, err
		}
	}
	for i, e := range g.Edges {
		var err error
		if x[ofEdges][i], err = columnsNamed(e.Type.String(), e.Columns, hello.Edges[e.Type.String()]); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// columnsNamed finds columns of a type by name.
func columnsNamed(typ string, columns []*graph.Column, names []string) (found []*graph.Column, err error) {
	for _, name := range names {
		c := graph.FindColumn(columns, name)
		if c == nil || !IsServed(c) {
			return nil, fmt.Errorf("column %q of %s: expected a column of the store with numbers of a fixed shape: %w", name, typ, errProtocol)
		}
		found = append(found, c)
	}
	return found, nil
}

// rows answers the sections of a question for rows, of which the host has a share. The head of a section is u32 ofNodes or ofEdges, u32 number of the type, u32 n, u32 bytes of an
// id, and n ids follow. The answer has, for each column of the type in the order of the Hello, n rows.
func (x *rowColumns) rows(of *share, question, answer []byte) ([]byte, error) {
	in := reader{b: question}
	for len(in.b) > 0 && !in.failed {
		kind, typ, n, width := in.u32(), in.u32(), in.u32(), in.u32()
		ids := in.take(uint64(n) * uint64(width))
		if in.failed || kind > ofEdges || int(typ) >= len(x[kind]) || width != 4 && width != 8 {
			return answer, fmt.Errorf("found a section of rows that is not whole, or of no type of the store: %w", errProtocol)
		}
		own := of.nodes
		if kind == ofEdges {
			own = of.edges
		}
		if err := checkOwned(ids, int(width), own[typ]); err != nil {
			return answer, err
		}
		size := len(answer)
		for _, c := range x[kind][typ] {
			size += int(n) * c.RowBytes()
		}
		if size > mostAnswer {
			return answer, fmt.Errorf("found rows of %d bytes, expected at most %d; ask for fewer rows at a time: %w", size, mostAnswer, errProtocol)
		}
		answer = slices.Grow(answer, size-len(answer))
		for _, c := range x[kind][typ] {
			answer = appendRows(answer, c, ids, int(width))
		}
	}
	return answer, nil
}

// checkOwned refuses ids outside a range.
func checkOwned(ids []byte, width int, own [2]uint64) error {
	for at := 0; at < len(ids); at += width {
		id := uint64(binary.LittleEndian.Uint32(ids[at:]))
		if width == 8 {
			id = binary.LittleEndian.Uint64(ids[at:])
		}
		if id < own[0] || id >= own[1] {
			return fmt.Errorf("found the row %d, expected one of %d to %d, which this host has: %w", id, own[0], own[1], errProtocol)
		}
	}
	return nil
}

// rowsAtOnce is the number of ids that are turned into numbers at a time.
const rowsAtOnce = 1 << 10

// appendRows appends the rows of a column with ids of the given width, for which answer has room.
func appendRows(answer []byte, c *graph.Column, ids []byte, width int) []byte {
	var rows [rowsAtOnce]uint64
	row := c.RowBytes()
	for len(ids) > 0 {
		n := min(rowsAtOnce, len(ids)/width)
		for i := range n {
			if width == 8 {
				rows[i] = binary.LittleEndian.Uint64(ids[8*i:])
			} else {
				rows[i] = uint64(binary.LittleEndian.Uint32(ids[4*i:]))
			}
		}
		ids = ids[n*width:]
		end := len(answer) + n*row
		answer = answer[:end]
		batch.Gather(answer[end-n*row:], c.Values, row, rows[:n])
	}
	return answer
}
