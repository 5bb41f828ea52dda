package assemble

import (
	"context"
	"fmt"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestStoreOpens opens a finished store with the reader. It finds the ids, and the neighbours and columns are those
// of the tables.
func TestStoreOpens(t *testing.T) {
	in, opt := faultInput()
	out := t.TempDir() + "/store"
	w, err := store.Create(vfs.OS, out, false)
	if err != nil {
		t.Fatal(err)
	}
	res, err := Build(context.Background(), vfs.OS, w, in, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Seal(context.Background(), res.Meta, 2); err != nil {
		t.Fatal(err)
	}
	if err := w.Publish(); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	find := map[string]*store.IDs{}
	for i, n := range s.Graph.Nodes {
		if find[n.Type], err = s.IDs(i); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 50 {
		if v, ok := find["a"].Find(fmt.Appendf(nil, "node/%d", i)); !ok || v != uint64(i) {
			t.Fatalf("node/%d is %d, %v", i, v, ok)
		}
	}
	if _, ok := find["a"].Find([]byte("node/50")); ok {
		t.Fatal("found a node that is not there")
	}
	asked := func(i int) []byte { return fmt.Appendf(nil, "node/%d", (7*i)%300) }
	numbers := make([]uint64, 300)
	find["a"].FindAll(asked, numbers)
	for i, v := range numbers {
		if want, ok := find["a"].Find(asked(i)); ok && v != want || !ok && v != store.NoNode {
			t.Fatalf("%s is %d, want %d, %t", asked(i), v, want, ok)
		}
	}
	names := graph.FindColumn(s.Graph.Nodes[0].Columns, "name")
	if string(names.Text(7)) != "name 7" {
		t.Fatalf("name %q", names.Text(7))
	}
	e := s.Graph.Edges[0]
	adj, pos, text := e.Adj[graph.In], graph.FindColumn(e.Columns, graph.PositionColumn), graph.FindColumn(e.Columns, "text")
	rows := in.Edges[0].Table.(*memTable)
	b := s.Graph.Nodes[1]
	for v := range b.Count {
		for i := adj.Indptr.At(v); i < adj.Indptr.At(v+1); i++ {
			row := graph.View[uint32](pos.Values)[i]
			src, dst := rows.cells["src"][row].texts[0], rows.cells["dst"][row].texts[0]
			if got := fmt.Sprint("node/", adj.Far.At(int(i))); got != src || string(b.IDs.Text(v)) != dst {
				t.Fatalf("edge %d: %s -> %s, want %s -> %s", i, got, b.IDs.Text(v), src, dst)
			}
			if string(text.Text(int(i))) != rows.cells["text"][row].texts[0] {
				t.Fatalf("edge %d: text differs", i)
			}
		}
	}
	other := e.Adj[graph.Out]
	for v := range s.Graph.Nodes[0].Count {
		for i := other.Indptr.At(v); i < other.Indptr.At(v+1); i++ {
			if id := other.EdgeID.At(int(i)); adj.Far.At(int(id)) != uint64(v) {
				t.Fatalf("edge id %d of node %d has source %d", id, v, adj.Far.At(int(id)))
			}
		}
	}
}
