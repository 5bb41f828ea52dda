package outofcore

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// A check opens files and measures the disk, so a fifth of the usual number of checks takes long enough.
	// -rapid.checks sets another number.
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if err := flag.Set("rapid.checks", "20"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		for _, dir := range made {
			if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
				panic(err)
			}
		}
		os.Exit(code)
	}))
}

// made is the folders of the stores that tests share, by name.
var made = map[string]string{}

// edgeTable is a table of edges in memory: src, dst, w (float32), t (int64).
type edgeTable struct{ src, dst, w, t []byte }

func (e *edgeTable) rows() int { return len(e.src) / 8 }

func (e *edgeTable) Fields() []table.Field {
	return []table.Field{{Name: "src", DType: graph.Uint64}, {Name: "dst", DType: graph.Uint64}, {Name: "w", DType: graph.Float32}, {Name: "t", DType: graph.Int64}}
}
func (e *edgeTable) Files() []string                   { return nil }
func (e *edgeTable) Bytes() int64                      { return int64(28 * e.rows()) }
func (e *edgeTable) Where(row uint64, _ string) string { return fmt.Sprint("row ", row) }

func (e *edgeTable) Scan(_ context.Context, columns []table.Column, _ int, fn func(int, *table.Chunk) error) (uint64, error) {
	c := table.Chunk{Rows: e.rows(), Bytes: e.Bytes()}
	for _, col := range columns {
		c.Columns = append(c.Columns, table.Vector{Data: map[string][]byte{"src": e.src, "dst": e.dst, "w": e.w, "t": e.t}[col.Name]})
	}
	return uint64(e.rows()), fn(0, &c)
}

// randomEdges is n edges from nodes of one type to nodes of another. Few of the nodes have many of the edges.
func randomEdges(r *rand.Rand, n, from, to int) *edgeTable {
	src, dst, w, t := make([]uint64, n), make([]uint64, n), make([]float32, n), make([]int64, n)
	skewed := func(n int) uint64 { return uint64(math.Pow(r.Float64(), 4) * float64(n)) }
	for i := range src {
		src[i], dst[i], w[i], t[i] = skewed(from), skewed(to), float32(r.IntN(5)), r.Int64N(100)
	}
	return &edgeTable{graph.Bytes(src), graph.Bytes(dst), graph.Bytes(w), graph.Bytes(t)}
}

type testEdges struct {
	rel      string
	src, dst string
	count    int
}

// sharedStore is a store that all tests read, written by the first test that asks for it.
func sharedStore(t testing.TB, name string, nodes map[string]int, edges []testEdges, opt assemble.Options) *store.Store {
	t.Helper()
	if made[name] == "" {
		dir, err := os.MkdirTemp("", "outofcore")
		if err != nil {
			t.Fatal(err)
		}
		made[name] = filepath.Join(dir, "g.store")
		writeStore(t, made[name], nodes, edges, opt)
	}
	return openStore(t, made[name])
}

// makeStore is a store of the test alone; nodes are the node types and their counts.
func makeStore(t testing.TB, nodes map[string]int, edges []testEdges, opt assemble.Options) *store.Store {
	t.Helper()
	out := filepath.Join(t.TempDir(), "g.store")
	writeStore(t, out, nodes, edges, opt)
	return openStore(t, out)
}

func writeStore(t testing.TB, out string, nodes map[string]int, edges []testEdges, opt assemble.Options) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 8))
	var in assemble.Input
	for _, name := range []string{"a", "b", graph.HomogeneousNode} {
		if n, ok := nodes[name]; ok {
			in.Nodes = append(in.Nodes, assemble.Nodes{Type: name, Count: uint64(n)})
		}
	}
	for _, e := range edges {
		end := func(name string) table.Column { return table.Column{Name: name, DType: graph.Uint64, ID: true} }
		in.Edges = append(in.Edges, assemble.Edges{Type: graph.EdgeType{Src: e.src, Rel: e.rel, Dst: e.dst}, Table: randomEdges(r, e.count, nodes[e.src], nodes[e.dst]),
			Src: end("src"), Dst: end("dst"), Columns: []table.Column{{Name: "w", DType: graph.Float32}, {Name: "t", DType: graph.Int64}}})
	}
	opt.DuplicateEdges, opt.SelfLoops, opt.Threads = assemble.Keep, assemble.Keep, 2
	w, err := store.Create(vfs.OS, out, false)
	if err != nil {
		t.Fatal(err)
	}
	result, err := assemble.Build(t.Context(), vfs.OS, w, in, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Seal(t.Context(), result.Meta, 1), w.Publish()); err != nil {
		t.Fatal(err)
	}
}

func openStore(t testing.TB, out string) *store.Store {
	t.Helper()
	s, err := store.Open(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// typedStore has two node types, four edge types of 1 to 3 blocks, both directions.
func typedStore(t testing.TB) *store.Store {
	return sharedStore(t, "typed", typedNodes, typedEdges, assemble.Options{Both: true})
}

// plainStore has one edge type of six blocks, in-edges alone.
func plainStore(t testing.TB) *store.Store {
	return sharedStore(t, "plain", plainNodes, plainEdges, assemble.Options{})
}

var (
	typedNodes = map[string]int{"a": 3000, "b": 500}
	typedEdges = []testEdges{{"aa", "a", "a", 600_000}, {"ab", "a", "b", 300_000}, {"ba", "b", "a", 2000}, {"bb", "b", "b", 0}}
	plainNodes = map[string]int{graph.HomogeneousNode: 200_000}
	plainEdges = []testEdges{{graph.HomogeneousEdge.Rel, graph.HomogeneousNode, graph.HomogeneousNode, 1_500_000}}
)
