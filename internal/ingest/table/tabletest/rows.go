package tabletest

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// Rows scans a table and shows each row as text, in order: values are separated by '|', values of a vector by a
// space, and absent rows begin with '-'.
func Rows(t table.Table, columns []table.Column, threads int) ([]string, error) {
	var mu sync.Mutex
	var out []string
	n, err := t.Scan(context.Background(), columns, threads, func(_ int, c *table.Chunk) error {
		mu.Lock()
		defer mu.Unlock()
		for len(out) < int(c.First)+c.Rows {
			out = append(out, "missing")
		}
		at := make([]shower, len(columns))
		for r := range c.Rows {
			var cells []string
			for i, col := range columns {
				at[i].vector, at[i].column = c.Columns[i], col
				cells = append(cells, at[i].row(col.Shape, 0))
			}
			mark := ""
			if c.Absent != nil && c.Absent[r] {
				mark = "-"
			}
			out[int(c.First)+r] = mark + strings.Join(cells, "|")
		}
		return nil
	})
	if err == nil && int(n) != len(out) {
		return nil, fmt.Errorf("scan says %d rows, gave %d", n, len(out))
	}
	return out, err
}

// shower shows the rows of a vector one after the other. Lists of lists are in brackets, except the innermost.
type shower struct {
	vector table.Vector
	column table.Column
	at     int    // index of the next value
	next   [8]int // per variable dimension: index of the next length
}

func (s *shower) row(shape []int, k int) string {
	if len(shape) == 0 {
		s.at++
		return value(s.column.DType, s.vector, s.at-1)
	}
	n, inside := shape[0], k
	if n == -1 {
		n = int(s.vector.Lengths[k][s.next[k]])
		s.next[k]++
		inside++
	}
	var items []string
	for range n {
		items = append(items, s.row(shape[1:], inside))
	}
	if len(shape) == 1 {
		return strings.Join(items, " ")
	}
	return "[" + strings.Join(items, "][") + "]"
}

func value(d graph.DType, v table.Vector, i int) string {
	le := binary.LittleEndian
	b := v.Data
	if d == graph.String {
		start := uint32(0)
		if i > 0 {
			start = v.Ends[i-1]
		}
		return string(b[start:v.Ends[i]])
	}
	b = b[i*d.Size():]
	switch d {
	case graph.Bool, graph.Uint8:
		return fmt.Sprint(b[0])
	case graph.Int8:
		return fmt.Sprint(int8(b[0]))
	case graph.Int16:
		return fmt.Sprint(int16(le.Uint16(b)))
	case graph.Uint16:
		return fmt.Sprint(le.Uint16(b))
	case graph.Int32:
		return fmt.Sprint(int32(le.Uint32(b)))
	case graph.Uint32:
		return fmt.Sprint(le.Uint32(b))
	case graph.Int64:
		return fmt.Sprint(int64(le.Uint64(b)))
	case graph.Uint64:
		return fmt.Sprint(le.Uint64(b))
	case graph.Float32:
		return fmt.Sprint(math.Float32frombits(le.Uint32(b)))
	case graph.Float64:
		return fmt.Sprint(math.Float64frombits(le.Uint64(b)))
	default:
		return fmt.Sprintf("%#04x", le.Uint16(b))
	}
}

// Strings asks for columns of strings.
func Strings(names ...string) []table.Column {
	var cs []table.Column
	for _, n := range names {
		cs = append(cs, table.Column{Name: n, DType: graph.String})
	}
	return cs
}

// ScanOne reads one column.
func ScanOne(t testing.TB, tab table.Table, c table.Column, threads int) []any {
	t.Helper()
	rows := map[uint64][]any{}
	turn := make(chan struct{}, 1)
	total, err := tab.Scan(t.Context(), []table.Column{c}, threads, func(_ int, chunk *table.Chunk) error {
		turn <- struct{}{}
		defer func() { <-turn }()
		values, err := rowsOfChunk(chunk, c)
		rows[chunk.First] = values
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []any
	for uint64(len(out)) < total {
		out = append(out, rows[uint64(len(out))]...)
	}
	return out
}

// Column asks for a column.
func Column(name string, d graph.DType, shape ...int) table.Column {
	return table.Column{Name: name, DType: d, Shape: shape}
}
