//go:build interopdata

package ingest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TF-GNN's own unigraphs are read, with the numbers of rows that they have.
func TestDataTFGNNUnigraphs(t *testing.T) {
	for path, want := range map[string]map[string]uint64{
		"testdata/homogeneous/citrus.pbtxt":      {"fruits": 9, "fruits:tastelike:fruits": 5},
		"testdata/heterogeneous/graph.pbtxt":     {"customer": 24, "creditcard": 36, "transaction": 48, "customer:owns_card:creditcard": 24, "transaction:paid_with:creditcard": 48},
		"testdata/node_vs_edge/schema.pbtxt":     {"node_set_one": 1, "node_set_two": 2, "node_set_one:one_to_two:node_set_two": 2, "node_set_two:two_to_two:node_set_two": 1},
		"examples/creditcard/graph_schema.pbtxt": {"customer": 24, "creditcard": 36, "customer:owns_card:creditcard": 24},
	} {
		s, err := Open(t.Context(), vfs.OS, golden.Data(t, "tfgnn", path), Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		got := map[string]uint64{}
		count := func(name string, tb table.Table, cols ...table.Column) {
			n, err := tb.Scan(t.Context(), cols, 2, func(int, *table.Chunk) error { return nil })
			if err != nil {
				t.Error(err)
			}
			got[name] = n
		}
		for _, n := range s.Input.Nodes {
			count(n.Type, n.Table, append(n.Columns, n.ID)...)
		}
		for _, e := range s.Input.Edges {
			count(e.Type.String(), e.Table, append(e.Columns, e.Src, e.Dst)...)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", path, d)
		}
	}
}

// The schema of MAG names tables that are not there; it says which.
func TestDataMAG(t *testing.T) {
	_, err := Open(t.Context(), vfs.OS, golden.Data(t, "tfgnn", "examples", "mag"), Options{})
	if !errors.Is(err, ErrSource) {
		t.Fatal(err)
	}
	t.Log(err)
}

// Cora as an edge list: the header's names, integer ids.
func TestDataCora(t *testing.T) {
	s, err := Open(t.Context(), vfs.OS, golden.Data(t, "cora", "edges.csv.gz"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := s.Input.Edges[0]
	rows, err := e.Table.Scan(t.Context(), []table.Column{e.Src, e.Dst}, 2, func(int, *table.Chunk) error { return nil })
	if err != nil || rows != 5429 || e.Src.DType != graph.Uint64 {
		t.Fatal(rows, err)
	}
}

// Graphs of other types in one file are no collection; the error says so.
func TestDataManyGraphs(t *testing.T) {
	_, err := Open(t.Context(), vfs.OS, golden.Data(t, "dgl", "hetero1.bin"), Options{})
	if err == nil || !strings.Contains(err.Error(), "in graph 1, expected 1 and 2, as in graph 0") {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), vfs.OS, golden.Data(t, "dgl", "graph_0.9a220622.dgl"), Options{}); err != nil {
		t.Fatal(err)
	}
}
