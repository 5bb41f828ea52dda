package ingest

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The TFRecord tables that TF-GNN's sampler read for its goldens are stores: lists
// of strings, which the first row lacks, and a node where an edge dangles.
func TestGoldenTables(t *testing.T) {
	for name, want := range map[string]struct {
		edges, added uint64
		tags         string
	}{
		"ragged":       {33, 0, "[0 1 2 3 0 1 2 3 0 1 2 3]"},
		"vectors_vecA": {22, 1, ""},
		"vectors_vecB": {33, 0, ""},
	} {
		s, err := Open(t.Context(), vfs.OS, golden.Dir(t, "tfgnn", "sampler", name), Options{})
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
