package sampletest

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// memoryTable is a table in memory: the bytes of each of its fields.
type memoryTable struct {
	rows   int
	fields []table.Field
	data   [][]byte
}

// edgeTable is a table of edges.
func edgeTable(src, dst []uint64, w []float32, t []int64) *memoryTable {
	return &memoryTable{len(src), []table.Field{{Name: "src", DType: graph.Uint64}, {Name: "dst", DType: graph.Uint64}, {Name: "w", DType: graph.Float32}, {Name: "t", DType: graph.Int64}},
		[][]byte{graph.Bytes(src), graph.Bytes(dst), graph.Bytes(w), graph.Bytes(t)}}
}

func (m *memoryTable) Fields() []table.Field             { return m.fields }
func (m *memoryTable) Files() []string                   { return nil }
func (m *memoryTable) Where(row uint64, _ string) string { return fmt.Sprint("row ", row) }

func (m *memoryTable) Bytes() (sum int64) {
	for _, d := range m.data {
		sum += int64(len(d))
	}
	return sum
}

func (m *memoryTable) Scan(_ context.Context, columns []table.Column, _ int, fn func(int, *table.Chunk) error) (uint64, error) {
	c := table.Chunk{Rows: m.rows, Bytes: m.Bytes()}
	for _, col := range columns {
		c.Columns = append(c.Columns, table.Vector{Data: m.data[slices.IndexFunc(m.fields, func(f table.Field) bool { return f.Name == col.Name })]})
	}
	return uint64(m.rows), fn(0, &c)
}
