//go:build interop

package ingest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// shared returns the folder of real data, which must exist.
func shared(t *testing.T, elem ...string) string {
	t.Helper()
	dir := os.Getenv("GRAPHMILL_SHARED")
	if dir == "" {
		t.Fatal("found no GRAPHMILL_SHARED, expected the folder of shared data")
	}
	return filepath.Join(append([]string{dir, "data"}, elem...)...)
}

// TF-GNN's own unigraphs are read with the right numbers of rows.
func TestTFGNNUnigraphs(t *testing.T) {
	for path, want := range map[string]map[string]uint64{
		"testdata/homogeneous/citrus.pbtxt":      {"fruits": 9, "fruits:tastelike:fruits": 5},
		"testdata/heterogeneous/graph.pbtxt":     {"customer": 24, "creditcard": 36, "transaction": 48, "customer:owns_card:creditcard": 24, "transaction:paid_with:creditcard": 48},
		"testdata/node_vs_edge/schema.pbtxt":     {"node_set_one": 1, "node_set_two": 2, "node_set_one:one_to_two:node_set_two": 2, "node_set_two:two_to_two:node_set_two": 1},
		"examples/creditcard/graph_schema.pbtxt": {"customer": 24, "creditcard": 36, "customer:owns_card:creditcard": 24},
	} {
		s, err := Open(t.Context(), vfs.OS, shared(t, "tfgnn", path), Options{})
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

// The schema of MAG names tables that do not exist; the error names them.
func TestMAG(t *testing.T) {
	_, err := Open(t.Context(), vfs.OS, shared(t, "tfgnn", "examples", "mag"), Options{})
	if !errors.Is(err, ErrSource) {
		t.Fatal(err)
	}
	t.Log(err)
}

// Cora as an edge list: the header's names, integer ids.
func TestCora(t *testing.T) {
	s, err := Open(t.Context(), vfs.OS, shared(t, "cora", "edges.csv.gz"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := s.Input.Edges[0]
	rows, err := e.Table.Scan(t.Context(), []table.Column{e.Src, e.Dst}, 2, func(int, *table.Chunk) error { return nil })
	if err != nil || rows != 5429 || e.Src.DType != graph.Uint64 {
		t.Fatal(rows, err)
	}
}

// The TFRecord tables that TF-GNN's sampler read for its goldens can be stored. They have lists of strings, which the
// first row lacks, and a dangling edge.
func TestTFGNNTables(t *testing.T) {
	for name, want := range map[string]struct {
		edges, added uint64
		tags         string
	}{
		"ragged":       {33, 0, "[0 1 2 3 0 1 2 3 0 1 2 3]"},
		"vectors_vecA": {22, 1, ""},
		"vectors_vecB": {33, 0, ""},
	} {
		s, err := Open(t.Context(), vfs.OS, shared(t, "golden", "tfgnn", "sampler", name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "s")
		w, err := store.Create(vfs.OS, out, false)
		if err != nil {
			t.Fatal(err)
		}
		r, err := assemble.Build(t.Context(), vfs.OS, w, s.Input, assemble.Options{Primary: s.Primary, DanglingEdges: assemble.Zeros, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep})
		if err != nil {
			t.Fatal(err)
		}
		if n, e := r.Nodes[0], r.Edges[0]; n.Rows != 12 || n.Added != want.added || e.Count != want.edges {
			t.Errorf("%s: found %+v, %+v, want %+v", name, n, e, want)
		}
		if err := errors.Join(w.Seal(t.Context(), r.Meta, 1), w.Publish()); err != nil {
			t.Fatal(err)
		}
		st, err := store.Open(vfs.OS, out)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := st.IDs(0)
		if err != nil {
			t.Fatal(err)
		}
		var lengths []uint64
		tags := graph.FindColumn(st.Graph.Nodes[0].Columns, "tags")
		for i := range 12 {
			v, ok := ids.Find(fmt.Appendf(nil, "n%d", i))
			if !ok {
				t.Fatalf("%s: node n%d is not found", name, i)
			}
			if tags != nil {
				lengths = append(lengths, tags.Offsets[0].At(int(v)+1)-tags.Offsets[0].At(int(v)))
			}
		}
		if tags != nil && fmt.Sprint(lengths) != want.tags {
			t.Errorf("%s: found %d tags, want %s", name, lengths, want.tags)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
