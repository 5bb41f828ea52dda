package output

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// numbers is a column with rows * the product of shape values.
func numbers[T graph.Numbers](name string, dtype graph.DType, rows int, shape []int, value func(i int) T) *graph.Column {
	c := &graph.Column{Name: name, DType: dtype, Shape: shape, Rows: rows}
	values := make([]T, rows*c.RowValues())
	for i := range values {
		values[i] = value(i)
	}
	c.Values = graph.Bytes(values)
	return c
}

// strings is a column of texts of 0 to 9 bytes.
func texts(name string, rows int, shape []int, r *rand.Rand) *graph.Column {
	c := &graph.Column{Name: name, DType: graph.String, Shape: shape, Rows: rows}
	ends := []uint64{0}
	for i := range rows * c.RowValues() {
		c.Values = append(c.Values, fmt.Sprintf("%d-%s", i, "abcdef")[:r.IntN(4)]...)
		ends = append(ends, uint64(len(c.Values)))
	}
	c.StringOffsets.U64 = ends
	return c
}

// ragged is a column with a variable number of pairs per row.
func ragged(name string, rows int, r *rand.Rand) *graph.Column {
	c := &graph.Column{Name: name, DType: graph.Int16, Shape: []int{-1, 2}, Rows: rows}
	ends := []uint64{0}
	var values []int16
	for range rows {
		for range r.IntN(4) {
			values = append(values, int16(r.IntN(1000)-500), int16(len(values)))
		}
		ends = append(ends, uint64(len(values)/2))
	}
	c.Values, c.Offsets = graph.Bytes(values), []graph.Index{{U64: ends}}
	return c
}

// edgesOf is random edges, in-edges as the primary direction.
func edgesOf(t graph.EdgeType, nsrc, ndst, count int, r *rand.Rand) *graph.Edges {
	at := make([]int, count)
	degree := make([]uint32, ndst+1)
	for i := range at {
		at[i] = r.IntN(ndst)
		degree[at[i]+1]++
	}
	for i := range ndst {
		degree[i+1] += degree[i]
	}
	far := make([]uint32, count)
	for i := range far {
		far[i] = uint32(r.IntN(nsrc))
	}
	e := &graph.Edges{Type: t, Count: count}
	e.Adj[graph.In] = &graph.Adjacency{Indptr: graph.Index{U32: degree}, Far: graph.Index{U32: far}}
	return e
}

// typed is a graph with three node types, a relation that two edge types share,
// and a column of every kind.
func typed(n int) *graph.Graph {
	r := rand.New(rand.NewPCG(1, 2))
	paper := &graph.Nodes{Type: "paper", Count: n, IDs: texts("id", n, nil, r), Columns: []*graph.Column{
		numbers("bool", graph.Bool, n, nil, func(i int) uint8 { return uint8(i % 2) }),
		numbers("f16", graph.Float16, n, nil, func(i int) uint16 { return uint16(0x3c00 + i%1024) }),
		numbers("f64", graph.Float64, n, []int{2}, func(i int) float64 { return float64(i) / 3 }),
		numbers("feat", graph.Float32, n, []int{2, 3}, func(i int) float32 { return float32(i) }),
		numbers("i64", graph.Int64, n, nil, func(i int) int64 { return -int64(i) << 30 }),
		numbers("label", graph.Int32, n, nil, func(i int) int32 { return int32(i % 5) }),
		numbers("u64", graph.Uint64, n, nil, func(i int) uint64 { return ^uint64(i) }),
		ragged("ragged", n, r),
		texts("title", n, nil, r),
		texts("words", n, []int{2}, r),
	}}
	author := &graph.Nodes{Type: "author", Count: n / 2, Columns: []*graph.Column{
		numbers("bf16", graph.BFloat16, n/2, nil, func(i int) uint16 { return uint16(0x3f80 + i%64) }),
		numbers("one", graph.Uint8, n/2, []int{1}, func(i int) uint8 { return uint8(i) }),
	}}
	venue := &graph.Nodes{Type: "venue", Count: 3}
	cites := edgesOf(graph.EdgeType{Src: "paper", Rel: "cites", Dst: "paper"}, n, n, 4*n, r)
	cites.Columns = []*graph.Column{
		numbers(graph.PositionColumn, graph.Uint32, cites.Count, nil, func(i int) uint32 { return uint32(i) }),
		numbers(sample.OnesColumn, graph.Uint8, cites.Count, nil, func(int) uint8 { return 1 }),
		numbers("weight", graph.Float32, cites.Count, nil, func(i int) float32 { return float32(i%7) + 1 }),
	}
	g := &graph.Graph{
		Nodes: []*graph.Nodes{paper, author, venue},
		Edges: []*graph.Edges{
			cites,
			edgesOf(graph.EdgeType{Src: "author", Rel: "by", Dst: "paper"}, n/2, n, 2*n, r),
			edgesOf(graph.EdgeType{Src: "author", Rel: "by", Dst: "author"}, n/2, n/2, n, r),
			edgesOf(graph.EdgeType{Src: "paper", Rel: "at", Dst: "venue"}, n, 3, n, r),
		},
	}
	g.Sort()
	return g
}

// homogeneous is a graph without types.
func homogeneous(n int) *graph.Graph {
	r := rand.New(rand.NewPCG(3, 4))
	return &graph.Graph{
		Nodes: []*graph.Nodes{{Type: graph.HomogeneousNode, Count: n, Columns: []*graph.Column{
			numbers("feat", graph.Float32, n, []int{8}, func(i int) float32 { return float32(i % 100) }),
			numbers("label", graph.Int64, n, nil, func(i int) int64 { return int64(i % 7) }),
		}}},
		Edges: []*graph.Edges{edgesOf(graph.HomogeneousEdge, n, n, 12*n, r)},
	}
}

func sampler(t testing.TB, g *graph.Graph, fanout string, opt sample.FanoutOptions, ops bool) *sample.Sampler {
	t.Helper()
	f, err := sample.ParseFanouts(fanout)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := sample.FromFanouts(g, f, opt)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sample.New(g, plan, sample.Options{Ops: ops})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func seeds(n int) []uint32 {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(i*7) % uint32(n)
	}
	return ids
}

// subgraphs calls f with each subgraph of a job, made one after the other.
func subgraphs(t testing.TB, s *sample.Sampler, job sample.Job, f func(b *sample.Batch, sub *sample.Subgraph)) {
	t.Helper()
	job.Threads = 1
	_, err := sample.Run(context.Background(), s, job, func() int { return 0 },
		func(_ int, b *sample.Batch, sub *sample.Subgraph) error { f(b, sub); return nil },
		func(int) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
}

func create(t testing.TB, fsys vfs.FS, dir string) *store.Writer {
	t.Helper()
	w, err := store.Create(fsys, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Abort() })
	return w
}
