package assemble

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// full reports how much disk space is free.
type full struct {
	vfs.FS
	free int64
}

func (f full) Free(string) (int64, error) { return f.free, nil }

// TestRoom checks that offsets which do not fit the disk are refused before they are written.
func TestRoom(t *testing.T) {
	end := table.Column{Name: "v", DType: graph.Uint64}
	in := Input{
		Nodes: []Nodes{{Type: "n", Count: 1 << 31}},
		Edges: []Edges{{Type: graph.EdgeType{Src: "n", Rel: "e", Dst: "n"}, Table: pairsTable("e.csv"), Src: end, Dst: table.Column{Name: "w", DType: graph.Uint64}}},
	}
	_, _, err := build(t, full{vfs.OS, 1 << 30}, t.TempDir(), in, Options{})
	if !errors.Is(err, vfs.ErrSpace) || !strings.Contains(err.Error(), "expected 8.00 GiB for the offsets of 2,147,483,648 nodes of the edge type n:e:n") {
		t.Fatalf("found error %v, expected too little room", err)
	}
}

// pairsTable is a table of one edge, from 0 to 1.
func pairsTable(name string) *memTable {
	m := &memTable{name: name}
	for i, column := range []string{"v", "w"} {
		m.add(table.Column{Name: column, DType: graph.Uint64}, []cell{id64(i)})
	}
	return m
}
